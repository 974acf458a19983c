"""The entries of a table of cosines, checked by Coq: each is as close to its cosine as it was found to be.

The file (its head is `templates/tables.v`) computes every cosine with the intervals of coq-interval, whose functions
are proved to hold the exact value; its floats are Coq's own integers, so that no axiom is added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bddtorque.assurance.lemmas import Ends
from bddtorque.assurance.word_lemmas import WordLemmas
from bddtorque.dynamics.graph import Op
from bddtorque.plan.blocks import Block, FunctionBlock
from bddtorque.plan.table import Table
from bddtorque.plan.wires import Lookup

MAX_ENTRIES = 1 << 12
"""Of a table that Coq checks: it takes 10 to 15 ms for each."""

REQUIRED = """\
From Coq Require Lia List Bool ZArith.
From Interval Require Specific_stdz Specific_ops Float_full Xreal.
"""


@dataclass(frozen=True)
class CosineWord:
    """A word from a table of cosines: that of its angle and so many quarter turns."""

    name: str
    unit: str  # the name of the cosine
    error: str  # the expression of how far it is from the cosine
    angle: str  # the name of the angle
    quarters: int  # 0 to 3

    @property
    def place(self) -> str:
        """The angle as a number of entries."""
        return f"k{self.angle}"


@dataclass(frozen=True)
class CosineTable:
    """A table whose entry i stands for the cosine of i parts of a turn, in units of 1/scale."""

    block: int
    entries: tuple[int, ...]
    scale: int
    words: tuple[CosineWord, ...]

    @property
    def quarter(self) -> int:
        """The entries of a quarter turn."""
        return len(self.entries) // 4

    def lemmas(self, known: Mapping[str, Ends]) -> list[str]:
        """Return the lemma that every entry is in a range and as close to its cosine as it may be."""
        k, ends, most = self.block, known[self.words[0].name], known[self.words[0].error].magnitude
        sizes = f"({self.scale}) ({most.numerator}) ({most.denominator}) ({ends.low}) ({ends.high})"
        test = f"all (test (4 * {self.quarter}) {sizes}) 0 entries_{k} = true"
        return [
            f"Definition entries_{k} : list Z := [{'; '.join(map(str, self.entries))}]%Z.",
            f"Lemma length_{k} : Z.of_nat (length entries_{k}) = (4 * {self.quarter})%Z.",
            "Proof. vm_compute. reflexivity. Qed.",
            f"Lemma checked_{k} : ({test})%Z.",
            "Proof. vm_cast_no_check (eq_refl true). Qed.",
            f"Definition near_{k} := table entries_{k} {self.quarter} {sizes} eq_refl eq_refl length_{k} checked_{k}.",
        ]

    def definitions(self) -> dict[str, str]:
        """Return the variables that the table defines, as they are declared: angles, and words."""
        found = {}
        for word in self.words:
            angle = f"2 * PI * IZR {word.place} / IZR (4 * {self.quarter})"
            found[word.angle] = (
                f"Variable {word.place} : Z. Variable {word.angle} : R. "
                f"Hypothesis def_{word.angle} : {word.angle} = ({angle})%R."
            )
            at = f"(4 * {self.quarter}) ({word.place} + {word.quarters} * {self.quarter})"
            found[word.name] = (
                f"Variable {word.name} : R. "
                f"Hypothesis def_{word.name} : {word.name} = Tables.entry Tables.entries_{self.block} {at}."
            )
        return found

    def proofs(self) -> dict[str, str]:
        """Return the proofs of the premises about the words, as inequalities."""
        found = {}
        for word in self.words:
            near = f"(Tables.near_{self.block} {word.place} {word.quarters})"
            found[word.name] = f"rewrite def_{word.name}. exact (proj1 {near})."
            turned = f"def_{word.name}, def_{word.unit}, def_{word.angle}, <- Tables.quarter_{word.quarters}"
            found[word.error] = f"rewrite {turned}. exact (proj2 {near})."
        return found


def cosine_tables(lemmas: WordLemmas, tables: Sequence[Table]) -> list[CosineTable]:
    """Return the tables of cosines of whole parts of a turn that Coq can check."""
    plan, angles = lemmas.plan, lemmas.angles()
    words: dict[int, list[CosineWord]] = {}
    scales: dict[int, Fraction] = {}
    for k, (unit, scale, _, quarters) in lemmas.units.items():
        lookup = plan.wires[k]
        assert isinstance(lookup, Lookup)
        word = CosineWord(lemmas.word(k), unit, lemmas.error(k), angles[unit][1], quarters)
        words.setdefault(lookup.block, []).append(word)
        scales[lookup.block] = scale
    return [
        CosineTable(block, tuple(map(int, tables[block].values)), int(scales[block]), tuple(found))
        for block, found in words.items()
        if _is_cosine(plan.blocks[block])
        and scales[block].denominator == 1
        and 4 <= len(tables[block].values) <= MAX_ENTRIES
    ]


def _is_cosine(block: Block) -> bool:
    """Tell if entry i of a table stands for the cosine of i parts of a turn."""
    if not isinstance(block, FunctionBlock) or len(block.arguments) != 1:
        return False
    (argument,), (output,), nodes = block.arguments, block.graph.outputs, block.graph.nodes
    node = nodes[output >> 1]
    is_cosine = node.op is Op.COSINE and nodes[node.left >> 1].op is Op.INPUT and not output & 1
    return is_cosine and argument.kind == "angle" and argument.scale == 1 and not argument.centre
