"""Calls of an exported function: from C (`CSignature`), and from a program that tries it (`CCall`); and its header.

The manifest of a folder has the call, and the program is written from that. The header declares the function, and says
what its words mean and what is proved of it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import chain
from pathlib import Path
from typing import Any

from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.base.version import __version__
from bddtorque.dynamics.quantity import MOTION, ROLES
from bddtorque.export.c_text import MAX_NAME, comment, one_of, prefix_of, safe_names, safe_unit
from bddtorque.export.folder import MANIFEST, fill, template
from bddtorque.model.model import Model
from bddtorque.proof.proved_bound import Parts, ProvedBound
from bddtorque.words.formats import Format

AVR_MAIN = """
int main(void)
{
    __asm__ volatile (".global mark\\n.set mark, %0" :: "n" (_SFR_MEM_ADDR(GPIOR0))); /* where the emulator looks */
    for (;;) { GPIOR0 = 1; call(); GPIOR0 = 2; }
}
"""


@dataclass(frozen=True)
class CCall:
    """The function of a folder, and one call of it from words to words."""

    header: str  # declares the function
    sources: tuple[str, ...]  # what is compiled
    prototype: str  # of the function, as the header has it
    statement: str  # a call that reads `in` and writes `out`, arrays of words
    # inputs, outputs: words of these
    inputs: int
    outputs: int
    # word, result: the C types of the words of `in` and of `out`; the same where `result` is empty
    word: str = "int32_t"
    result: str = ""

    @property
    def dtype(self) -> str:
        """NumPy's name of a word of `in`, least significant byte first."""
        return _dtype(self.word)

    @property
    def result_dtype(self) -> str:
        """NumPy's name of a word of `out`, least significant byte first."""
        return _dtype(self.result or self.word)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for a manifest, under its key ``call``."""
        plain = asdict(self)
        if self.result in ("", self.word):
            del plain["result"]
        return plain

    @classmethod
    def read(cls, folder: Path) -> CCall:
        """Return what the manifest of a folder says."""
        try:
            plain = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["call"]
            return cls(**{**plain, "sources": tuple(plain["sources"])})
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise BddTorqueError(
                one_line(
                    f"{folder}: there must be a {MANIFEST} with the key 'call', as bddtorque export writes ({problem})"
                )
            ) from None

    def call_text(self) -> str:
        """Return a function ``call`` that calls it with the words of arrays."""
        return fill(
            template("call.c"),
            header=self.header,
            word=self.word,
            result=self.result or self.word,
            inputs=self.inputs,
            outputs=self.outputs,
            statement=self.statement,
        )

    def main_text(self, avr: bool) -> str:
        """Return a program that calls the function for ever; on AVR each call stands between two marks."""
        text = self.call_text()
        if avr:
            return f"#include <avr/io.h>\n{text}{AVR_MAIN}"
        return f"{text}\nvoid _start(void) {{ for (;;) call(); }}\n"

    def stub_text(self) -> str:
        """Return a function that does nothing, so that what is around it can be told apart."""
        return f'#include "{self.header}"\n\n{self.prototype}\n{{\n    return 0;\n}}\n'


COUNTS = {"in": "INPUTS", "out": "OUTPUTS"}
"""Names of the macros of array sizes; those of other arrays have the name of the array."""


@dataclass(frozen=True)
class CSignature:
    """Arrays that go in and the array that comes out, as parameters of a C function."""

    # the formats of the words of each input array, by its name
    arrays: Mapping[str, tuple[Format, ...]] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # what the plan calls them
    # result, outputs: the output array, and its formats
    result: str = "tau"
    outputs: tuple[Format, ...] = ()
    # what the words of each array are called in C, by the array
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    per_joint: frozenset[str] = frozenset()  # arrays that have one word per joint
    quantity: str = ""  # what is computed of a robot; empty for a function
    bits: int = 32  # of the C type of all words: 16 or 32
    register: int = 32  # bits that the chip computes with at once

    @classmethod
    def of(cls, model: Model, bits: int, register: int) -> CSignature:
        """Return how a model is called with words of 16 or 32 bits.

        The numbers of a function are one array ``in``; several output arrays are one array ``out``, side by side.
        """
        own, robot, quantity = model.formats, model.provenance.robot, model.provenance.quantity
        formats = {array.name: array.words for array in own.inputs}
        names = {array.name: array.word_names for array in own.inputs}
        labels = {array.name: _labels(array.labels) for array in own.inputs}
        if all(array.shape == () for array in own.inputs):
            formats, names = {"in": tuple(own.words.values())}, {"in": own.word_names}
            labels = {"in": _labels(own.word_names)}
        alone = len(own.outputs) == 1 and own.outputs[0].shape
        result, outputs = own.outputs[0].name if alone else "out", tuple(own.results.values())
        labels[result] = _labels(list(own.results))
        arrays = [*formats.values(), outputs]
        wide = max(word.bits + (_mixed(words) and not word.signed) for words in arrays for word in words)
        if wide > bits:
            raise BddTorqueError(f"words of {wide} bits do not fit --io {bits}: use --io 32")
        per_joint = {array.name for array in own.arrays if robot is not None and array.labels == robot.joint_names}
        name = "" if quantity is None else quantity.name
        return cls(formats, names, result, outputs, labels, frozenset(per_joint), name, bits, register)

    @property
    def types(self) -> list[str]:
        """The C types of the words of all arrays, each once."""
        return list(dict.fromkeys(map(self.type_of, (*self.arrays, self.result))))

    def type_of(self, array: str) -> str:
        """Return the C type of the words of an array: unsigned if all of them are."""
        words = self.outputs if array == self.result else self.arrays[array]
        unsigned = bool(words) and not any(word.signed for word in words)
        return f"{'u' * unsigned}int{self.bits}_t"

    def function(self, prefix: str) -> str:
        """Return the name of the function from words to words."""
        return f"{self._stem(prefix)}_words"

    def float_function(self, prefix: str) -> str:
        """Return the name of the function from floats to floats."""
        return self._stem(prefix) if self.quantity else f"{prefix}_value"

    def _stem(self, prefix: str) -> str:
        """Return a prefix with the quantity behind it, once."""
        named = not self.quantity or prefix.lower().endswith(f"_{self.quantity}")
        return prefix if named else f"{prefix}_{self.quantity}"

    @property
    def plan_names(self) -> list[str]:
        """The names of all input words in the plan."""
        return [*chain.from_iterable(self.names.values())]

    @property
    def inputs(self) -> list[Format]:
        """The formats of all input words."""
        return [*chain.from_iterable(self.arrays.values())]

    def prototype(self, prefix: str, name: str = "", kind: str = "", sizes: bool = False) -> str:
        """Return what the function is declared as; or another, of other numbers. With `sizes`, in plain numbers."""
        given = [(f"const {kind or self.type_of(array)} ", array, len(words)) for array, words in self.arrays.items()]
        given.append((f"{kind or self.type_of(self.result)} ", self.result, len(self.outputs)))
        counted = [f"{start}{array}[{count if sizes else self.count(prefix, array)}]" for start, array, count in given]
        between = ", " if sizes else ",\n    "
        return f"int {name or self.function(prefix)}({between.join(counted)})"

    def count(self, prefix: str, array: str) -> str:
        """Return the macro that says how many words an array has."""
        counted = COUNTS.get(array, f"{array.upper()}_WORDS")
        return f"{prefix.upper()}_{'JOINTS' if array in self.per_joint else counted}"

    def call(self, prefix: str) -> CCall:
        """Return how the function is called with all words side by side."""
        counts = [len(words) for words in self.arrays.values()]
        given = [f"in + {sum(counts[:k])}" if k else "in" for k in range(len(counts))]
        statement = f"{self.function(prefix)}({', '.join(given)}, out);"
        prototype = self.prototype(prefix, sizes=True)
        *words, result = (*map(self.type_of, self.arrays), self.type_of(self.result))
        if len(set(words)) > 1:
            raise BddTorqueError("export: input arrays must be all signed or all unsigned")
        return CCall(
            f"{prefix}.h", (f"{prefix}.c",), prototype, statement, sum(counts), len(self.outputs), words[0], result
        )


def model_prefix(model: Model, chosen: str | None = None) -> str:
    """Return what public names and file names begin with: `chosen`, or the name, and of a robot the quantity.

    Torques are what is computed of a robot unless something else is said.
    """
    prefix, quantity = prefix_of(model.name, chosen), model.provenance.quantity
    if chosen is not None or quantity is None or quantity.inverse_dynamics:
        return prefix
    return f"{prefix[: MAX_NAME - len(quantity.name) - 1].rstrip('_')}_{quantity.name}"


def _mixed(words: Sequence[Format]) -> bool:
    return len({word.signed for word in words}) > 1


def _labels(names: Sequence[str]) -> tuple[str, ...]:
    """Return names as parts of macros, all different."""
    return tuple(safe_names([name.upper() for name in names]))


def _dtype(word: str) -> str:
    return f"<{'u' if word.startswith('u') else 'i'}{2 if '16' in word else 4}"


MACROS = (
    "Macros of every word, by its place in the array from 0 and by its name: the value of a word is",
    "SIGN * LSB * word + OFFSET, from LOW to HIGH; what is proved of an output is BOUND, in units of its LSB.",
)
MEANINGS = {
    **MOTION, "tau": "torque", "mass": "mass matrix, upper triangle",
    **{f"{array}_{role}": f"{role} {meaning}" for role in ROLES for array, meaning in MOTION.items()},
    "payload": "payload, in the tip frame", "jacobian": "Jacobian of the tip, rows vx vy vz wx wy wz",
    "gravity": "gravity, in base axes", "in": "input", "out": "output",
}  # fmt: skip
"""The meaning of arrays whose name does not say it."""


def header_text(model: Model, prefix: str, signature: CSignature, floats: bool) -> str:
    """Return the header; `floats` adds the function that takes and gives physical units."""
    counts = {signature.count(prefix, array): len(words) for array, words in signature.arrays.items()}
    counts[signature.count(prefix, signature.result)] = len(signature.outputs)
    arrays = {**signature.arrays, signature.result: signature.outputs}
    parts = [
        "\n".join(f"#define {name} {count}" for name, count in counts.items())
        + f'\n#define {prefix.upper()}_DIGEST "{model.digest}"',
        comment(MACROS),
        "\n\n".join(_words(prefix, signature, array, formats) for array, formats in arrays.items()),
        _certificate(model, prefix, signature),
        *([_drives(model, prefix)] if model.drives else []),
        _function(model, prefix, signature),
        *([_float_function(prefix, signature)] if floats else []),
    ]
    return framed_header(prefix, list(_about(model, prefix)), parts)


def framed_header(prefix: str, about: Sequence[str], parts: Sequence[str]) -> str:
    """Return a header of some parts: what it is about, guarded, for C and C++."""
    guard = f"BDDTORQUE_{prefix.upper()}_H"
    begin = f'#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern "C" {{\n#endif'
    return "\n\n".join([comment(about), begin, *parts, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n"])


def _about(model: Model, prefix: str) -> Iterator[str]:
    plan = model.plan
    made, steps = "as tables of whole numbers", "words"
    if plan.in_floats:
        made, steps = f"in IEEE floats of {plan.floats.name} precision", "words and floats"
    quantity = model.provenance.quantity
    about = "a function of words" if quantity is None else quantity.about
    yield f"{prefix}.h: {about} {made}."
    yield f"Written by bddtorque {__version__} (`bddtorque export`): do not edit."
    yield ""
    made_of, target = one_of(plan.source, ("terms", "recursive")), one_of(plan.target, ("tables", "integer", "float"))
    yield f"Plan: source {made_of}, target {target}, {len(plan.wires)} {steps}, {len(plan.blocks)} tables."
    if quantity is not None:
        joints = ", ".join(f"{k} {name}" for k, name in enumerate(safe_names(model.robot.joint_names)))
        yield f"Joints, from base to tip (letters and digits of their names): {joints}."


def _words(prefix: str, signature: CSignature, array: str, formats: Sequence[Format]) -> str:
    """Return what the words of an array mean: a comment, and macros of every word by its place and by its name."""
    macro = f"{prefix.upper()}_{array.upper()}"
    meaning = f" ({MEANINGS[array]})" if array in MEANINGS else ""
    lines, defined = [f"Words {array}[i]{meaning}, {representation(formats)}:"], []
    for place, (word, label) in enumerate(zip(formats, signature.labels[array], strict=True)):
        lines.append(f"  {array}[{place}]: {word_meaning(word)}")
        offset = word.offset + word.sign * word.centre if word.kind == "range" else word.offset
        ends = sorted(word.sign * end + word.offset for end in _limits(word))
        unit = f" /* {safe_unit(word.unit)} */"
        values = {
            "BITS": str(word.bits),
            "LSB": f"{float(word.lsb)!r}{unit}",
            "OFFSET": f"{float(offset)!r}{unit}",
            "SIGN": str(int(word.sign)),
            "LOW": f"{float(ends[0])!r}{unit}",
            "HIGH": f"{float(ends[1])!r}{unit}",
        }
        defined += [f"#define {macro}{place}_{name} {value}" for name, value in values.items()]
        defined += named_macros(macro, place, label, values)
    return comment(lines) + "\n" + "\n".join(defined)


def _limits(word: Format) -> tuple[float, float]:
    """Return the ends of a word's range; an angle without limits has half a turn to either side."""
    if math.isfinite(word.low) and math.isfinite(word.high):
        return word.low, word.high
    return word.lowest * word.lsb, word.highest * word.lsb


