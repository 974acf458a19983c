"""Multipliers and delay lines: the modules for the ECP5 do in every clock what the plain ones do."""

import pytest
from compiled import arm
from verilog_tools import lint, needs_iverilog, needs_verilator, simulate

import bddtorque as bt
from bddtorque.export import verilog_text
from bddtorque.export.verilog_text import MAX_DELAY, cell_text, is_long, pieces

MULT18X18D = f"""
// A model of our own, not compared with the vendor's:
// registers where a clock is named, signed words where SIGNEDA and SIGNEDB are 1.
module MULT18X18D(
    input CLK0, CE0, RST0, SIGNEDA, SIGNEDB, SOURCEA, SOURCEB,
    {", ".join(f"input {word}{k}" for word in "AB" for k in range(18))},
    {", ".join(f"output P{k}" for k in range(36))}
);
    parameter REG_INPUTA_CLK = "NONE", REG_INPUTB_CLK = "NONE", REG_PIPELINE_CLK = "NONE", REG_OUTPUT_CLK = "NONE";
    wire [17:0] a = {{{", ".join(f"A{k}" for k in reversed(range(18)))}}};
    wire [17:0] b = {{{", ".join(f"B{k}" for k in reversed(range(18)))}}};
    reg [17:0] a1, b1;
    reg [35:0] m1, p1;
    wire [17:0] a2 = REG_INPUTA_CLK == "CLK0" ? a1 : a;
    wire [17:0] b2 = REG_INPUTB_CLK == "CLK0" ? b1 : b;
    wire [35:0] m = {{{{18{{SIGNEDA & a2[17]}}}}, a2}} * {{{{18{{SIGNEDB & b2[17]}}}}, b2}};
    wire [35:0] m2 = REG_PIPELINE_CLK == "CLK0" ? m1 : m;
    wire [35:0] p = REG_OUTPUT_CLK == "CLK0" ? p1 : m2;
    assign {{{", ".join(f"P{k}" for k in reversed(range(36)))}}} = p;
    always @(posedge CLK0)
        if (RST0) begin a1 <= 0; b1 <= 0; m1 <= 0; p1 <= 0; end
        else if (CE0) begin a1 <= a; b1 <= b; m1 <= m; p1 <= m2; end
endmodule
"""
BENCH = """
module pair #(parameter CLOCKS = 2, parameter X = 1, parameter Y = 1) (
    input clk, input en, input compare, input [35:0] random, output reg wrong
);
    wire [2:0] line, ring;
    wire [X + Y - 1:0] product, block;
    plain_delay #(.BITS(3), .CLOCKS(CLOCKS)) d0 (.clk(clk), .en(en), .word(random[2:0]), .out(line));
    chip_delay #(.BITS(3), .CLOCKS(CLOCKS)) d1 (.clk(clk), .en(en), .word(random[2:0]), .out(ring));
    plain_multiply #(.X(X), .Y(Y)) m0 (.clk(clk), .left(random[X - 1:0]), .right(random[35:36 - Y]), .out(product));
    chip_multiply #(.X(X), .Y(Y)) m1 (.clk(clk), .left(random[X - 1:0]), .right(random[35:36 - Y]), .out(block));
    initial wrong = 0;
    always @(negedge clk) if (compare && (line !== ring || product !== block)) wrong <= 1;
endmodule
module tb;
    reg clk = 0, en = 1;
    reg [35:0] random = 0;
    reg [31:0] high;
    integer k = 0;
    wire [17:2] wrong;
    genvar n;
    generate for (n = 2; n <= 17; n = n + 1) begin : pairs
        pair #(.CLOCKS(n), .X(n + 1), .Y(19 - n)) p (clk, en, k > 100, random, wrong[n]);
    end endgenerate
    initial begin
        for (k = 0; k < 400; k = k + 1) begin
            high = $random;
            random = {high[3:0], $random};
            en = k < 50 || high[5];
            #5 clk = 1; #5 clk = 0;
        end
        $display("wrong: %b", wrong);
    end
endmodule
"""


@needs_iverilog
def test_both_ways_agree_in_every_clock(tmp_path):
    assert MAX_DELAY == 17
    texts = {"chip": cell_text("ecp5", "chip"), "plain": cell_text("multiply", "plain") + cell_text("delay", "plain")}
    for name, text in {**texts, "model": MULT18X18D, "tb": BENCH}.items():
        (tmp_path / f"{name}.v").write_text(text)
    assert simulate(tmp_path, "tb.v", "model.v", "chip.v", "plain.v")[-1] == f"wrong: {'0' * 16}"
    (tmp_path / "chip.v").write_text(texts["chip"].replace("CLOCKS - 2", "CLOCKS - 1"))
    assert simulate(tmp_path, "tb.v", "model.v", "chip.v", "plain.v")[-1] != f"wrong: {'0' * 16}"


@needs_iverilog
@needs_verilator
@pytest.mark.parametrize("options", [{}, {"share": 2}])
def test_words_on_an_ecp5_are_those_of_the_model(options, tmp_path, monkeypatch):
    """With as many lines as there can be; small arms would have none."""
    monkeypatch.setattr(verilog_text, "is_long", lambda bits, clocks: clocks > 1)
    model = arm(6, target="integer", chip="fpga")
    made = bt.export_verilog(model, tmp_path / "v", name="dut", vectors=300, **options)
    assert made.sources_for("ecp5") == made.ecp5_sources == ("dut.v", "ecp5/dut_ecp5.v")
    assert made.sources_for("xc7") == made.sources == ("dut.v", "dut_delay.v", "dut_multiply.v")
    (tmp_path / "v" / "model.v").write_text(MULT18X18D)
    for sources in (made.sources, (*made.ecp5_sources, "model.v")):
        assert simulate(tmp_path / "v", "dut_tb.v", *sources)[-1] == "OK: 300 states"
    assert lint(tmp_path / "v", *made.sources[1:], "dut.v") == ""


def test_long_delays_are_cut_into_lines():
    for clocks in range(2, 120):
        lines = pieces(clocks)
        assert sum(lines) == clocks
        assert max(lines) <= MAX_DELAY
        assert max(lines) - min(lines) <= 1
    assert not is_long(1, 17)  # the counter alone takes as much as it saves
    assert not is_long(12, 3)
    assert is_long(12, 8)
