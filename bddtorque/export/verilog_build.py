"""What stands beside an exported module: a module with few pins around it, and a Makefile for iCE40 and ECP5."""

from __future__ import annotations

from collections.abc import Sequence

from bddtorque.export.fpga_tools import DEVICES, FORGET
from bddtorque.export.verilog_text import Ports

ICE40, ECP5 = (DEVICES[name] for name in ("ice40", "ecp5-25"))


def serial_text(name: str, ports: Ports) -> str:
    """Return a module that takes a state and gives its words bit by bit: any package has pins enough for it."""
    given, wanted = ports.input_bits, ports.output_bits
    connected = ", ".join(f".{port}({port})" for port in (*ports.inputs, *ports.outputs))
    wires = "\n".join(
        f"    wire signed [{bits - 1}:0] {port};" for port, bits in (*ports.inputs.items(), *ports.outputs.items())
    )
    return f"""\
// {name}_serial.v: {name}.v behind seven pins; written by bddtorque.
//
// While shift is 1, a bit of the next state comes in at sin in every clock, and a bit of the last words goes out at
// sout: the first port of {name}.v first, the most significant bit of each word first. {given} bits in, {wanted} out.
// go, for one clock, starts a state; done is 1 from when its words are there until the next go.
module {name}_serial (
    input wire clk,
    input wire rst,
    input wire shift,
    input wire sin,
    input wire go,
    output wire sout,
    output reg done
);
    reg [{given - 1}:0] state;
    reg [{wanted - 1}:0] words;
    reg waiting;
    wire in_ready, out_valid;
{wires}
    assign {{{", ".join(ports.inputs)}}} = state;
    assign sout = words[{wanted - 1}];

    {name} core (.clk(clk), .rst(rst), .in_valid(waiting), .in_ready(in_ready), .out_valid(out_valid),
        {connected});

    always @(posedge clk) begin
        if (shift) state <= {{state[{given - 2}:0], sin}};
        if (out_valid) words <= {{{", ".join(ports.outputs)}}};
        else if (shift) words <= {{words[{wanted - 2}:0], 1'b0}};
        if (rst) waiting <= 1'b0;
        else if (go) waiting <= 1'b1;
        else if (in_ready) waiting <= 1'b0;
        if (rst || go) done <= 1'b0;
        else if (out_valid) done <= 1'b1;
    end
endmodule
"""


def makefile_text(name: str, sources: Sequence[str], ecp5: Sequence[str], serial: bool = True) -> str:
    """Return the Makefile: simulation, lint, and bit streams, of the serial module where there is one.

    `ecp5` are the sources for that family.
    """
    top = f"{name}_serial" if serial else name
    around = f" {top}.v" if serial else ""
    checked = f"\n\tverilator --lint-only -Wall --top-module {top} $(SOURCES)" if serial else ""
    return f"""\
# Written by bddtorque: `make check` simulates, `make lint` lints, `make ice40` and `make ecp5` make a bit stream in
# build/ of {top}.v, which needs few pins. Pins are chosen freely unless PCF or LPF names a file of yours;
# the clock of the ECP5 needs a pin that leads to the clock nets.
# With tools from PyPI (pip install 'bddtorque[fpga]'): make ice40 TOOLS=yowasp-
TOOLS ?=
TOP ?= {top}
ICE40 ?= {" ".join(ICE40.flags)}
ECP5 ?= {" ".join(ECP5.flags)}
CLOCK_ECP5 ?= {ECP5.clock_pin}
MHZ ?= 100
CORE = {" ".join(sources)}
SOURCES = $(CORE){around}
SOURCES_ECP5 = {" ".join(ecp5)}{around}
PINS_ICE40 = $(if $(PCF),--pcf $(PCF),--pcf-allow-unconstrained)
PINS_ECP5 = $(if $(LPF),--lpf $(LPF),--lpf build/{name}_ecp5.lpf --lpf-allow-unconstrained)

check: build/{name}_tb
\tvvp build/{name}_tb

build/{name}_tb: {name}_tb.v $(CORE)
\tmkdir -p build
\tiverilog -g2001 -o $@ $^

lint:
\tverilator --lint-only -Wall --top-module {name} $(CORE){checked}

ice40: build/{name}_ice40.bin
ecp5: build/{name}_ecp5.bit

build/{name}_ice40.json: $(SOURCES)
\tmkdir -p build
\t$(TOOLS)yosys -q -p "read_verilog $(SOURCES); synth_ice40 -top $(TOP) -json $@"

build/{name}_ice40.bin: build/{name}_ice40.json
\t$(TOOLS)nextpnr-ice40 $(ICE40) --json $< --asc build/{name}_ice40.asc --freq $(MHZ) $(PINS_ICE40)
\t$(TOOLS)icepack build/{name}_ice40.asc $@

build/{name}_ecp5.json: $(SOURCES_ECP5)
\tmkdir -p build
\t$(TOOLS)yosys -q -p "read_verilog $(SOURCES_ECP5); hierarchy -top $(TOP); {FORGET}; synth_ecp5 -top $(TOP) -json $@"

build/{name}_ecp5.bit: build/{name}_ecp5.json
\techo 'LOCATE COMP "clk" SITE "$(CLOCK_ECP5)";' > build/{name}_ecp5.lpf
\t$(TOOLS)nextpnr-ecp5 $(ECP5) --json $< --textcfg build/{name}_ecp5.config --freq $(MHZ) $(PINS_ECP5)
\t$(TOOLS)ecppack build/{name}_ecp5.config $@

clean:
\trm -rf build

.PHONY: check lint ice40 ecp5 clean
"""