def named_macros(macro: str, place: int, label: str, names: Iterable[str]) -> list[str]:
    """Return macros of a word by its name, which are those by its place."""
    return [f"#define {macro}_{label}_{name} {macro}{place}_{name}" for name in names]


def representation(words: Sequence[Format]) -> str:
    """Return how words are represented."""
    kinds = {word.signed for word in words}
    return "two's complement or unsigned" if len(kinds) > 1 else "two's complement" if kinds != {False} else "unsigned"


def word_meaning(word: Format) -> str:
    """Return what a word stands for, in a formula, and what becomes of other numbers."""
    unit = safe_unit(word.unit)
    if word.kind == "angle":
        raw, ends = f"word * 2 pi / 2^{word.bits}", "wraps"
    else:
        centre = f"{float(word.centre)!r} + " if word.centre else ""
        raw, ends = f"{centre}word * {float(word.lsb)!r}", "clamped to its ends"
    if word.sign < 0:
        raw = f"-({raw})"
    mounted = f" + {float(word.offset)!r}" if word.offset else ""
    return f"{word.bits} bits{'' if word.signed else ' (unsigned)'}, {raw}{mounted} {unit}, {ends}"


def _certificate(model: Model, prefix: str, signature: CSignature) -> str:
    """Return what is proved: a comment, and the bound of every output."""
    torques = model.certificate.torques
    what, of = ("torque" if signature.result in signature.per_joint else "value"), "robot's parameters as parsed"
    if model.provenance.robot is None:
        of = "numbers it was compiled from"
    lines = [
        f"Certificate. Proved for every input word there is: |compiled - true {what}| is at most BOUND units of the",
        f"last bit, where the true {what} is the real-number function of the {of}, at the exact",
        f"values of the input words, clamped to the lowest and the highest {what} word. `bddtorque verify` proves it",
        f"again. Every {what} below one unit (faithful): {'yes' if model.certificate.faithful else 'NO'}.",
    ]
    macro, defined = f"{prefix.upper()}_{signature.result.upper()}", []
    for k, (torque, label) in enumerate(zip(torques, signature.labels[signature.result], strict=True)):
        lines += [f"  {signature.result}[{k}]: {line}" for line in proved_lines(torque)]
        defined.append(f"#define {macro}{k}_BOUND {float(torque.bound)!r} /* units of the last bit */")
        defined.append(f"#define {macro}{k}_BOUND_SI {float(torque.bound_si)!r} /* {safe_unit(torque.unit)} */")
        defined += named_macros(macro, k, label, ("BOUND", "BOUND_SI"))
    return comment(lines) + "\n" + "\n".join(defined)


