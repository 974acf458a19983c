"""The lemmas of a plan in floats, one or more per wire.

Of wire k, `f{k}` is the float and `t{k}` the real number that it stands for: constants as they were parsed, sines
exact, nothing rounded. A word has only `f{k}`.

    product   f = rnd(l·r)            sum   f = rnd(l ± r)            fused   f = rnd(±l·r ± a)

Premises: the ranges of inputs and of the words of friction, the largest distance of a float from its sine over all
words, that of the words of friction from their exact values, and that c² + s² = 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from bddtorque.assurance.identities import circle, turn_lemma
from bddtorque.assurance.lemmas import Ends, Hint, Lemma, Prover, around, number
from bddtorque.plan.blocks import RealBlock
from bddtorque.plan.bound import BlockFacts
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Add, AngleSum, Constant, Fused, Input, Lookup, Multiply, Number, Output, Sine
from bddtorque.words.float_sine import compared_words, sine_error
from bddtorque.words.integer_range import Range, word_range

FORMATS = {"single": "ieee_32", "double": "ieee_64"}
"""Gappa's names of the precisions."""


def compared_sines(plan: Plan) -> list[int]:
    """Return how many floats of each table of sines are compared with their sines; 0: its polynomial is bounded."""
    sines = [wire for wire in (plan.wires[k] for k in plan.read) if isinstance(wire, Sine)]
    tables = dict.fromkeys((plan.bits_of(wire.word), wire.rest, wire.cosine) for wire in sines)
    return [compared_words(bits, rest, plan.floats) for bits, rest, _ in tables]


@dataclass(frozen=True)
class _Summand:
    """±left·right, rounded where it is a wire of its own, or ±a wire."""

    sign: int
    factors: tuple[int, int] | None
    wire: int | None


