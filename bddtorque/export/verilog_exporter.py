"""`export_verilog`: a compiled model as a pipelined circuit in plain Verilog-2001."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.version import __version__
from bddtorque.export.c_call import CSignature, model_prefix, proved_lines, representation, word_meaning
from bddtorque.export.c_text import prefix_of, safe_names
from bddtorque.export.export_options import VerilogOptions
from bddtorque.export.folder import check_folder, fill, template, with_manifest, write_folder
from bddtorque.export.fpga_tools import DEVICES, FORGET
from bddtorque.export.selftest import check_exported, make_vectors
from bddtorque.export.verilog_datapath import Multiply, datapath
from bddtorque.export.verilog_stages import Circuit, Times, stage_times
from bddtorque.export.verilog_tables import hex_text, is_block, memory_blocks, network_text
from bddtorque.export.verilog_text import ModuleWriter, Ports, cell_text
from bddtorque.model.applicability import require
from bddtorque.model.model import Model
from bddtorque.plan.plan import Plan

ICE40, ECP5 = (DEVICES[name] for name in ("ice40", "ecp5-25"))


@dataclass(frozen=True, kw_only=True)
class ExportedModule:
    """The files of an export of Verilog, and facts about them.

    Attributes
    ----------
    directory
        The folder; None if nothing was written.
    name
        The name of the module.
    sources
        The files of the module.
    files
        Names of all files, and the bytes of each.
    memory_bits
        Bits of ROM in block memory; of one-bit processors, bits of all memories.
    bound
        The largest proved error of the words, in their units.
    bound_si, unit
        Of a term: its bound in the unit of its torque, and that unit.
    """

    directory: Path | None = None
    name: str
    sources: tuple[str, ...]
    files: Mapping[str, int] = field(default_factory=dict)
    memory_bits: int
    bound: float
    bound_si: float | None = None
    unit: str = ""

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}
        return {**plain, "directory": str(self.directory), "files": dict(self.files)}


def serial_text(name: str, ports: Ports) -> str:
    """Return a module that takes a state and gives its words bit by bit: any package has pins enough for it."""
    given, wanted = ports.input_bits, ports.output_bits
    connected = ", ".join(f".{port}({port})" for port in (*ports.inputs, *ports.outputs))
    wires = "\n".join(f"    {wire};" for wire in ports.wires.values())
    return fill(
        template("serial.v"),
        name=name,
        given=given,
        wanted=wanted,
        wires=wires,
        inputs=", ".join(ports.inputs),
        connected=connected,
        outputs=", ".join(ports.outputs),
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


Words = npt.NDArray[np.int64]
GAP = 7
"""One of so many clocks has no state, so that a wrong `valid` is found."""


def vectors_text(model: Model, signature: CSignature, ports: Ports, count: int) -> str:
    """Return states and the words that they give as `$readmemh` reads them: the first port most significant."""
    vectors, _ = make_vectors(model, signature, count)
    held = [
        word.held(vectors[array][:, place])
        for array, formats in signature.arrays.items()
        for place, word in enumerate(formats)
    ]
    return hex_rows([*held, *vectors[signature.result].T], [*ports.inputs.values(), *ports.outputs.values()])


def hex_rows(columns: Sequence[Words], widths: Sequence[int]) -> str:
    """Return rows of words as `$readmemh` reads them, the first word of each most significant."""
    packed = []
    for row in zip(*(column.tolist() for column in columns), strict=True):
        packed.append(0)
        for word, bits in zip(row, widths, strict=True):
            packed[-1] = packed[-1] << bits | word & ((1 << bits) - 1)
    return hex_text(packed, sum(widths))


def testbench_text(name: str, ports: Ports, count: int) -> str:
    """Return a module that feeds all states, one after the other, and ends with OK or with what differs first."""
    given, wanted = ports.input_bits, ports.output_bits
    lines = [f"    {wire};" for wire in ports.wires.values()]
    taken = f"{{{', '.join(ports.inputs)}}}"
    found = f"{{{', '.join(ports.outputs)}}}"
    connected = ", ".join(f".{port}({port})" for port in (*ports.inputs, *ports.outputs))
    outputs = list(ports.outputs.items())
    below = [sum(bits for _, bits in outputs[k + 1 :]) for k in range(len(outputs))]
    checks = "\n".join(
        f"                if ({port} !== vectors[received][{low + bits - 1}:{low}])\n"
        f'                    $display("state %0d, {port}: expected word %0d, got %0d", received,\n'
        f"                        {'' if port in ports.unsigned else '$signed'}"
        f"(vectors[received][{low + bits - 1}:{low}]), {port});"
        for (port, bits), low in zip(outputs, below, strict=True)
    )
    declared = "\n".join(lines)
    return fill(
        template("testbench.v"),
        name=name,
        count=count,
        row_top=given + wanted - 1,
        given=given,
        declared=declared,
        taken=taken,
        connected=connected,
        found=found,
        checks=checks,
        gap=GAP,
        wanted=wanted,
    )


KEYWORDS = frozenset({
    "always", "and", "assign", "automatic", "begin", "buf", "bufif0", "bufif1", "case", "casex", "casez", "cell",
    "cmos", "config", "deassign", "default", "defparam", "design", "disable", "edge", "else", "end", "endcase",
    "endconfig", "endfunction", "endgenerate", "endmodule", "endprimitive", "endspecify", "endtable", "endtask",
    "event", "for", "force", "forever", "fork", "function", "generate", "genvar", "highz0", "highz1", "if", "ifnone",
    "incdir", "include", "initial", "inout", "input", "instance", "integer", "join", "large", "liblist", "library",
    "localparam", "macromodule", "medium", "module", "nand", "negedge", "nmos", "nor", "noshowcancelled", "not",
    "notif0", "notif1", "or", "output", "parameter", "pmos", "posedge", "primitive", "pull0", "pull1", "pulldown",
    "pullup", "pulsestyle_ondetect", "pulsestyle_onevent", "rcmos", "real", "realtime", "reg", "release", "repeat",
    "rnmos", "rpmos", "rtran", "rtranif0", "rtranif1", "scalared", "showcancelled", "signed", "small", "specify",
    "specparam", "strong0", "strong1", "supply0", "supply1", "table", "task", "time", "tran", "tranif0", "tranif1",
    "tri", "tri0", "tri1", "triand", "trior", "trireg", "unsigned", "use", "vectored", "wait", "wand", "weak0",
    "weak1", "while", "wire", "wor", "xnor", "xor",
})  # fmt: skip
"""Words of Verilog-2001."""


def module_name(model: Model, chosen: str | None, term: str | None = None) -> str:
    """Return the name of the module, which must not be a word of Verilog."""
    top = prefix_of(f"{model.name}_{term}", chosen) if term else model_prefix(model, chosen)
    if top not in KEYWORDS:
        return top
    if chosen is not None:
        raise BddTorqueError(f"name must not be a keyword of Verilog, got '{chosen}'", option="name")
    return f"{top}_words"


def ports_of(signature: CSignature) -> Ports:
    """Return the ports of a model: the words of a robot as its plan calls them; names of a function's are made safe."""
    arrays = signature.arrays.items()
    if signature.result in signature.per_joint:
        inputs = {
            name: word.bits for array, words in arrays for name, word in zip(signature.names[array], words, strict=True)
        }
        return Ports(inputs, {f"{signature.result}{k}": word.bits for k, word in enumerate(signature.outputs, 1)})
    words = [word for _, formats in arrays for word in formats]
    names = safe_names([each for given in signature.names.values() for each in given])
    outputs = safe_names([word.name for word in signature.outputs])
    named = {f"x_{name}": word for name, word in zip(names, words, strict=True)}
    results = {f"y_{name}": word for name, word in zip(outputs, signature.outputs, strict=True)}
    return Ports(
        {name: word.bits for name, word in named.items()},
        {name: word.bits for name, word in results.items()},
        frozenset(name for name, word in (named | results).items() if not word.signed),
    )