def _drives(model: Model, prefix: str) -> str:
    """Return what words are in counts of the drives: one unit of each word, and bounds at the motors."""
    lines = [
        "Drives: what one unit of a word is at the encoder (counts, counts per s) and at the motor (mA, or counts of",
        "the driver); BOUND_DRIVE is what is proved of a torque, there.",
    ]
    defined, joints = [], list(model.robot.joint_names)
    for known in model.drives:
        place = joints.index(known.joint)
        units = {name: said for name, said in known.to_plain().items() if name != "joint"}
        for array, said in units.items():
            macro = f"{prefix.upper()}_{array.upper()}{place}"
            defined.append(f"#define {macro}_DRIVE_PER_LSB {float(said['lsb'])!r} /* {said['unit']} */")
        proved = model.certificate.outputs[place].bound_drive if "tau" in units else None
        if proved is not None:
            unit = units["tau"]["unit"]
            defined.append(f"#define {prefix.upper()}_TAU{place}_BOUND_DRIVE {float(proved)!r} /* {unit} */")
    return comment(lines) + "\n" + "\n".join(defined)


def proved_lines(torque: ProvedBound) -> Iterator[str]:
    """Yield what is proved of an output: its bound, the parts of it, and whether it can saturate."""
    parts = ", ".join(
        f"{field.name.replace('_', ' ')} {value:.3g}"
        for field in fields(Parts)
        if (value := getattr(torque.parts, field.name))
    )
    unit = safe_unit(torque.unit)
    yield f"bound {torque.bound:.6f} units"
    yield f"  {parts}"
    reach = f"{torque.low:.6g} to {torque.high:.6g} {unit}"
    match torque.saturation:
        case "cannot":
            yield f"cannot saturate (proved: within {reach})"
        case "can":
            yield f"CAN saturate; a range of {reach} would be wide enough"
        case _:
            yield f"saturation not excluded; a range of {reach} would be wide enough"


