"""Verilog: simulated and linted by the tools of others; its words are those of the model, its timing what it says."""

import json

import numpy as np
import pytest
from compiled import arm, compiled, reference
from verilog_tools import lint, needs_iverilog, needs_verilator, run, simulate

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.export.folder import MANIFEST
from bddtorque.export.fpga_tools import DEVICES
from bddtorque.export.verilog_exporter import verilog_files

INTEGER = {"target": "integer", "chip": "fpga"}
WAYS = [
    (6, INTEGER, {}),
    (6, INTEGER, {"dsp": False}),
    pytest.param(6, INTEGER, {"share": 2}, marks=pytest.mark.everything),
    (6, INTEGER, {"share": 1}),
    pytest.param(6, {"block_bits": 12}, {}, marks=pytest.mark.everything),  # quarter squares; shared ones below
    (6, {"block_bits": 12, "products": "partial"}, {}),
    (4, {"block_bits": 8, "products": "blocks"}, {}),
    (6, {"block_bits": 12}, {"bits_network": True}),
    (6, {"block_bits": 12}, {"share": 3}),
    (11, INTEGER, {"dsp": False}),  # folded cosines
]


def export(model, folder, **options):
    made = bt.export_verilog(model, folder, name="dut", **options)
    assert json.loads((folder / MANIFEST).read_text())["digest"] == model.digest
    return made


@needs_iverilog
@needs_verilator
@pytest.mark.parametrize(("bits", "plan", "options"), WAYS)
def test_words_are_those_of_the_model_and_nothing_is_to_lint(bits, plan, options, tmp_path):
    made = export(arm(bits, **plan), tmp_path / "v", vectors=300, **options)
    assert simulate(tmp_path / "v", "dut_tb.v", *made.sources)[-1] == "OK: 300 states"
    assert lint(tmp_path / "v", *made.sources[1:], made.sources[0]) == ""
    assert lint(tmp_path / "v", *made.sources, "dut_serial.v") == ""


@needs_iverilog
@pytest.mark.parametrize(
    ("robot", "bits", "options"),
    [
        ("planar2r", 12, {}),
        pytest.param("ur5", 8, {}, marks=pytest.mark.everything),
        pytest.param("ur5", 12, {"share": 10}, marks=pytest.mark.everything),
    ],
)
def test_ten_thousand_states(robot, bits, options, tmp_path):
    made = export(compiled(robot, bits=bits, **INTEGER), tmp_path / "v", vectors=10_000, **options)
    assert simulate(tmp_path / "v", "dut_tb.v", *made.sources)[-1] == "OK: 10000 states"


@needs_iverilog
def test_the_test_bench_tells_the_first_difference(tmp_path):
    made = export(arm(6, **INTEGER), tmp_path / "v", vectors=50)
    vectors = tmp_path / "v" / "dut_vectors.hex"
    lines = vectors.read_text().splitlines()
    lines[20] = f"{int(lines[20], 16) ^ 1:0{len(lines[20])}x}"  # the last bit of tau2
    vectors.write_text("\n".join(lines) + "\n")
    first, last = simulate(tmp_path / "v", "dut_tb.v", *made.sources)[-2:]
    assert first.startswith("state 20, tau2: expected word ")
    assert last == "FAILED: words differ"


SERIAL = """
module serial_tb;
    reg [%d:0] vector [0:0];
    reg clk = 0, rst = 1, shift = 0, sin = 0, go = 0;
    wire sout, done;
    reg [%d:0] got;
    integer k;
    dut_serial dut (.clk(clk), .rst(rst), .shift(shift), .sin(sin), .go(go), .sout(sout), .done(done));
    task tick; begin #5 clk = 1; #5 clk = 0; end endtask
    initial begin
        $readmemh("dut_vectors.hex", vector);
        tick; tick; rst = 0; shift = 1;
        for (k = %d; k >= %d; k = k - 1) begin sin = vector[0][k]; tick; end
        shift = 0; go = 1; tick; go = 0;
        for (k = 0; k < 500 && !done; k = k + 1) tick;
        shift = 1;
        for (k = %d; k >= 0; k = k - 1) begin got[k] = sout; tick; end
        if (done && got === vector[0][%d:0]) $display("OK"); else $display("FAILED");
    end
endmodule
"""


@needs_iverilog
@pytest.mark.parametrize("options", [{}, {"share": 2}])
def test_states_go_in_and_out_bit_by_bit(options, tmp_path):
    model = arm(6, **INTEGER)
    made = export(model, tmp_path / "v", vectors=1, **options)
    bits = [word.bits for kind in (*model.formats.inputs, model.formats.tau) for word in kind]
    given, wanted = sum(bits[:6]), sum(bits[6:])
    sizes = (given + wanted - 1, wanted - 1, given + wanted - 1, wanted, wanted - 1, wanted - 1)
    (tmp_path / "v" / "serial_tb.v").write_text(SERIAL % sizes)
    assert simulate(tmp_path / "v", "serial_tb.v", "dut_serial.v", *made.sources)[-1] == "OK"


