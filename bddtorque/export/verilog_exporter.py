"""`export_verilog`: a compiled model as a pipelined circuit in plain Verilog-2001."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from bddtorque.base.version import __version__
from bddtorque.export.c_call import CSignature
from bddtorque.export.export_options import VerilogOptions
from bddtorque.export.folder import check_folder, with_manifest, write_folder
from bddtorque.export.selftest import check_exported
from bddtorque.export.verilog_datapath import Multiply, datapath
from bddtorque.export.verilog_module import (
    ExportedModule,
    makefile_text,
    meaning_lines,
    module_name,
    ports_of,
    serial_text,
    testbench_text,
    vectors_text,
)
from bddtorque.export.verilog_stages import Circuit, Times, stage_times
from bddtorque.export.verilog_tables import is_block, memory_blocks, memory_text, network_text
from bddtorque.export.verilog_text import CELLS, ModuleWriter, Ports, ecp5_text
from bddtorque.model.applicability import require
from bddtorque.model.model import Model
from bddtorque.plan.plan import Plan


@dataclass(frozen=True, kw_only=True)
class ExportedVerilog(ExportedModule):
    """The files of `export_verilog`, and facts about them.

    Attributes
    ----------
    ecp5_sources
        The files of the module for the Lattice ECP5.
    latency
        Clocks from a state to its words.
    interval
        Clocks from one state to the next.
    multipliers
        Number of multipliers in the design.
    memory_blocks
        The number of 4,096-bit blocks that its ROMs take.
    register_bits
        Flip-flops before synthesis.
    """

    ecp5_sources: tuple[str, ...]
    latency: int
    interval: int
    multipliers: int
    memory_blocks: int
    register_bits: int

    def sources_for(self, family: str) -> tuple[str, ...]:
        """Return the files of the module for a family of chips: those made for it, if there are any."""
        return self.ecp5_sources if family == "ecp5" else self.sources


@dataclass(frozen=True)
class VerilogFiles:
    """The files of an export by name, and what is to be said of them."""

    files: dict[str, str]
    facts: ExportedVerilog
    ports: Ports


def export_verilog(
    model: Model,
    directory: str | PathLike[str],
    *,
    name: str | None = None,
    dsp: bool | None = None,
    share: int | None = None,
    bits_network: bool = False,
    vectors: int = 1000,
    force: bool = False,
) -> ExportedVerilog:
    """Write a model as a pipelined Verilog-2001 module with a test bench and build files.

    Parameters
    ----------
    model
        A model for the target ``"integer"`` or ``"tables"``.
    directory
        A folder to create, or the folder of an earlier export, which is replaced.
    name
        The name of the module and the files; by default the robot's name.
    dsp
        Whether products use the chip's multipliers or adders. By default a model for the target ``"integer"`` uses
        multipliers, and one for ``"tables"`` multiplies with tables, as its plan says.
    share
        Let all products share this many multipliers; a state then takes several clocks.
    bits_network
        Write tables as networks of multiplexers, one per diagram node, instead of ROMs.
    vectors
        Number of states in the test bench, 1 to 100,000.
    force
        Write into a folder that holds other files; these are kept.

    Returns
    -------
    ExportedVerilog
        The files and what is known about them.

    Raises
    ------
    BddTorqueError
        The export is impossible; nothing was written.
    """
    target = Path(directory)
    check_folder(target.resolve(), force)
    made = verilog_files(model, name=name, dsp=dsp, share=share, bits_network=bits_network, vectors=vectors)
    write_folder(target, made.files, force)
    return replace(made.facts, directory=target)


def verilog_files(model: Model, plain: bool = False, **options: Any) -> VerilogFiles:
    """Return what an export writes. A model gives the same each time. Options are the fields of `VerilogOptions`.

    With `plain`, nothing is made smaller than it is written down.
    """
    asked = VerilogOptions(**options)
    check_exported(model)
    plan, share, vectors = model.plan, asked.share, asked.vectors
    require(model, "circuits", "Verilog")
    multiply = _way(plan, asked.dsp, share)
    signature = CSignature.of(model, 32, 32)
    top = module_name(model.name, asked.name)
    ports = ports_of(signature)
    circuit = datapath(model, plan, signature.plan_names, multiply, asked.bits_network, plain)
    times = stage_times(circuit, share)
    writer = ModuleWriter(top, circuit, times, ports)
    module = writer.text()
    networks = {
        f"{top}_block{block}.v": network_text(f"{top}_block{block}", model.diagrams[block])
        for block in circuit.networks()
    }
    roms = {f"{top}_rom{k}.hex": memory for k, memory in enumerate(circuit.memories) if is_block(memory)}
    cells = {f"{top}_{cell}.v": CELLS[cell](top) for cell in sorted(writer.cells)}
    ecp5 = {f"{top}_ecp5.v": ecp5_text(top)} if cells else {}
    sources = ((f"{top}.v", *networks, *cells), (f"{top}.v", *networks, *ecp5))
    facts = _facts(model, top, sources, circuit, times, writer)
    files = {
        f"{top}.v": f"{_header(model, signature, ports, facts)}\n{module}",
        **networks,
        **cells,
        **ecp5,
        **{file: memory_text(memory) for file, memory in roms.items()},
        f"{top}_tb.v": testbench_text(top, ports, vectors),
        f"{top}_vectors.hex": vectors_text(model, signature, ports, vectors),
        f"{top}_serial.v": serial_text(top, ports),
        "Makefile": makefile_text(top, *sources),
    }
    files = with_manifest(files, model.digest, "build")
    facts = replace(facts, files={file: len(text) for file, text in files.items()})
    return VerilogFiles(files, facts, ports)


def _way(plan: Plan, dsp: bool | None, share: int | None) -> Multiply:
    """Return how words are multiplied."""
    if dsp is None and share is None and plan.made_of_tables:
        return "tables"
    return "soft" if dsp is False else "dsp"


def _facts(
    model: Model, top: str, sources: tuple[tuple[str, ...], tuple[str, ...]], circuit: Circuit, times: Times,
    writer: ModuleWriter,
) -> ExportedVerilog:  # fmt: skip
    products = [stage for stage in circuit.stages if stage.kind == "product"]
    read = [circuit.memories[stage.place] for stage in circuit.stages if stage.kind == "memory"]
    blocks = [memory for memory in read if is_block(memory)]
    return ExportedVerilog(
        name=top,
        sources=sources[0],
        ecp5_sources=sources[1],
        latency=times.latency,
        interval=times.interval,
        multipliers=len(set(times.units.values())) if times.units else len(products),
        memory_bits=sum(len(memory.words) * memory.bits for memory in blocks),
        memory_blocks=sum(memory_blocks(memory.address_bits, memory.bits) for memory in blocks),
        register_bits=writer.register_bits,
        bound=max(model.certificate.bounds),
    )


def _header(model: Model, signature: CSignature, ports: Ports, facts: ExportedVerilog) -> str:
    return "\n".join(f"// {line}".rstrip() for line in _header_lines(model, signature, ports, facts))


def _header_lines(model: Model, signature: CSignature, ports: Ports, facts: ExportedVerilog) -> Iterator[str]:
    quantity = model.provenance.quantity
    yield f"{facts.name}.v: {'a function of words' if quantity is None else quantity.about}, in integers."
    yield f"Written by bddtorque {__version__} (`bddtorque export`): do not edit."
    yield f"Model {model.digest}, target {model.plan.target}."
    yield ""
    every = "a state in every clock" if facts.interval == 1 else f"a state every {facts.interval} clocks"
    yield f"Takes {every}; its words come {facts.latency} clocks later."
    yield f"Multipliers {facts.multipliers}, ROMs {facts.memory_bits} bits, registers {facts.register_bits} bits."
    yield ""
    yield "A state is taken at a rising edge of clk where in_valid and in_ready are 1; out_valid is 1 for one clock"
    yield "with the words of each state. rst is synchronous and forgets the states that are on their way."
    yield ""
    yield from meaning_lines(model, signature, ports)
    yield ""
