"""Parts that every export of Verilog shares: the name of the module, its ports, and what is said of their words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.export.c_call import CSignature
from bddtorque.export.c_header import proved_lines, representation, word_meaning
from bddtorque.export.c_text import prefix_of, safe_names
from bddtorque.export.folder import fill, template
from bddtorque.export.fpga_tools import DEVICES, FORGET
from bddtorque.export.selftest import make_vectors
from bddtorque.export.verilog_text import Ports
from bddtorque.model.model import Model

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
    """

    directory: Path | None = None
    name: str
    sources: tuple[str, ...]
    files: Mapping[str, int] = field(default_factory=dict)
    memory_bits: int
    bound: float

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
    digits = -(-sum(widths) // 4)
    lines = []
    for row in zip(*(column.tolist() for column in columns), strict=True):
        packed = 0
        for word, bits in zip(row, widths, strict=True):
            packed = packed << bits | word & ((1 << bits) - 1)
        lines.append(f"{packed:0{digits}x}\n")
    return "".join(lines)


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


def module_name(robot: str, chosen: str | None) -> str:
    """Return the name of the module, which must not be a word of Verilog."""
    top = prefix_of(robot, chosen)
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
