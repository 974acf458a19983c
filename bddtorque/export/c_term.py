"""One term of a robot as C: a function of its own input words, and what is proved of its word.

The word is what the term adds to the sum of its torque, before that is rounded: its unit is the torque's divided by a
power of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, nearest
from bddtorque.base.version import __version__
from bddtorque.export.c_call import CCall, CSignature, framed_header, word_meaning
from bddtorque.export.c_steps import PlanSteps, Steps
from bddtorque.export.c_text import filled, safe_unit
from bddtorque.export.folder import fill, template
from bddtorque.export.selftest import SEED
from bddtorque.model.applicability import require
from bddtorque.model.model import Model
from bddtorque.plan.bound import compose_bounds, planned_facts
from bddtorque.plan.plan import Plan
from bddtorque.plan.reference import run_plan
from bddtorque.plan.tabulate import tabulate
from bddtorque.plan.wires import Input, Output, Product, Sum
from bddtorque.spec.chips import Chip
from bddtorque.sweeps.term_errors import TermSummands, term_summands
from bddtorque.words.bounded import ROUND_UP
from bddtorque.words.formats import Format
from bddtorque.words.integer_range import INT32, Range, word_range, wrap


@dataclass(frozen=True)
class TermFunction:
    """A term of a model, ready to be written."""

    model: Model
    summands: TermSummands  # what its plan adds to one torque for the term
    name: str  # what it was asked for by

    @classmethod
    def of(cls, model: Model, name: str) -> TermFunction:
        """Return the term called `name`, such as J12, C1_22 or G1, or its first word alone, as G1.1; or refuse it."""
        require(model, "terms of torques", "a term alone")
        name, _, place = name.partition(".")
        terms = {term.name: term for term in term_summands(model) if term.motions}
        if name not in terms:
            together = [each for each in terms if name in each.split("+")]
            hint = f"; it is computed together: {together[0]}" if together else nearest(name, terms)
            hint = hint or "; `bddtorque terms` lists them"
            raise BddTorqueError(f"unknown term {name!r:.40} among the {len(terms)} terms of '{model.name:.40}'{hint}")
        summands = terms[name]
        if place:
            if place not in map(str, range(1, len(summands.parts) + 1)):
                raise BddTorqueError(
                    f"term {name} is the sum of {len(summands.parts)} words, {name}.1 to {name}.{len(summands.parts)}, "
                    f"got '{name}.{place:.20}'"
                )
            summands = replace(summands, parts=(summands.parts[int(place) - 1],), constant=0)
        return cls(model, summands, f"{name}.{place}" if place else name)

    @cached_property
    def output(self) -> Output:
        """The sum of the term's words: as fine as the torque's, or as fine as 32 bits allow."""
        plan = self.model.plan
        whole = plan.outputs[self.summands.torque]
        start = Range(self.summands.constant, self.summands.constant)
        reach = sum((plan.range_of(wire) * factor for wire, factor in self.summands.parts), start=start)
        shift = next(shift for shift in range(64) if reach.rounded(shift).within(INT32))
        finer = Fraction(1 << whole.shift, 1 << shift)  # units of the term in a unit of the torque
        return replace(
            whole,
            name=self.name,
            parts=self.summands.parts,
            constant=self.summands.constant,
            constant_error=whole.constant_error * finer,
            dropped=whole.dropped * finer,
            shift=shift,
            low=reach.rounded(shift).low,
            high=reach.rounded(shift).high,
            lsb=whole.lsb / finer,
        )

    @cached_property
    def plan(self) -> Plan:
        """The plan of the term alone; wires and blocks keep their numbers."""
        return replace(self.model.plan, outputs=(self.output,))

    @cached_property
    def inputs(self) -> dict[int, str]:
        """The input words that the term reads, by wire, positions first."""
        named = {k: wire.name for k in self.plan.read if isinstance(wire := self.plan.wires[k], Input)}
        return dict(sorted(named.items(), key=lambda item: (len(item[1].rstrip("0123456789")), item[1])))

    @property
    def formats(self) -> list[Format]:
        """The formats of the input words."""
        return [self.model.formats.words[name] for name in self.inputs.values()]

    @property
    def torque(self) -> Format:
        """The format of the torque that the term belongs to."""
        return self.model.formats.tau[self.summands.torque]

    @cached_property
    def bound(self) -> float:
        """The largest error of the word, in its units: proved from every entry of the tables that it reads."""
        plan, model = self.plan, self.model
        used = {getattr(plan.wires[wire], "block", -1) for wire in plan.read}
        facts = [
            tabulate(block)[1] if k in used else planned
            for k, (block, planned) in enumerate(zip(plan.blocks, planned_facts(plan.blocks), strict=True))
        ]
        scales = {name: argument.scale for name, argument in model.formats.arguments.items()}
        (composed,) = compose_bounds(plan, scales, facts)
        # what float arithmetic behind the tables can have lost is known of all terms of the torque together
        arithmetic = model.certificate.torques[self.summands.torque].parts.arithmetic
        return (composed.total + arithmetic * self.torque.lsb / float(self.output.lsb)) * ROUND_UP

    @property
    def bound_si(self) -> float:
        """The same in the unit of the torque."""
        return self.bound * abs(float(self.output.lsb))

    def steps(self, chip: Chip) -> Steps:
        """Return the statements of the term, from its input words; those that only tables read are left as they are."""
        steps = PlanSteps(self.plan, self.model.tables, chip)
        arithmetic = {
            source
            for k in self.plan.read
            if isinstance(wire := self.plan.wires[k], Sum) or (isinstance(wire, Product) and wire.method != "blocks")
            for source in wire.sources
        } | set(self.output.sources)
        lines = []
        for (k, name), word in zip(self.inputs.items(), self.formats, strict=True):
            value = steps.value(k)
            taken = name
            if k in arithmetic and word.bits < 32:
                taken = steps.calls("wrapped32", f"(uint32_t){name}", f"{word.bits}u")
            lines.append(f"    const {value.type} {value.name} = ({value.type}){taken};")
        return steps.steps(lines, CSignature(register=chip.register))

    @property
    def result(self) -> str:
        """The C type of the term's word."""
        return _type(Range(self.output.low, self.output.high).bits)

    def prototype(self, prefix: str) -> str:
        """Return the declaration of the function."""
        words = zip(self.inputs.values(), self.formats, strict=True)
        arguments = ", ".join(f"{_type(word.bits)} {name}" for name, word in words) or "void"
        return f"{self.result} {prefix}({arguments})"

    def call(self, prefix: str) -> CCall:
        """Return how the function is called with its words side by side."""
        given = ", ".join(f"({_type(word.bits)})in[{k}]" for k, word in enumerate(self.formats))
        # C has no arrays without elements
        inputs = max(len(self.inputs), 1)
        return CCall(f"{prefix}.h", (f"{prefix}.c",), self.prototype(prefix), f"out[0] = {prefix}({given});", inputs, 1)

    def function_text(self, prefix: str, lines: Sequence[str]) -> str:
        """Return the function, from the statements of the plan."""
        body = "\n".join(["    int32_t tau[1];", "", *lines])
        return f"{self.prototype(prefix)}\n{{\n{body}\n    return ({self.result})tau[0];\n}}\n"

    def header_text(self, prefix: str) -> str:
        """Return the header: the function, its words, their units, the error of the result."""
        unit = safe_unit(self.torque.unit)
        lsb = float(self.output.lsb) * self.torque.sign
        centre = f" + {float(self.torque.sign * self.torque.centre)!r}" if self.torque.centre else ""
        about = [
            f"{prefix}.h: term {self.name} of torque {self.summands.torque + 1} of an arm, from words to its word.",
            f"Written by bddtorque {__version__} (`bddtorque export`): do not edit.",
            "",
            "Words, two's complement; bits above those of a word are ignored:",
            *(
                f"  {given}: {word_meaning(word).replace('clamped to its ends', 'to be clamped by the caller')}"
                for given, word in zip(self.inputs.values(), self.formats, strict=True)
            ),
            f"  result: word * {lsb!r}{centre if self.summands.constant else ''} {unit}, from {self.output.low} to "
            f"{self.output.high}",
            "",
            f"Proved for every input: |compiled - true term| is at most {self.bound:.6f} of these units, "
            f"{self.bound_si:.6g} {unit}.",
        ]
        macro = prefix.upper()
        defined = (
            f'#define {macro}_DIGEST "{self.model.digest}"\n#define {macro}_LSB {lsb!r} /* {unit} */\n'
            f"#define {macro}_BOUND {self.bound!r} /* of these */"
        )
        return framed_header(prefix, about, [defined, f"{self.prototype(prefix)};"])

    def vectors(self, count: int) -> tuple[list[npt.NDArray[np.int64]], npt.NDArray[np.int64]]:
        """Return input words, a column each, and the words they give: drawn evenly, from corners, and from all bits."""
        rng = np.random.default_rng(SEED)
        columns = []
        for word in self.formats:
            wild = word_range(16 if word.bits <= 16 else 32)
            drawn = rng.integers(word.lowest, word.highest, count, endpoint=True)
            corners = rng.choice([word.lowest, -1, 0, 1, word.highest], count)
            kind = np.arange(count) % 4
            beyond = rng.integers(wild.low, wild.high, count, endpoint=True)
            columns.append(np.where(kind == 1, corners, np.where(kind == 3, beyond, drawn)))
        named = {name: np.zeros(count, np.int64) for name in self.model.formats.words}
        for name, word, column in zip(self.inputs.values(), self.formats, columns, strict=True):
            named[name] = wrap(column, word.bits)
        return columns, run_plan(self.plan, self.model.tables, named)[0]

    def selftest_text(self, prefix: str, count: int) -> str:
        """Return the C file with vectors and a main: prints OK and returns 0, or says what differs and returns 1."""
        columns, words = self.vectors(count)
        arrays = [
            f"static const {_type(word.bits)} {name}[VECTORS] = {{\n{filled(column)}\n}};\n"
            for name, word, column in zip(self.inputs.values(), self.formats, columns, strict=True)
        ]
        given = ", ".join(f"{name}[k]" for name in self.inputs.values())
        return fill(
            template("term_selftest.c"),
            prefix=prefix,
            count=count,
            arrays="".join(arrays),
            words=filled(words),
            given=given,
        )


def _type(bits: int) -> str:
    """Return the C type of a word."""
    return "int16_t" if bits <= 16 else "int32_t"
