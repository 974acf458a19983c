"""`export_one_bit`: a compiled model, or one of its terms, as one-bit processors in Verilog with all that they run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.version import __version__
from bddtorque.evaluate.spreading import SpreadWay
from bddtorque.export.c_call import CSignature, word_meaning
from bddtorque.export.c_term import TermFunction
from bddtorque.export.export_options import OneBitOptions
from bddtorque.export.folder import check_folder, fill, template, with_manifest, write_folder
from bddtorque.export.fpga_tools import device_named
from bddtorque.export.one_bit_program import (
    CountedClocks,
    Function,
    Integers,
    OneBitMachine,
    count_clocks,
    spread_over_cores,
)
from bddtorque.export.one_bit_verilog import Layout, core_text, machine_text, testbench_text, vectors_text
from bddtorque.export.selftest import check_exported, make_vectors
from bddtorque.export.verilog_exporter import ExportedModule, makefile_text, meaning_lines, module_name, ports_of
from bddtorque.export.verilog_tables import hex_text
from bddtorque.model.applicability import require
from bddtorque.model.model import Model
from bddtorque.words.integer_range import Range, wrap

MAX_NODES = 80_000
"""A row of nodes takes 46 bits and more; an ECP5-85 has 3,833,856 bits of block memory."""

BLOCK_BITS = {"ice40": 32 * 4096, "ecp5": 208 * 18432, "ecp5-25": 56 * 18432}
"""Block memory of devices."""


@dataclass(frozen=True)
class OneBitFunction:
    """A model or a term to export, with the words that go in and come out."""

    function: Function  # its plan and diagrams
    # inputs, outputs: bits of the words, by the names of the plan and of the ports
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    # states, words: states to try, (N, inputs), and the words that the plain interpreter gives, (N, outputs)
    states: Integers
    words: Integers
    meaning: tuple[str, ...]  # lines on what the words mean and what is proved about them
    bound: float  # the largest proved error, in units
    # bound_si, unit: of a term, its bound in the unit of its torque
    bound_si: float | None = None
    unit: str = ""


@dataclass(frozen=True, kw_only=True)
class ExportedOneBit(ExportedModule):
    """The files of `export_one_bit`, and facts about them.

    Attributes
    ----------
    processors, spread
        How many cores there are, and what is spread over them.
    nodes, code_words
        Rows of all node memories, and words of code, of all cores together.
    tests
        Tests of a bit per state, the mean of the test bench.
    clocks, most_clocks
        Per state, counted: the mean and the most of the test bench.
    """

    processors: int
    spread: str
    nodes: int
    code_words: int
    tests: float
    clocks: float
    most_clocks: int


@dataclass(frozen=True)
class OneBitFiles:
    """The files of an export by name, what is to be said of them, the machine, and what it made of the test states."""

    files: dict[str, str]
    facts: ExportedOneBit
    machine: OneBitMachine
    counted: CountedClocks


def export_one_bit(
    model: Model,
    directory: str | PathLike[str],
    *,
    processors: int = 1,
    spread: SpreadWay = "bits",
    term: str | None = None,
    fpga: str | None = None,
    name: str | None = None,
    vectors: int = 1000,
    force: bool = False,
) -> ExportedOneBit:
    """Write a model for target ``"tables"`` as one-bit processors in Verilog-2001.

    Parameters
    ----------
    model
        A model for the target ``"tables"``.
    directory
        A folder to create, or the folder of an earlier export, which is replaced.
    processors
        Number of cores that work on one state, 1 to 64.
    spread
        What is spread over them: single output ``"bits"`` or whole ``"terms"`` of the torques.
    term
        Only this term of a robot; `bddtorque terms` lists the names.
    fpga
        Reject what the block memory of this device cannot hold: ``"ice40"``, ``"ecp5"`` or ``"ecp5-25"``.
    name
        The name of the module and the files; by default the robot's name.
    vectors
        Number of states in the test bench, 1 to 100,000.
    force
        Write into a folder that holds other files; these are kept.

    Returns
    -------
    ExportedOneBit
        The files and what is known about them.

    Raises
    ------
    BddTorqueError
        The export is impossible; nothing was written.
    """
    target = Path(directory)
    check_folder(target, force)
    made = one_bit_files(model, processors=processors, spread=spread, term=term, name=name, vectors=vectors)
    if fpga is not None:
        _check_room(made.facts, fpga)
    write_folder(target, made.files, force)
    return replace(made.facts, directory=target)


def one_bit_files(model: Model, **options: Any) -> OneBitFiles:
    """Return what an export writes. A model gives the same each time. Options are the fields of `OneBitOptions`."""
    asked = OneBitOptions(**options)
    term, processors, spread = asked.term, asked.processors, asked.spread
    function = one_bit_function(model, term, asked.vectors)
    _check_nodes(function.function)
    top = module_name(model, asked.name, term)
    machine = spread_over_cores(function.function, function.inputs, function.outputs, processors, asked.spread)
    counted = count_clocks(machine, function.states)
    widths = function.outputs.values()
    if not np.array_equal(counted.words, np.stack(list(map(wrap, function.words.T, widths)), axis=1)):
        raise AssertionError("the assembled program gives other words than the model")
    layouts = {f"{top}_core{k}": Layout(machine, k) for k in range(processors)}
    sources = (f"{top}.v", *(f"{core}.v" for core in layouts))
    facts = ExportedOneBit(
        name=top,
        sources=sources,
        processors=processors,
        spread=spread,
        nodes=sum(len(core.nodes) for core in machine.cores),
        code_words=sum(len(core.code) for core in machine.cores),
        memory_bits=sum(layout.memory_bits for layout in layouts.values()),
        tests=float(counted.tests.mean()),
        clocks=float(counted.clocks.mean()),
        most_clocks=int(counted.clocks.max()),
        bound=function.bound,
        bound_si=function.bound_si,
        unit=function.unit,
    )
    header = "\n".join(f"// {line}".rstrip() for line in _header(model, function, machine, facts))
    files = {f"{top}.v": f"{header}\n{_ports_text(top, machine)}{machine_text(top, machine)}"}
    for core, layout in layouts.items():
        files[f"{core}.v"] = core_text(core, layout)
        files[f"{core}_code.hex"] = hex_text(layout.code(), layout.code_bits)
        files[f"{core}_nodes.hex"] = hex_text(layout.nodes(), layout.row_bits)
    files |= {
        f"{top}_tb.v": testbench_text(top, machine, counted),
        f"{top}_vectors.hex": vectors_text(machine, function.states, counted),
        "Makefile": makefile_text(top, sources, sources, serial=False),
    }
    files = with_manifest(files, model.digest, "build")
    sizes = {file: len(text) for file, text in files.items()}
    return OneBitFiles(files, replace(facts, files=sizes), machine, counted)


def _check_room(facts: ExportedOneBit, fpga: str) -> None:
    """Refuse a device whose block memory cannot hold the programs."""
    room = BLOCK_BITS.get(device_named(fpga).name)
    if room is not None and facts.memory_bits > room:
        raise BddTorqueError(
            f"fpga '{fpga}' has {room:,} bits of block memory, and these one-bit processors need "
            f"{facts.memory_bits:,}: compile fewer bits, export one term with --term, or use a larger part"
        )


def _check_nodes(function: Function) -> None:
    """Refuse what no part of the devices that we know could hold."""
    plan = function.plan
    read = {getattr(plan.wires[wire], "block", -1) for wire in plan.read} - {-1}
    nodes = sum(function.diagrams[block].node_count for block in read)
    if nodes > MAX_NODES:
        raise BddTorqueError(
            f"one-bit processors hold at most {MAX_NODES:,} nodes, what the block memory of an ECP5-85 has room for, "
            f"and these diagrams have {nodes:,}: compile fewer bits, or export one term with --term"
        )


def one_bit_function(model: Model, term: str | None, vectors: int) -> OneBitFunction:
    """Return what is exported of a model, or refuse it."""
    check_exported(model)
    require(model, "diagrams", "a one-bit processor")
    if term is not None:
        return _term(TermFunction.of(model, term), vectors)
    signature = CSignature.of(model, 32, 32)
    ports = ports_of(signature)
    tried, _ = make_vectors(model, signature, vectors)
    names, formats = signature.plan_names, signature.inputs
    given = [words for array in signature.arrays for words in tried[array].T]
    return OneBitFunction(
        Function(model.plan, model.diagrams), {name: word.bits for name, word in zip(names, formats, strict=True)},
        ports.outputs, np.stack([word.held(words) for word, words in zip(formats, given, strict=True)], axis=1),
        tried[signature.result], tuple(meaning_lines(model, signature, ports)),
        max(model.certificate.bounds),
    )  # fmt: skip


def _term(term: TermFunction, vectors: int) -> OneBitFunction:
    columns, words = term.vectors(vectors)
    given = dict(zip(term.inputs.values(), term.formats, strict=True))
    held = [wrap(column, word.bits) for column, word in zip(columns, term.formats, strict=True)]
    lsb = float(term.output.lsb) * term.torque.sign
    meaning = (
        f"Only term {term.name} of torque {term.summands.torque + 1}. Input words, two's complement:",
        *(f"  {name}: {word_meaning(word)}" for name, word in given.items()),
        f"Output word, two's complement: {term.name}, word * {lsb!r}",
        "",
        f"Proved for every input: |word - true term in these units| is at most {term.bound:.6f}",
    )
    return OneBitFunction(
        Function(term.plan, term.model.diagrams), {name: word.bits for name, word in given.items()},
        {"term": Range(term.output.low, term.output.high).bits},
        np.stack(held, axis=1) if held else np.zeros((vectors, 0), np.int64), words[:, None], meaning, term.bound,
        term.bound_si, term.torque.unit,
    )  # fmt: skip


def _header(model: Model, function: OneBitFunction, machine: OneBitMachine, facts: ExportedOneBit) -> Iterator[str]:
    cores = "one one-bit processor" if facts.processors == 1 else f"{facts.processors} one-bit processors"
    yield f"{facts.name}.v: decision diagrams of words on {cores}."
    yield f"Written by bddtorque {__version__}; made anew by `bddtorque export`, so do not edit it."
    yield f"Model {model.digest}, target {model.plan.target}."
    yield ""
    spread = f", {facts.spread} spread" if facts.processors > 1 else ""
    yield f"{facts.nodes} nodes, {facts.code_words} words of code, {facts.memory_bits} bits of memory{spread}."
    yield f"A state takes {facts.clocks:.1f} clocks on average over the test bench, {facts.most_clocks} at most there."
    yield ""
    yield "A bit of the next state is taken at a rising edge of clk where in_valid and in_ready are 1: the first input"
    yield f"word first, its most significant bit first, {machine.input_bits} bits. The cores start when all have come"
    yield "and the state before is done; busy is 1 while they run. Each bit of the output words comes out once, where"
    yield "out_valid is 1: out_index counts from the least significant bit of the first word to the most significant"
    yield f"bit of the last, {machine.output_bits} bits. rst is synchronous: it forgets the bits that were taken, and"
    yield "nothing comes out of the state that the cores are at."
    yield ""
    yield from function.meaning
    yield ""


def _ports_text(name: str, machine: OneBitMachine) -> str:
    zone = max((machine.output_bits - 1).bit_length(), 1)
    return fill(template("one_bit_ports.v"), name=name, zone=zone)
