"""What every export of Verilog shares: the name of the module, its ports, and what is said of their words."""

from __future__ import annotations

from collections.abc import Iterator

from bddtorque.base.errors import BddTorqueError
from bddtorque.export.c_header import proved_lines, word_meaning
from bddtorque.export.c_names import prefix_of, safe_names
from bddtorque.export.c_signature import CSignature
from bddtorque.export.verilog_text import Ports
from bddtorque.model.model import Model

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
        raise BddTorqueError(f"name must not be a keyword of Verilog, got '{chosen}'")
    return f"{top}_words"


def ports_of(signature: CSignature) -> Ports:
    """Return the ports of a model: the words of a robot as its plan calls them; names of a function's are made safe."""
    arrays = signature.arrays.items()
    if signature.result == "tau":
        inputs = {
            name: word.bits for array, words in arrays for name, word in zip(signature.names[array], words, strict=True)
        }
        return Ports(inputs, {f"tau{k}": word.bits for k, word in enumerate(signature.outputs, 1)})
    words = [word for _, formats in arrays for word in formats]
    names = safe_names([each for given in signature.names.values() for each in given])
    outputs = safe_names([word.name for word in signature.outputs])
    return Ports(
        {f"x_{name}": word.bits for name, word in zip(names, words, strict=True)},
        {f"y_{name}": word.bits for name, word in zip(outputs, signature.outputs, strict=True)},
    )


def meaning_lines(model: Model, signature: CSignature, ports: Ports) -> Iterator[str]:
    """Yield what the words of a model mean, and what is proved about them."""
    formats = [word for words in signature.arrays.values() for word in words]
    for side, names, words in (("Input", ports.inputs, formats), ("Output", ports.outputs, signature.outputs)):
        yield f"{side} words, two's complement:"
        for port, word in zip(names, words, strict=True):
            yield f"  {port}: {word_meaning(word)}"
    yield ""
    yield "Proved for every input: |word - true value in units of the last bit| is at most"
    for port, proved in zip(ports.outputs, model.certificate.torques, strict=True):
        for line in proved_lines(proved):
            yield f"  {port}: {line}"