@needs_iverilog
def test_functions_have_circuits_too(tmp_path):
    model = bt.compile_function(
        lambda x, y: x * y + 0.25, inputs={"reg": (5, 1.0), "y (m)": (4, 1.0)}, output={"z": (5, 2.0)}
    )
    made = export(model, tmp_path / "v", vectors=200)
    assert "x_reg" in (tmp_path / "v" / "dut.v").read_text()
    assert simulate(tmp_path / "v", "dut_tb.v", *made.sources)[-1] == "OK: 200 states"


def test_latency_and_clocks_per_state_are_stated():
    model = arm(6, **INTEGER)
    alone, shared = verilog_files(model, name="dut"), verilog_files(model, name="dut", share=2)
    assert (alone.facts.interval, shared.facts.interval) == (1, 3)
    assert (alone.facts.multipliers, shared.facts.multipliers) == (6, 2)
    text = shared.files["dut.v"]
    assert f"Takes a state every 3 clocks; its words come {shared.facts.latency} clocks later." in text
    assert "bound 0." in text
    assert "rad" in text
    assert shared.facts.register_bits < alone.facts.register_bits


def test_make_gives_the_clock_of_an_ecp5_a_pin_that_leads_to_the_clock_nets(tmp_path):
    """nextpnr would choose any pin, and then may find no way to the clock nets."""
    (tmp_path / "Makefile").write_text(verilog_files(arm(6, **INTEGER), name="dut", vectors=1).files["Makefile"])
    (tmp_path / "ecp5").mkdir()
    for source in ("dut.v", "ecp5/dut_ecp5.v", "dut_serial.v"):
        (tmp_path / source).touch()
    steps = run(["make", "-n", "ecp5"], tmp_path).stdout
    assert f'LOCATE COMP "clk" SITE "{DEVICES["ecp5-25"].clock_pin}";' in steps
    assert "--lpf build/dut_ecp5.lpf --lpf-allow-unconstrained" in steps
    assert "--lpf mine.lpf\n" in run(["make", "-n", "ecp5", "LPF=mine.lpf"], tmp_path).stdout


def test_a_function_may_be_called_what_it_likes():
    model = bt.compile_function(lambda x: x * x, name="module", inputs={"endmodule": (4, 1.0)}, output={"y": (5, 2.0)})
    made = verilog_files(model, vectors=1)
    assert made.facts.name == "module_words"
    assert list(made.ports.inputs) == ["x_endmodule"]


def test_equal_models_give_equal_files():
    model = arm(6, **INTEGER)
    assert verilog_files(model, vectors=10).files == verilog_files(model, vectors=10).files


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": 0}, "share must be a number of multipliers, at least 1, got 0"),
        ({"share": 2, "dsp": False}, "share is only valid where products use multipliers"),
        ({"vectors": 0}, "vectors must be between 1 and 100,000, got 0"),
        ({"name": "1;x"}, "name must be up to 40 letters"),
        ({"name": "wire"}, "name must not be a keyword of Verilog, got 'wire'"),
    ],
)
def test_what_is_refused(options, message, tmp_path):
    with pytest.raises(BddTorqueError, match=message):
        bt.export_verilog(arm(6, **INTEGER), tmp_path / "v", **options)
    assert not list(tmp_path.iterdir())


def test_floats_are_refused_in_one_line(tmp_path):
    with pytest.raises(
        BddTorqueError, match="Verilog: circuits: 'planar2r' was compiled for a target that computes in floats"
    ):
        bt.export_verilog(arm(6, target="float"), tmp_path / "v")
    assert not list(tmp_path.iterdir())


def test_vectors_are_held_to_their_words():
    """The test bench shifts in words of the ports: wild numbers of the self-test are wrapped or clamped."""
    model = arm(6, **INTEGER)
    made = verilog_files(model, name="dut", vectors=40)
    widths = [*made.ports.inputs.values(), *made.ports.outputs.values()]
    rows = []
    for line in made.files["dut_vectors.hex"].split():
        packed, words = int(line, 16), []
        for bits in reversed(widths):
            word = packed & ((1 << bits) - 1)
            words.insert(0, word - (word >> (bits - 1) << bits))
            packed >>= bits
        rows.append(words)
    found, n = np.array(rows), len(model.formats.q)
    states = [found[:, k * n : (k + 1) * n] for k in range(4)]
    np.testing.assert_array_equal(reference(model, states[:3]), states[3])