def meaning_lines(model: Model, signature: CSignature, ports: Ports) -> Iterator[str]:
    """Yield what the words of a model mean, and what is proved about them."""
    formats = [word for words in signature.arrays.values() for word in words]
    for side, names, words in (("Input", ports.inputs, formats), ("Output", ports.outputs, signature.outputs)):
        yield f"{side} words, {representation(words)}:"
        for port, word in zip(names, words, strict=True):
            yield f"  {port}: {word_meaning(word)}"
    yield ""
    yield "Proved for every input: |word - true value in units of the last bit| is at most"
    for port, proved in zip(ports.outputs, model.certificate.torques, strict=True):
        for line in proved_lines(proved):
            yield f"  {port}: {line}"


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
    check_folder(target, force)
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
    top = module_name(model, asked.name)
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
    cells = {f"{top}_{cell}.v": cell_text(cell, top) for cell in sorted(writer.cells)}
    # in a folder of their own, for they define the same modules: all *.v of the export go together
    ecp5 = {f"ecp5/{top}_ecp5.v": cell_text("ecp5", top)} if cells else {}
    sources = ((f"{top}.v", *networks, *cells), (f"{top}.v", *networks, *ecp5))
    facts = _facts(model, top, sources, circuit, times, writer)
    files = {
        f"{top}.v": f"{_header(model, signature, ports, facts)}\n{module}",
        **networks,
        **cells,
        **ecp5,
        **{file: hex_text(memory.words, memory.bits) for file, memory in roms.items()},
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