@dataclass
class FloatLemmas:
    """Writes the lemmas of a plan and has them proved, wire by wire."""

    plan: Plan
    facts: Sequence[BlockFacts]
    prover: Prover
    exact: set[int] = field(default_factory=set)
    same: dict[int, int] = field(default_factory=dict)
    """Of a word as a float: the word."""

    def prove(self) -> list[Ends]:
        """Return what every output word can be off, in units, clamping aside."""
        constants = [k for k in self.plan.read if isinstance(self.plan.wires[k], Constant)]
        self._constants(constants)
        for k in self.plan.read:
            wire = self.plan.wires[k]
            match wire:
                case Input():
                    self._state_word(k, wire.words, f"input {wire.name}")
                case Lookup():
                    self._state_law(k, wire)
                case Number():
                    self.same[k] = wire.word
                    word = self.plan.wires[wire.word]
                    if isinstance(word, AngleSum):
                        self._state_word(
                            wire.word, word_range(word.bits), f"input angles of {word.name}, whose sum wraps"
                        )
                    if wire.word in self.exact:
                        self.exact.add(k)
                case Sine():
                    self._state_sine(k, wire)
                case Multiply():
                    self._multiply(k, wire)
                case Add():
                    left, right = _Summand(1, None, wire.left), _Summand(wire.sign, None, wire.right)
                    self._sum(k, left, right)
                case Fused():
                    product = _Summand(wire.product_sign, (wire.left, wire.right), None)
                    self._sum(k, product, _Summand(wire.addend_sign, None, wire.addend))
                case Constant() | AngleSum():
                    pass
        return [self._output(j, output) for j, output in enumerate(self.plan.outputs, 1)]

    def angles(self) -> dict[str, tuple[str, str]]:
        """Return, of each t{k} that is one, whether it is ``"sin"`` or ``"cos"`` and a name for its angle."""
        names: dict[tuple[int, Fraction], str] = {}
        return {
            f"t{k}": ("cos" if wire.cosine else "sin", names.setdefault((wire.word, wire.rest), f"phi{len(names) + 1}"))
            for k in self.plan.read
            if isinstance(wire := self.plan.wires[k], Sine)
        }

    def output_errors(self) -> list[str | None]:
        """Return the expressions of the errors of all outputs."""
        return [self._output_error(j, output) for j, output in enumerate(self.plan.outputs, 1)]

    def held(self, k: int) -> str:
        """Return the name of the float of a wire."""
        return f"f{self.same.get(k, k)}"

    def ideal(self, k: int) -> str:
        """Return the name of what a wire stands for."""
        return self.held(k) if k in self.exact else f"t{self.same.get(k, k)}"

    def error(self, k: int) -> str:
        """Return the expression of the error of a wire."""
        return f"({self.held(k)} - {self.ideal(k)})"

    def _known(self, *wires: int) -> tuple[str, ...]:
        """Return the facts about wires."""
        facts: dict[str, None] = {}
        for k in wires:
            facts |= dict.fromkeys([self.ideal(k)] if k in self.exact else [self.ideal(k), self.error(k)])
        return tuple(facts)

    def _constants(self, wires: Sequence[int]) -> None:
        """Prove how far all constants are from their floats.

        Gappa takes two names of one number for the same, and answers under one of them: equal floats of different
        constants stand in different lemmas.
        """
        groups: list[dict[int, Fraction]] = []
        for k in wires:
            value = Fraction(self.plan.floats.nearest(self._constant(k)))
            group = next((each for each in groups if value not in each.values()), None)
            if group is None:
                groups.append(group := {})
            group[k] = value
        for place, group in enumerate(groups):
            definitions, goals = [], []
            for k, value in group.items():
                definitions.append((f"f{k}", number(value)))
                if value == self._constant(k):
                    self.exact.add(k)
                    goals.append(f"f{k}")
                else:
                    definitions.append((f"t{k}", number(self._constant(k))))
                    goals += [f"t{k}", self.error(k)]
            name = f"constants_{place}" if place else "constants"
            self.prover.prove(Lemma(name, "as parsed, and as floats", (), tuple(goals), tuple(definitions)))

    def _constant(self, k: int) -> Fraction:
        wire = self.plan.wires[k]
        assert isinstance(wire, Constant)
        return wire.value

    def _state_word(self, k: int, words: Range, reason: str) -> None:
        self.exact.add(k)
        self.prover.state(f"f{k}", Ends(Fraction(words.low), Fraction(words.high)), reason)

    def _state_law(self, k: int, wire: Lookup) -> None:
        block, fact = self.plan.blocks[wire.block], self.facts[wire.block]
        lsb = block.lsb if isinstance(block, RealBlock) else Fraction(1)
        ends = Ends(Fraction(fact.low), Fraction(fact.high))
        self.prover.state(f"f{k}", ends, f"entries of table {wire.block}")
        error = Fraction(fact.error) / lsb
        self.prover.state(self.error(k), around(error), f"entries of table {wire.block}, exact values")
        hint = Hint(f"t{k}", f"f{k} - {self.error(k)}")
        self.prover.prove(Lemma(f"table_{k}", wire.name, (f"f{k}", self.error(k)), (f"t{k}",), (), (hint,)))

    def _state_sine(self, k: int, wire: Sine) -> None:
        bits, name = self.plan.bits_of(wire.word), "cosine" if wire.cosine else "sine"
        error = sine_error(bits, wire.rest, wire.cosine, self.plan.floats)
        self.prover.state(f"t{k}", around(1), f"a {name}")
        self.prover.state(self.error(k), around(Fraction(error)), f"floats of the {name} of all words, exact values")

    def _multiply(self, k: int, wire: Multiply) -> None:
        exact, meant = (f"{of(wire.left)} * {of(wire.right)}" for of in (self.held, self.ideal))
        self._rounded(k, exact, meant, self._known(wire.left, wire.right), [self._crossed(wire.left, wire.right)])

    def _crossed(self, left: int, right: int) -> str:
        """Return the error of an exact product."""
        terms = []
        if left not in self.exact:
            terms.append(f"{self.error(left)} * {self.held(right)}")
        if right not in self.exact:
            terms.append(f"{self.ideal(left)} * {self.error(right)}")
        return " + ".join(terms) or "0"

    def _rounded(
        self, k: int, exact: str, meant: str, premises: tuple[str, ...], errors: Sequence[str],
        hints: tuple[Hint, ...] = (), definitions: tuple[tuple[str, str], ...] = (),
    ) -> None:  # fmt: skip
        """Prove range and error of a wire: the float nearest to `exact`, which stands for `meant`."""
        held, ideal = f"f{k}", f"t{k}"
        hints = (*(Hint(f"({exact}) - {ideal}", each) for each in errors), *hints)
        hints = (*hints, Hint(exact, f"{ideal} + (({exact}) - {ideal})"))
        definitions = (*definitions, (held, f"rnd({exact})"), (ideal, meant))
        about = f"{type(self.plan.wires[k]).__name__.lower()}"
        self.prover.prove(Lemma(f"wire_{k}", about, premises, (ideal, self.error(k)), definitions, hints))

    def _sum(self, k: int, left: _Summand, right: _Summand) -> None:
        both = (left, right)
        exact = " + ".join(self._term(each, self.held) for each in both)
        meant = " + ".join(self._term(each, self.ideal) for each in both)
        wires = [i for each in both for i in (each.factors or (each.wire,)) if i is not None]
        premises = dict.fromkeys(self._known(*wires))
        plain = " + ".join(self._error_of(each) for each in both)
        errors, hints = [plain], []
        definitions: dict[str, str] = {}
        for n, (first, second) in enumerate(self._turns(left, right)):
            facts, made, error, ideal = self._turn(f"{k}_{n}", both, (first, second))
            premises |= dict.fromkeys(facts)
            definitions |= made
            errors.append(error)
            hints.append(Hint(f"t{k}", ideal))
        self._rounded(k, exact, meant, tuple(premises), errors, tuple(hints), tuple(definitions.items()))

    def _term(self, summand: _Summand, of: object) -> str:
        assert callable(of)
        product = " * ".join(of(i) for i in summand.factors or (summand.wire,))
        return product if summand.sign > 0 else f"(0 - {product})"

    def _error_of(self, summand: _Summand) -> str:
        """Return the error of a summand that was not rounded."""
        error = self._crossed(*summand.factors) if summand.factors else self._own_error(summand.wire)
        return f"({error})" if summand.sign > 0 else f"(0 - ({error}))"

    def _own_error(self, wire: int | None) -> str:
        assert wire is not None
        return "0" if wire in self.exact else self.error(wire)

    def _factors(self, summand: _Summand) -> tuple[int, int] | None:
        """Return the factors of a summand that is a product, also one that was rounded."""
        if summand.factors:
            return summand.factors
        assert summand.wire is not None
        wire = self.plan.wires[summand.wire]
        return (wire.left, wire.right) if isinstance(wire, Multiply) else None

    def _turns(self, left: _Summand, right: _Summand) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """Yield (sine or cosine, other factor) of both summands, each way to read them as a turn by one angle."""
        both = [self._factors(left), self._factors(right)]
        if both[0] is None or both[1] is None:
            return
        for first in dict.fromkeys([both[0], both[0][::-1]]):
            for second in dict.fromkeys([both[1], both[1][::-1]]):
                one, other = self.plan.wires[first[0]], self.plan.wires[second[0]]
                if not isinstance(one, Sine) or not isinstance(other, Sine) or one.cosine == other.cosine:
                    continue
                if (one.word, one.rest) == (other.word, other.rest):
                    yield first, second

    def _turn(
        self, name: str, summands: tuple[_Summand, _Summand], ways: tuple[tuple[int, int], tuple[int, int]]
    ) -> tuple[list[str], dict[str, str], str, str]:
        """Prove what a turned pair is at most; return facts and definitions, the error and the ideal in terms of it."""
        units = [self.ideal(unit) for unit, _ in ways]
        self.prover.state(circle(units[0], units[1]), Ends(Fraction(1), Fraction(1)), "cosine and sine of one angle")
        signs = ["" if each.sign > 0 else "0 - " for each in summands]
        others = [f"({sign}{self.ideal(other)})" for sign, (_, other) in zip(signs, ways, strict=True)]
        lemma, ideal = turn_lemma(f"turned_range_{name}", units, others, self._known(ways[0][1], ways[1][1]))
        self.prover.prove(lemma)
        errors = [f"({sign}{self._own_error(other)})" for sign, (_, other) in zip(signs, ways, strict=True)]
        lemma, turned = turn_lemma(f"turned_error_{name}", units, errors, self._known(ways[0][1], ways[1][1]))
        self.prover.prove(lemma)
        facts, rests, made = [f"|{ideal}|", f"|{turned}|"], [], {}
        for summand, (unit, other) in zip(summands, ways, strict=True):
            rest = f"{self.error(unit)} * {self.held(other)}"
            facts += self._known(unit, other)
            if summand.wire is not None:  # a product that was rounded
                wire = self.plan.wires[summand.wire]
                assert isinstance(wire, Multiply)
                product = f"{self.held(wire.left)} * {self.held(wire.right)}"
                made[self.held(summand.wire)] = f"rnd({product})"
                made[self.ideal(summand.wire)] = f"{self.ideal(wire.left)} * {self.ideal(wire.right)}"
                rest = f"({self.held(summand.wire)} - {product}) + {rest}"
            rests.append(f"({rest})" if summand.sign > 0 else f"(0 - ({rest}))")
        return facts, made, " + ".join([turned, *rests]), ideal

    def _output(self, place: int, output: Output) -> Ends:
        wire, word, error = output.wire, f"aout{place}", self._output_error(place, output)
        hint = Hint(error, f"({word} - {self.held(wire)}) + {self.error(wire)}")
        definitions = ((word, f"half_even({self.held(wire)})"),)
        about = f"output {output.name}"
        self.prover.prove(Lemma(f"output_{place}", about, self._known(wire), (error,), definitions, (hint,)))
        return self.prover.known[error]

    def _output_error(self, place: int, output: Output) -> str:
        return f"(aout{place} - {self.ideal(output.wire)})"
