"""``bddtorque export``: a compiled model as code for other machines."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.record import OptionRecord, option
from bddtorque.base.shown_text import counted
from bddtorque.cli.console import show, write_json
from bddtorque.cli.options import (
    FileArgument,
    JsonOption,
    check_outputs,
    options_of,
    record_of,
    refuse_flags,
    refuse_unused,
    takes,
)
from bddtorque.cli.progress import ShownProgress
from bddtorque.export.export_options import COptions, ExportOptions, OneBitOptions, VerilogOptions

if TYPE_CHECKING:
    from bddtorque.export.c_exporter import Exported
    from bddtorque.export.one_bit_exporter import ExportedOneBit
    from bddtorque.export.verilog_exporter import ExportedVerilog
    from bddtorque.model.model import Model

RECORDS = [COptions, VerilogOptions, OneBitOptions]


@dataclass(frozen=True, kw_only=True)
class ExportFiles(OptionRecord):
    """Where a model is written, in which languages, and with which tools."""

    c: Path | None = option(None, "DIR", "Write C99 to this folder.")
    verilog: Path | None = option(None, "DIR", "Write a circuit in Verilog to this folder: pipelined, or --one-bit.")
    one_bit: bool = option(False, None, "Verilog: one-bit processors that run the diagrams, a test per clock.")
    pla: Path | None = option(None, "DIR", "Write a Berkeley PLA for each table to this folder.")
    blif: Path | None = option(None, "FILE", "Write the whole model as a netlist in BLIF.")
    bitstream: str | None = option(None, "FPGA", "Verilog: make a bit stream too, for ice40, ecp5 or ecp5-25 (docs).")
    cc: str | None = option(None, "COMMAND", "The compiler to measure sizes with; default: the chip's, CC or cc.")
    force: bool = option(False, None, "Write into a folder that holds other files; these are kept.")


@takes(chosen=options_of(*RECORDS))
def export_command(
    file: FileArgument, files: ExportFiles, as_json: JsonOption = False, *, chosen: dict[str, Any]
) -> None:
    """Write a compiled model as C99, Verilog or logic.

    C99 has integers (or IEEE floats), const tables, no heap, no libm, and a self-test. Verilog is a pipelined circuit,
    or one-bit processors, with a test bench. Logic is its tables as PLAs, or all of it as a netlist of multiplexers and
    adders in BLIF.

    Example: bddtorque export planar2r.bdt --c planar2r_c

    Example: bddtorque export planar2r.bdt --c planar2r_c --floats --flash '32 kB'

    Example: bddtorque export planar2r.bdt --pla planar2r_pla --blif planar2r.blif
    """
    if files.c is None and files.pla is None and files.blif is None and files.verilog is None:
        raise BddTorqueError(
            "export needs --c DIR, --verilog DIR, --pla DIR or --blif FILE: where to write code, tables or a netlist"
        )
    if files.verilog is None:
        given = {"one_bit": files.one_bit or None, "bitstream": files.bitstream}
        refuse_flags(given, "can only be given with --verilog DIR")
    if files.c is None:
        refuse_flags({"cc": files.cc}, "can only be given with --c DIR")
    circuit: type[OneBitOptions | VerilogOptions] = OneBitOptions if files.one_bit else VerilogOptions
    asked: list[type[ExportOptions]] = [
        record for record, folder in ((COptions, files.c), (circuit, files.verilog)) if folder is not None
    ]
    refuse_unused(chosen, asked, RECORDS)
    options = {record: asdict(record_of(record, chosen)) for record in asked}
    folders: dict[Path, str] = {}
    for flag, folder in (("--c", files.c), ("--verilog", files.verilog), ("--pla", files.pla)):
        if folder is not None and (first := folders.setdefault(folder.resolve(), flag)) != flag:
            raise BddTorqueError(f"{first} and {flag} both name {folder}: choose another folder for one of them")
    check_outputs({"--blif": files.blif}, [file])
    from bddtorque.export.c_exporter import export_c
    from bddtorque.model.model import load

    model = load(file)
    with ShownProgress(f"export {model.name} to logic"):
        written = _export_logic(model, files)
        if files.verilog is not None:
            written |= _export_circuit(model, files.verilog, files, as_json, options[circuit])
    lines = []
    if files.c is not None:
        with ShownProgress(f"export {model.name} to C"):
            exported = export_c(model, files.c, force=files.force, compiler=files.cc, **options[COptions])
        lines = export_lines(model, exported)
        if as_json:
            written |= {"bound": list(model.certificate.bounds), **exported.to_plain()}
    if as_json:
        write_json({"file": str(file), **written})
    else:
        show([*lines, *written.items()])


def _export_circuit(
    model: Model, folder: Path, files: ExportFiles, as_json: bool, options: dict[str, Any]
) -> dict[str, Any]:
    """Write a circuit, and a bit stream where one is asked for, and return what was written."""
    from bddtorque.export.fpga_tools import build, device_named, missing_tools
    from bddtorque.export.one_bit_exporter import export_one_bit
    from bddtorque.export.verilog_exporter import export_verilog

    device = None if files.bitstream is None else device_named(files.bitstream)
    if device is not None and (lacking := missing_tools(device, bitstream=True)):
        raise BddTorqueError(lacking)
    made: ExportedVerilog | ExportedOneBit
    if files.one_bit:
        made = cores = export_one_bit(model, folder, fpga=files.bitstream, force=files.force, **options)
        lines, top, sources = _core_lines(cores), cores.name, [*cores.sources]
    else:
        made = circuit = export_verilog(model, folder, force=files.force, **options)
        lines, top = _circuit_lines(circuit), f"{circuit.name}_serial"
        sources = [*circuit.sources_for(device.family if device else ""), f"{top}.v"]
    written: dict[str, Any] = {"verilog": made.to_plain()}
    shown = {
        "verilog": f"{made.name}.v in {folder}; `make check` in it simulates it",
        **lines,
        "bound": _bound(made),
    }
    if device is not None:
        built = build(folder, sources, top, device, bitstream=True)
        written["bitstream"] = {"file": str(built.bitstream), "mhz": built.mhz, "cells": dict(built.used)}
        shown["bit stream"] = f"{built.bitstream}, {built.mhz:.1f} MHz on {built.device.part}"
    return written if as_json else shown


def _bound(made: Exported | ExportedVerilog | ExportedOneBit) -> str:
    """Return what is proved of all words; of one term, whose word is finer than that of its torque, in its unit."""
    units = made.bound_si is None
    return f"{made.bound:.4f} units of the last bit at most" if units else f"{made.bound_si:.4g} {made.unit} at most"


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


def _export_logic(model: Model, files: ExportFiles) -> dict[str, Any]:
    """Write tables and netlist where they are asked for, and return what was written."""
    from bddtorque.export.logic import export_blif, export_pla

    written: dict[str, Any] = {}
    if files.pla is not None:
        written["pla"] = f"{counted(len(export_pla(model, files.pla, files.force)), 'tables')} in {files.pla}"
    if files.blif is not None:
        written["blif"] = f"{files.blif}, {counted(export_blif(model, files.blif), 'bytes')}"
    return written


def export_lines(model: Model, exported: Exported) -> list[tuple[str, str]]:
    """Return the summary of an export, name by name."""
    listed = [f"{count} {form.replace('_', '-')}" for form, count in Counter(exported.forms.values()).items()]
    floats = model.plan.in_floats
    if floats:
        listed.insert(0, "sines" if exported.table_bytes else "none, sines by a polynomial")
    constant = f"the same operations for every state{' in range' * floats}"
    forms = ", ".join(listed) or "none"
    constant = constant if exported.constant else "walks end sooner for some states"
    robot, measured = model.provenance.robot, exported.measured
    joints = "" if robot is None else f", {counted(robot.degrees_of_freedom, 'joints')}"
    if isinstance(measured, str):
        sizes = [("measured", f"nothing: {measured}")]
    else:
        stack = "unknown to this compiler" if measured.stack is None else f"{measured.stack:,} bytes"
        sizes = [("ROM", f"{measured.rom:,} bytes"), ("RAM", f"{measured.ram:,} bytes")]
        sizes += [("stack", stack), ("measured", measured.compiler)]
    return [
        (model.provenance.kind, f"{model.provenance.title}{joints}"),
        ("chip", f"{exported.chip}{'; ' * bool(exported.note)}{exported.note}"),
        ("function", exported.function),
        ("tables", f"{exported.table_bytes:,} bytes: {forms}; {constant}"),
        ("bound", _bound(exported)),
        *sizes,
        ("files", ", ".join(exported.files)),
        ("folder", f"{exported.directory}{'; `make check` in it tries it' * ('Makefile' in exported.files)}"),
    ]
