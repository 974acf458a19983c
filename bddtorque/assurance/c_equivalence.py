"""Prove exported integer C equal to its plan, wire by wire, with a bit-vector solver.

Every variable `w12` of the exported function is wire 12 of the plan. One after the other, for all words that the wires
before it can carry: the C of the wire and the meaning that the plan gives it are the same number. Then the variable is
any word in the range of the wire, and the next one follows. The outputs are the last. Sums of products, which C may
split to fit 32 bits and may divide in steps, are multiplied out first (`split_sums`).

What is taken for granted, and shown elsewhere:

- the ranges of wires (`verify --independent`, steps ranges and widths);
- that the C function of a table gives the words of the table: `check_tables` runs it for every index;
- the header, the directives and the code of tables, which ignores bits above the index: they are compared with what the
  exporter writes (`c_folder`);
- that no signed number overflows (Frama-C);
- ab = ⌊(a+b)²/4⌋ − ⌊(a−b)²/4⌋, which products by quarter squares rest on: a + b and a − b are both odd or both even, so
  that both squares leave the same rest modulo 4, and (a+b)² − (a−b)² = 4ab;
- that partial products add up to the product: Σᵢ aᵢ·2^(in) · Σⱼ bⱼ·2^(jn) = Σᵢⱼ aᵢ·bⱼ·2^((i+j)n). That C takes these
  pieces of its factors, and adds their products up so, is proved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from bddtorque.assurance.bit_vectors import (
    FAST,
    TYPES,
    WIDE,
    CWord,
    added,
    clamped,
    constant,
    holds,
    literal,
    low_bits,
    low_word,
    rounded,
    times,
    wide,
    within,
)
from bddtorque.assurance.c_execution import CExecution, parse_c
from bddtorque.assurance.c_folder import CFolder, read_c_folder
from bddtorque.assurance.split_sums import Known, Rounding, SplitSums
from bddtorque.base.errors import BddTorqueError
from bddtorque.model.model import Model
from bddtorque.plan.blocks import ProductBlock, SquareBlock
from bddtorque.plan.bound import known_ranges
from bddtorque.plan.wires import AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.words.integer_range import Range, word_range


@dataclass(frozen=True)
class ProvedWire:
    """A wire or an output, by its name in the C code, and whether its C gives what the plan says for all inputs.

    A helper that multiplies is listed only if it is not proved; then the others hold for a right one.
    """

    name: str
    proved: bool


def prove_c(
    model: Model, folder: str | Path, on_wire: Callable[[ProvedWire], None] | None = None, chip: str | None = None
) -> list[ProvedWire]:
    """Prove the C that `export_c` wrote to a folder equal to the plan of the model, wire by wire.

    Parameters
    ----------
    model
        The model, for target ``"integer"`` or ``"tables"``.
    folder
        Where its C is.
    on_wire
        Called with every wire that is proved.
    chip
        The chip that the C must have been exported for; by default the one that its manifest names. On a chip of 8 bits
        an ``int`` has 16 bits.

    Raises
    ------
    BddTorqueError
        If pycparser or bitwuzla are missing (``pip install "bddtorque[proof]"``), if the C is of another model or chip,
        or if it is not understood.
    """
    files = read_c_folder(model, folder, chip)
    if files.term is not None:
        raise BddTorqueError(f"prove_c proves whole models, and {folder} holds the term {files.term}: export the model")
    tree = parse_c(files.source, files.plain_source())
    if len(tree.ext) != files.declarations + len(TYPES) + len(FAST):
        raise BddTorqueError(
            f"{files.source}: a function must end where export_c ends it, found more definitions in one"
        )
    try:
        return _Equivalence(model, files, tree, on_wire).prove()
    except RecursionError:
        raise BddTorqueError(f"{files.source}: C that is nested so deeply is not understood") from None


class _Equivalence:
    def __init__(self, model: Model, files: CFolder, tree: Any, on_wire: Callable[[ProvedWire], None] | None) -> None:
        self.model, self.plan, self.interface = model, files.plan, files.interface
        self.function = files.exported.function
        self.on_wire = on_wire or (lambda wire: None)
        self.execution = CExecution(tree, 16 if files.chip.register < 16 else 32, self.interface.types)
        for k, block in enumerate(self.plan.blocks):
            self.execution.calls[f"block_{k}"] = self._table_call(k)
            if isinstance(block, ProductBlock) and not block.signed:
                self.execution.calls[f"partial_products_{k}"] = partial(self._partial_products_call, k, block)
        for name in ("signed32", "floor16", "floor32", "high16", "floor64"):
            if name in self.execution.functions:
                self.execution.calls[name] = self._rounding_call(name)
        self.whole: dict[int, tuple[CWord, Range]] = {}
        """By output: its word before it is clamped, and the range of that."""
        self.written: dict[int, CWord] = {}
        """By output that C clamps where it writes it: its word."""
        self.sums: list[Rounding] = []
        """Calls of helpers that round, since the last variable."""
        self.names: set[str] = set()
        """Wires and outputs that were written."""
        self.roundings = 0
        self.proved_helpers: set[tuple[int, int, int]] = set()
        """Helpers of partial products that were looked at: the table, and the pieces of both factors."""
        self.ranges = known_ranges(self.plan, model.tables, trust_products=False)
        self.words: dict[int, str] = {}
        """By wire: the term of its word, `WIDE` bits, once its C is proved."""
        self.splits = SplitSums()
        self.raw: dict[str, CWord] = {}
        """By input: the number that is given."""
        self.declarations: list[str] = []
        self.assumed: list[str] = []
        self.owed: list[tuple[str, Range]] = []
        """Needs of helpers that the variable declared next must meet: terms that must be within ranges."""
        self.found: list[ProvedWire] = []
        for name in ("product16", "scaled16"):
            if name in self.execution.functions:
                if not self._multiplies(name):
                    self._note(name, False)
                self.execution.calls[name] = partial(self._product16, name)

    def prove(self) -> list[ProvedWire]:
        """Return what was proved, in the order of the code."""
        interface, bits = self.interface, self.interface.bits
        arrays = []
        for array, names in interface.names.items():
            signed = not interface.type_of(array).startswith("u")
            for name in names:
                self.raw[name] = CWord(f"given_{len(self.raw)}", bits, signed)
                self.declarations.append(f"(declare-const {self.raw[name].term} (_ BitVec {bits}))")
            arrays.append([self.raw[name] for name in names])
        results: list[Any] = [None] * len(self.plan.outputs)
        self.execution.declared = self._declared
        self.execution.run(self.function, [*arrays, results])
        missing = [
            self._output(j) for j, word in enumerate(results) if word is None or j not in self.whole | self.written
        ]
        if missing:
            raise BddTorqueError(
                f"{self.function}: {', '.join(missing)} is not written, or not always, by an assignment of its own"
            )
        for j, (whole, ends) in self.whole.items():
            output = self.plan.outputs[j]
            meant = clamped(wide(whole), Range(output.low, output.high))
            self._check(self._output(j), f"(=> {within(wide(whole), ends)} (= {wide(results[j])} {meant}))")
        for j, word in self.written.items():
            if results[j] != word:
                self._note(self._output(j), False)  # it is changed after it was proved
        return self.found

    def _output(self, place: int) -> str:
        """Return what an output is called in C."""
        return f"{self.interface.result}[{place}]"

    def _declared(self, name: str, word: CWord) -> CWord:
        """Prove a variable of the function equal to its wire, and make it any word of that wire."""
        place = re.fullmatch(rf"w(\d+)|{self.interface.result}\[(\d+)\]", name)
        sums, self.sums = self.sums, []
        defined = [line for each in sums for line in each.definitions(each.inside.term)]
        half = re.fullmatch(r"[hl]w\d+_\d\d?", name)
        if (place or half) and name in self.names:
            raise BddTorqueError(f"{self.function}: {name} is written twice")
        self.names.add(name)
        if place is None:
            self.declarations += defined
            return self._half(name, word) if half else word
        if place[2] is not None:
            j = int(place[2])
            output = self.plan.outputs[j]
            whole = Range(output.constant, output.constant)
            reach = sum((self.ranges[wire] * factor for wire, factor in output.parts), start=whole)
            ends, owed = reach.rounded(output.shift), [*self.owed]
            if self._is_rounded(word, sums, output, ends, clamp=False):  # it may be clamped later
                symbol = f"whole_{j}"
                self.declarations.append(f"(declare-const {symbol} (_ BitVec {word.bits}))")
                self.whole[j] = (CWord(symbol, word.bits, word.signed), ends)
                return self.whole[j][0]
            self.owed[:] = owed
            self._note(name, self._is_rounded(word, sums, output, ends, clamp=True))
            self.declarations += defined
            self.written[j] = word
            return word
        k = int(place[1])
        if k >= len(self.plan.wires):
            raise BddTorqueError(
                f"{self.function}: {name} is not understood, the plan has {len(self.plan.wires)} wires"
            )
        wire = self.plan.wires[k]
        meant = "" if isinstance(wire, Product | Sum) else self._meaning(k)
        same = f"(= {wide(word)} {meant})"
        angle = isinstance(wire, AngleSum) or (isinstance(wire, Input) and wire.wraps)
        if angle and word.signed and self._holds(same, defined):
            angle = False  # it is the word itself, as where it is multiplied
        if angle:  # any number whose low bits are the angle
            bits = wire.bits  # type: ignore[union-attr]
            self._check(name, f"(= {low_bits(word.term, bits)} {low_bits(meant, bits)})", defined)
        elif isinstance(wire, Product | Sum):
            self._note(name, self._is_rounded(word, sums, wire, self.ranges[k], clamp=False))
        else:
            self._check(name, same, defined)
        self.declarations.append(f"(declare-const {name} (_ BitVec {word.bits}))")
        fresh = CWord(name, word.bits, word.signed)
        if angle:
            self.words[k] = f"((_ sign_extend {WIDE - bits}) {low_bits(name, bits)})"
        else:
            self.words[k] = wide(fresh)
            self.assumed.append(within(self.words[k], self.ranges[k]))
            if word.signed:
                self.splits.known[name] = Known(word.bits, self.ranges[k])
        return fresh

    def _half(self, name: str, word: CWord) -> CWord:
        """Keep a half of a word as a variable of its own."""
        self.declarations.append(f"(define-fun {name} () (_ BitVec {word.bits}) {word.term})")
        goal = self.splits.lemma(name, word)
        if goal and self._holds(goal):
            self.splits.accept(name)
        return replace(word, term=name)

    def _meaning(self, k: int) -> str:
        """Return the word of a wire as the plan defines it, of words that are proved already."""
        if k in self.words:
            return self.words[k]
        wire = self.plan.wires[k]
        match wire:
            case Input():
                raw = wide(self.raw[wire.name])
                if wire.wraps:
                    return f"((_ sign_extend {WIDE - wire.bits}) {low_bits(raw, wire.bits)})"
                return clamped(raw, wire.range(self.plan.blocks))
            case AngleSum():
                terms = [times(self._meaning(part), factor << shift) for part, factor, shift in wire.parts]
                return low_word(added([*terms, literal(wire.constant)]), wire.bits)
            case Lookup():
                return self._looked_up(wire.block, [self._meaning(each) for each in wire.wires])
            case Product():
                term = rounded(self._product(wire), wire.shift)
            case Sum():
                term = rounded(self._total(wire), wire.shift)
        # a word that the code does not keep: its range is known all the same
        self.assumed.append(within(term, self.ranges[k]))
        return term

    def _product(self, wire: Product) -> str:
        left, right = self._meaning(wire.left), self._meaning(wire.right)
        exact = f"(bvmul {left} {right})"
        block = self.plan.blocks[wire.block] if wire.block >= 0 else None
        if isinstance(block, SquareBlock):
            both = [f"(bvadd {left} {right})", f"(bvsub {left} {right})"]
            self.owed += [(each, word_range(block.bits)) for each in both]
            squares = [self._looked_up(wire.block, [each]) for each in both]
            return f"(bvsub {squares[0]} {squares[1]})"
        if isinstance(block, ProductBlock) and block.signed:
            looked_up = self._looked_up(wire.block, [left, right])
            self.assumed.append(f"(= {looked_up} {rounded(exact, block.shift)})")
        return exact

    def _total(self, wire: Sum | Output) -> str:
        terms = [times(self._meaning(part), factor) for part, factor in wire.parts]
        return added([*terms, literal(wire.constant)])

    def _is_rounded(
        self, word: CWord, sums: Sequence[Rounding], wire: Product | Sum | Output, ends: Range, clamp: bool
    ) -> bool:
        """Tell if the C of a rounded sum or product gives its word, whose range is known to be `ends`.

        Sums of products are multiplied out (`SplitSums.question`). For others, first, what is rounded in C has the low
        bits of the exact sum; then, for every number x in the place of this sum whose rounding is within `ends`, C
        rounds its low bits to the same word. Where that does not do, both at once.
        """
        exact = self._product(wire) if isinstance(wire, Product) else self._total(wire)
        half = literal(1 << wire.shift >> 1)
        defined = [line for each in sums for line in each.definitions(each.inside.term)]
        if not self._contracts_hold(defined):
            return False

        def meant(term: str) -> str:
            return clamped(term, Range(wire.low, wire.high)) if clamp else term

        if sums:
            split = self.splits.question(word, sums, added([exact, half]), wire.shift, ends, meant)
            if split is not None:
                return self._holds(*split)
            last = sums[-1]
            x = low_bits(f"(bvadd x {half})", last.inside.bits)
            known = within(rounded("x", wire.shift), ends)
            goal = f"(=> {known} (= {wide(word)} {meant(rounded('x', wire.shift))}))"
            low = f"(= {last.name} {low_bits(added([exact, half]), last.inside.bits)})"
            free = [f"(declare-const x (_ BitVec {WIDE}))", *last.definitions(x)]
            if self._holds(goal, [*defined[:-2], *free]) and self._holds(low, defined):
                return True
        known = within(rounded(exact, wire.shift), ends)
        same = f"(= {wide(word)} {meant(rounded(exact, wire.shift))})"
        return self._holds(f"(=> {known} {same})", defined)

    def _contracts_hold(self, defined: Sequence[str]) -> bool:
        """Tell if a variable meets the needs of helpers; then nothing is owed any more."""
        goals = [within(*each) for each in dict.fromkeys(self.owed) if not self.splits.fits(*each)]
        self.owed.clear()
        return not goals or self._holds(f"(and true {' '.join(goals)})", defined)

    def _rounding_call(self, name: str) -> Callable[[Sequence[CWord]], CWord]:
        kind = {"floor16": (16, True), "floor64": (64, False)}.get(name, (32, False))

        def call(arguments: Sequence[CWord]) -> CWord:
            given = CWord(f"rounded_{self.roundings}", *kind)
            self.roundings += 1
            body: CWord = self.execution.run(name, [given, *arguments[1:]])
            unit = arguments[1].value if len(arguments) > 1 else 1 << 16 if name == "high16" else 1
            call = Rounding(arguments[0].as_type(*kind), given.term, body, unit or 1)
            self.sums.append(call)
            if body.signed:
                self.splits.known[call.result] = Known(body.bits, word_range(body.bits))
            return CWord(call.result, body.bits, body.signed)

        return call

    def _multiplies(self, name: str) -> bool:
        """Tell if a helper gives the product of all words of 16 bits whose product it has room for."""
        left, right = CWord("left", 16, True), CWord("right", 16, True)
        body: CWord = self.execution.run(name, [left, right])
        exact = f"(bvmul {wide(left)} {wide(right)})"
        free = [f"(declare-const {each.term} (_ BitVec 16))" for each in (left, right)]
        same = f"(= {wide(body.as_type(body.bits, True))} {exact})"
        return self._holds(f"(=> {within(exact, word_range(body.bits))} {same})", free)

    def _product16(self, name: str, arguments: Sequence[CWord]) -> CWord:
        """Return a product of two words of 16 bits; that all of them are, is left to be shown."""
        left, right = (each.as_type(32, True) for each in arguments)
        found = CWord(f"(bvmul {left.term} {right.term})", 32, True)
        for each in (left, right, *([found] if name == "scaled16" else [])):
            self.owed.append((wide(each), word_range(16)))
        return found

    def _looked_up(self, block: int, indices: Sequence[str]) -> str:
        """Return the word of a table at some indices, each in the low bits of a term."""
        widths = self.plan.blocks[block].input_widths
        index = [low_bits(each, width) for each, width in zip(indices, widths, strict=True)]
        name, bits = f"table_{block}", sum(widths)
        declaration = f"(declare-fun {name} ((_ BitVec {bits})) (_ BitVec 32))"
        if declaration not in self.declarations:
            self.declarations.append(declaration)
        joined = index[0] if len(index) == 1 else f"(concat {' '.join(index)})"
        term = f"((_ sign_extend {WIDE - 32}) ({name} {joined}))"
        fact = within(term, self.model.tables[block].range)
        if fact not in self.assumed:
            self.assumed.append(fact)
        return term

    def _table_call(self, block: int) -> Callable[[Sequence[CWord]], CWord]:
        def call(arguments: Sequence[CWord]) -> CWord:
            # an index of fewer bits than 32 has no more than its parameter's, which are no fewer than the table's
            term = self._looked_up(block, [each.as_type(32, False).term for each in arguments])
            return CWord(low_bits(term, 32), 32, True)

        return call

    def _partial_products_call(self, k: int, block: ProductBlock, arguments: Sequence[CWord]) -> CWord:
        """Return a product by partial products, once the helper is proved for as many pieces."""
        left, right = arguments[::2]
        lefts, rights = (each.as_type(32, False) for each in arguments[1::2])
        terms = []
        for word, pieces in ((left, lefts), (right, rights)):
            if pieces.value is None or pieces.value * block.widths[0] > 64:
                raise BddTorqueError(
                    f"partial_products_{k}: how many pieces it takes must be a constant that 64 bits have"
                )
            most = 1 << (block.widths[0] * pieces.value)
            terms.append(wide(word.as_type(64, True)))
            self.owed.append((terms[-1], Range(1 - most, most - 1)))
        pair = k, lefts.value or 0, rights.value or 0
        if pair not in self.proved_helpers:
            self.proved_helpers.add(pair)
            if not self._adds_partial_products(*pair):
                self._note(f"partial_products_{k}", False)
        return CWord(low_bits(f"(bvmul {terms[0]} {terms[1]})", 64), 64, False)

    def _adds_partial_products(self, k: int, lefts: int, rights: int) -> bool:
        """Tell if a helper looks up every pair of pieces of two magnitudes, and adds these products up in their places.

        The products are any words of the table.
        """
        block, execution, name = self.plan.blocks[k], self.execution, f"block_{k}"
        width, looked_up = block.input_widths[0], execution.calls[name]
        products: list[tuple[CWord, list[str]]] = []

        def product(pieces: Sequence[CWord]) -> CWord:
            products.append((CWord(f"product_{len(products)}", 32, True), [wide(each) for each in pieces]))
            return products[-1][0]

        execution.calls[name] = product
        factors = [CWord(side, 64, True) for side in ("left", "right")]
        pieces = [constant(count, 32, False) for count in (lefts, rights)]
        body: CWord = execution.run(f"partial_products_{k}", [factors[0], pieces[0], factors[1], pieces[1]])
        execution.calls[name] = looked_up
        places = [(i * width, j * width) for i in range(lefts) for j in range(rights)]
        if len(products) != len(places):
            return False
        a, b = (f"(ite (bvslt {each.term} {literal(0)}) (bvneg {each.term}) {each.term})" for each in factors)
        free = [f"(declare-const {each.term} (_ BitVec {each.bits}))" for each, _ in products]
        free += [f"(declare-const {each.term} (_ BitVec 64))" for each in factors]
        goals, known, terms = [], [], [literal(0)]
        for (found, indices), shifts in zip(products, places, strict=True):
            for index, magnitude, shift in zip(indices, (a, b), shifts, strict=True):
                piece = f"(bvand (bvlshr {magnitude} {literal(shift)}) {literal((1 << width) - 1)})"
                goals.append(f"(= {index} {piece})")
            known.append(within(wide(found), Range(0, block.high)))
            terms.append(times(wide(found), 1 << sum(shifts)))
        total = added(terms)
        negative = "(xor " + " ".join(f"(bvslt {each.term} {literal(0)})" for each in factors) + ")"
        goals.append(f"(= {wide(body)} (ite {negative} (bvneg {total}) {total}))")
        return self._holds(f"(=> (and true {' '.join(known)}) (and {' '.join(goals)}))", free)

    def _check(self, name: str, goal: str, defined: Sequence[str] = ()) -> None:
        self._note(name, self._contracts_hold(defined) and self._holds(goal, defined))

    def _note(self, name: str, proved: bool) -> None:
        self.found.append(ProvedWire(name, proved))
        self.on_wire(self.found[-1])

    def _holds(self, goal: str, free: Sequence[str] = ()) -> bool:
        """Tell if a condition holds whatever the words are; `free` declares more of them."""
        names = {*re.findall(r"w\d+", " ".join([goal, *free]))}
        near = [fact for fact in self.assumed if {*re.findall(r"w\d+", fact)} <= names]  # on the variables in there
        return holds(goal, [*self.declarations, *free], near)
