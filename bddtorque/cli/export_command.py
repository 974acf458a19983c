"""``bddtorque export``: a compiled model as code for other machines."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.sizes import counted
from bddtorque.cli.console import grid, show, write_json
from bddtorque.cli.options import JsonOption, check_outputs, refuse_flags, takes
from bddtorque.cli.progress import ShownProgress
from bddtorque.cli.record_options import options_of, record_of, refuse_unused
from bddtorque.export.export_options import COptions, ExportOptions, OneBitOptions, VerilogOptions

if TYPE_CHECKING:
    from bddtorque.export.exporter import Exported
    from bddtorque.export.one_bit_exporter import ExportedOneBit
    from bddtorque.export.verilog_exporter import ExportedVerilog
    from bddtorque.model.model import Model

RECORDS = [COptions, VerilogOptions, OneBitOptions]


@takes(chosen=options_of(*RECORDS))
def export_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A compiled model, .bdt.", show_default=False)],
    c: Annotated[Path | None, typer.Option("--c", metavar="DIR", help="Write C99 to this folder.")] = None,
    verilog: Annotated[
        Path | None,
        typer.Option(
            "--verilog", metavar="DIR", help="Write a circuit in Verilog to this folder: pipelined, or --one-bit."
        ),
    ] = None,
    one_bit: Annotated[
        bool, typer.Option("--one-bit", help="Verilog: one-bit processors that run the diagrams, a test per clock.")
    ] = False,
    pla: Annotated[
        Path | None, typer.Option("--pla", metavar="DIR", help="Write a Berkeley PLA for each table to this folder.")
    ] = None,
    blif: Annotated[
        Path | None, typer.Option("--blif", metavar="FILE", help="Write the whole model as a netlist in BLIF.")
    ] = None,
    bitstream: Annotated[
        str | None,
        typer.Option(metavar="FPGA", help="Verilog: make a bit stream too, for ice40, ecp5 or ecp5-25 (docs)."),
    ] = None,
    cc: Annotated[
        str | None,
        typer.Option(
            "--cc", metavar="COMMAND", help="The compiler to measure sizes with; default: the chip's, CC or cc."
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write into a folder that holds other files; these are kept.")
    ] = False,
    as_json: JsonOption = False,
    *,
    chosen: dict[str, Any],
) -> None:
    """Write a compiled model as C99, Verilog or logic.

    C99 has integers (or IEEE floats), const tables, no heap, no libm, and a self-test. Verilog is a pipelined circuit,
    or one-bit processors, with a test bench. Logic is its tables as PLAs, or all of it as a netlist of multiplexers and
    adders in BLIF.
    """
    if c is None and pla is None and blif is None and verilog is None:
        raise BddTorqueError(
            "export needs --c DIR, --verilog DIR, --pla DIR or --blif FILE: where to write code, tables or a netlist"
        )
    if verilog is None:
        refuse_flags({"one_bit": one_bit or None, "bitstream": bitstream}, "can only be given with --verilog DIR")
    if c is None:
        refuse_flags({"cc": cc}, "can only be given with --c DIR")
    circuit: type[OneBitOptions | VerilogOptions] = OneBitOptions if one_bit else VerilogOptions
    asked: list[type[ExportOptions]] = [
        record for record, folder in ((COptions, c), (circuit, verilog)) if folder is not None
    ]
    refuse_unused(chosen, asked, RECORDS)
    options = {record: record_of(record, chosen) for record in asked}
    if c is not None and verilog is not None and c.resolve() == verilog.resolve():
        raise BddTorqueError(f"--c and --verilog both name {c}: choose another folder for one of them")
    check_outputs({"--blif": blif}, [file])
    from bddtorque.export.exporter import export_c
    from bddtorque.model.model import load

    model = load(file)
    with ShownProgress(f"export {model.name} to logic"):
        logic = _export_logic(model, pla, blif, force)
        if verilog is not None:
            settings = asdict(options[circuit])
            logic |= _export_circuit(model, verilog, bitstream, as_json, one_bit, force=force, **settings)
    if c is None:
        if as_json:
            write_json({"file": str(file), **logic})
        else:
            show(grid([*logic.items()]))
        return
    with ShownProgress(f"export {model.name} to C"):
        exported = export_c(model, c, force=force, compiler=cc, **asdict(options[COptions]))
    if as_json:
        bound = exported.bound if chosen["term"] else list(model.certificate.bounds)
        write_json({"file": str(file), **logic, **exported.to_plain(), "bound": bound})
        return
    show(grid([*export_lines(model, exported), *logic.items()]))


def _export_circuit(
    model: Model, folder: Path, bitstream: str | None, as_json: bool, one_bit: bool, **options: Any
) -> dict[str, Any]:
    """Write a circuit, and a bit stream where one is asked for, and return what was written."""
    from bddtorque.export.fpga_tools import build, device_named, missing_tools
    from bddtorque.export.one_bit_exporter import export_one_bit
    from bddtorque.export.verilog_exporter import export_verilog

    device = None if bitstream is None else device_named(bitstream)
    if device is not None and (lacking := missing_tools(device, bitstream=True)):
        raise BddTorqueError(lacking)
    made: ExportedVerilog | ExportedOneBit
    if one_bit:
        made = cores = export_one_bit(model, folder, fpga=bitstream, **options)
        lines, top, sources = _core_lines(cores), cores.name, [*cores.sources]
    else:
        made = circuit = export_verilog(model, folder, **options)
        lines, top = _circuit_lines(circuit), f"{circuit.name}_serial"
        sources = [*circuit.sources_for(device.family if device else ""), f"{top}.v"]
    written: dict[str, Any] = {"verilog": made.to_plain()}
    shown = {
        "verilog": f"{made.name}.v in {folder}; `make check` in it simulates it",
        **lines,
        "bound": f"{made.bound:.4f} units of the last bit at most",
    }
    if device is not None:
        built = build(folder, sources, top, device, bitstream=True)
        written["bitstream"] = {"file": str(built.bitstream), "mhz": built.mhz, "cells": dict(built.used)}
        shown["bit stream"] = f"{built.bitstream}, {built.mhz:.1f} MHz on {built.device.part}"
    return written if as_json else shown


def _circuit_lines(made: ExportedVerilog) -> dict[str, str]:
    every = "a state in every clock" if made.interval == 1 else f"a state every {made.interval} clocks"
    return {
        "timing": f"{every}, {made.latency} clocks of latency",
        "multipliers": f"{made.multipliers}",
        "ROMs": f"{counted(made.memory_bits, 'bits')} in block memory",
        "registers": counted(made.register_bits, "bits"),
    }


def _core_lines(made: ExportedOneBit) -> dict[str, str]:
    spread = f", {made.spread} spread" if made.processors > 1 else ""
    return {
        "processors": f"{made.processors}{spread}",
        "timing": f"{made.clocks:.1f} clocks per state on average, {made.tests:.1f} tests of a bit; at most "
        f"{made.most_clocks:,} clocks in the test bench",
        "program": f"{counted(made.nodes, 'nodes')}, {counted(made.code_words, 'words')} of code, "
        f"{counted(made.memory_bits, 'bits')} of memory",
    }


def _export_logic(model: Model, pla: Path | None, blif: Path | None, force: bool) -> dict[str, Any]:
    """Write tables and netlist where they are asked for, and return what was written."""
    from bddtorque.export.blif import export_blif
    from bddtorque.export.pla import export_pla

    written: dict[str, Any] = {}
    if pla is not None:
        written["pla"] = f"{counted(len(export_pla(model, pla, force)), 'tables')} in {pla}"
    if blif is not None:
        written["blif"] = f"{blif}, {counted(export_blif(model, blif), 'bytes')}"
    return written


def export_lines(model: Model, exported: Exported) -> list[tuple[str, str]]:
    """Return the summary of an export, name by name."""
    from collections import Counter

    taken = Counter(exported.forms.values())
    listed = [f"{count} {form.replace('_', '-')}" for form, count in taken.items()]
    floats = model.plan.in_floats
    if floats:
        listed.insert(0, "sines" if exported.table_bytes else "none, sines by a polynomial")
    constant = f"the same operations for every state{' in range' * floats}"
    forms = ", ".join(listed) or "none"
    constant = constant if exported.constant else "walks end sooner for some states"
    robot = model.provenance.robot
    joints = "" if robot is None else f", {counted(robot.degrees_of_freedom, 'joints')}"
    lines = [
        (model.provenance.kind, f"{model.provenance.title}{joints}"),
        ("chip", f"{exported.chip}{'; ' * bool(exported.note)}{exported.note}"),
        ("function", exported.function),
        ("tables", f"{exported.table_bytes:,} bytes: {forms}; {constant}"),
        ("bound", f"{exported.bound:.4f} units of the last bit at most"),
    ]
    measured = exported.measured
    if isinstance(measured, str):
        lines.append(("measured", f"nothing: {measured}"))
    else:
        stack = "unknown to this compiler" if measured.stack is None else f"{measured.stack:,} bytes"
        lines += [
            ("ROM", f"{measured.rom:,} bytes"),
            ("RAM", f"{measured.ram:,} bytes"),
            ("stack", stack),
            ("measured", measured.compiler),
        ]
    return [
        *lines,
        ("files", ", ".join(exported.files)),
        ("folder", f"{exported.directory}{'; `make check` in it tries it' * ('Makefile' in exported.files)}"),
    ]