def _function(model: Model, prefix: str, signature: CSignature) -> str:
    only = "IEEE floats" if model.plan.in_floats else "Whole numbers only"
    *first, last = (MEANINGS.get(array, array).partition(",")[0] for array in signature.arrays)
    given = f"{', '.join(first)}{' and ' * bool(first)}{last}"
    what = f"{MEANINGS.get(signature.result, signature.result).partition(',')[0].capitalize()} words of one state"
    about = [
        f"{what}, from {given} words. Any numbers may be given: angles",
        "wrap, other words are clamped. Returns how many input words were out of range (beyond their format, or angles",
        f"beyond the limits of their joint); 0 is the good case. {only}; no state, no recursion, no heap.",
        "All input is read before any output is written, so that arrays may be shared.",
    ]
    if model.plan.in_floats:
        about += [
            "Every operation must be rounded as it stands. The code refuses compilers that compute in other types, and",
            "-ffast-math, and tells gcc and clang to contract nothing (others: as by -ffp-contract=off). The processor",
            "must round to nearest and must not flush subnormal numbers to zero, as it does unless told otherwise.",
        ]
    return f"{comment(about)}\n{signature.prototype(prefix)};"


def _float_function(prefix: str, signature: CSignature) -> str:
    about = [
        "The same in the units of the words (those of LSB): rounds to words, and back. Returns how many values were",
        "out of range, or -1, with nothing written, if one is no number or an angle of more than 2^24 turns.",
    ]
    return f"{comment(about)}\n{signature.prototype(prefix, signature.float_function(prefix), 'double')};"
