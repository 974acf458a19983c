"""What stands beside an exported module: a module with few pins around it, and a Makefile for iCE40 and ECP5."""

from __future__ import annotations

from collections.abc import Sequence

from bddtorque.export.fpga_tools import DEVICES, FORGET
from bddtorque.export.template_files import fill, template
from bddtorque.export.verilog_text import Ports

ICE40, ECP5 = (DEVICES[name] for name in ("ice40", "ecp5-25"))


def serial_text(name: str, ports: Ports) -> str:
    """Return a module that takes a state and gives its words bit by bit: any package has pins enough for it."""
    given, wanted = ports.input_bits, ports.output_bits
    connected = ", ".join(f".{port}({port})" for port in (*ports.inputs, *ports.outputs))
    wires = "\n".join(
        f"    wire signed [{bits - 1}:0] {port};" for port, bits in (*ports.inputs.items(), *ports.outputs.items())
    )
    return fill(
        template("serial.v"),
        name=name,
        given=given,
        wanted=wanted,
        given_top=given - 1,
        wanted_top=wanted - 1,
        wires=wires,
        inputs=", ".join(ports.inputs),
        connected=connected,
        given_rest=given - 2,
        outputs=", ".join(ports.outputs),
        wanted_rest=wanted - 2,
    )


def makefile_text(name: str, sources: Sequence[str], ecp5: Sequence[str], serial: bool = True) -> str:
    """Return the Makefile: simulation, lint, and bit streams, of the serial module where there is one.

    `ecp5` are the sources for that family.
    """
    top = f"{name}_serial" if serial else name
    around = f" {top}.v" if serial else ""
    checked = f"\n\tverilator --lint-only -Wall --top-module {top} $(SOURCES)" if serial else ""
    return fill(
        template("verilog.mk"),
        top=top,
        ice40_flags=" ".join(ICE40.flags),
        ecp5_flags=" ".join(ECP5.flags),
        clock_pin=ECP5.clock_pin,
        core=" ".join(sources),
        around=around,
        core_ecp5=" ".join(ecp5),
        name=name,
        checked=checked,
        forget=FORGET,
    )
