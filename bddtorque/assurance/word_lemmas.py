"""The lemmas of a plan in words, one or more per wire.

Of wire k, `a{k}` is the word and `t{k}` the real number that it stands for, in units of the word. Of a table that gives
the sine or cosine of an angle, `u{k}` is this sine or cosine, and t{k} = u{k}/lsb. A wire without error has only
`a{k}`.

    product   a = floor(l·r/2^s + 1/2)                 t = t_l·t_r/2^s
    sum       a = floor((Σ f_i·a_i + c)/2^s + 1/2)     t = Σ ρ_i·t_i + γ + d, factors ρ_i as before their rounding

A plan multiplies (x + p)·(y + q) out; its range is that of the product, which Gappa is told as another way to write t.

Premises: the ranges of inputs and of table entries, the largest distance of an entry of each table from its exact
value, that c² + s² = 1 for the cosine and the sine of one angle, and how large the terms d that are left out can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from bddtorque.assurance.identities import angle_of, circle, factors_of, grouped, remainder, turn_lemma
from bddtorque.assurance.lemmas import Ends, Hint, Lemma, Prover, around, number, total
from bddtorque.plan.blocks import RealBlock
from bddtorque.plan.bound import Angle, BlockFacts
from bddtorque.plan.plan import CentredProduct, Plan
from bddtorque.plan.wires import AngleSum, Input, Lookup, Output, Product, Sum

HALF = "1b-1"
MAX_PARTS = 6
"""Summands of one lemma."""


@dataclass(frozen=True)
class _Turned:
    """A summand with a sine or cosine: which look-up, the other factor if it is a product, and the shift."""

    lookup: int
    other: int | None = None
    shift: int = 0


_Pair = tuple[dict[int, _Turned], dict[int, _Turned]]
"""Summands that the cosine of an angle turns, and those that its sine turns."""


@dataclass(frozen=True)
class _Form:
    """A sum before it is rounded: factors and constant, as they are and as they are meant; and what is left out.

    `centred` are products that were multiplied out.
    """

    factors: dict[int, Fraction]
    meant: dict[int, Fraction]
    constant: Fraction = Fraction(0)
    meant_constant: Fraction = Fraction(0)
    dropped: Sequence[str] = ()
    centred: Sequence[CentredProduct] = ()

    @property
    def is_exact(self) -> bool:
        return self.factors == self.meant and self.constant == self.meant_constant and not self.dropped


@dataclass
class WordLemmas:
    """Writes the lemmas of a plan and has them proved, wire by wire."""

    plan: Plan
    facts: Sequence[BlockFacts]
    prover: Prover
    exact_wires: set[int] = field(default_factory=set)
    units: dict[int, tuple[str, Fraction, Angle, int]] = field(default_factory=dict)
    """Of look-ups of a sine or cosine: u, 1/lsb, the angle, and the quarter turns more of which it is the cosine."""
    turned: dict[int, list[_Turned]] = field(default_factory=dict)
    """Of products: each way to read them as a sine or cosine times something that has an error."""

    groups: int = 0
    """Count of the groups of summands that have a name."""

    def prove(self) -> list[Ends]:
        """Return what every output word can be off, in units, clamping aside."""
        read = {
            i for each in (*self.plan.wires, *self.plan.outputs) if not isinstance(each, Lookup) for i in each.sources
        }
        for k, wire in enumerate(self.plan.wires):  # also those whose factors were rounded to 0
            match wire:
                case Input():
                    self._state_word(k, wire.name)
                case AngleSum() if k in read:
                    self._state_word(k, f"angles of {wire.name}, whose sum wraps")
                case Lookup():
                    self._state_table(k, wire)
                case Product():
                    self._product(k, wire)
                case Sum():
                    self._sum(k, f"{k}", wire, wire.name)
                case AngleSum():
                    pass
        found = []
        for j, output in enumerate(self.plan.outputs):
            self._sum(-1 - j, f"out{j + 1}", output, f"output {output.name}")
            found.append(self.prover.known.get(self.error(-1 - j), around(0)))
        return found

    def angles(self) -> dict[str, tuple[str, str]]:
        """Return, of each u{k}, its function, such as ``"cos"`` or ``"- sin"``, and a name for its angle."""
        names: dict[Angle, str] = {}
        return {
            unit: (("cos", "- sin", "- cos", "sin")[quarters], names.setdefault(angle, f"phi{len(names) + 1}"))
            for unit, _, angle, quarters in self.units.values()
        }

    def output_errors(self) -> list[str | None]:
        """Return the expressions of the errors of all outputs; None of one that has none."""
        places = (-1 - j for j in range(len(self.plan.outputs)))
        return [None if k in self.exact_wires else self.error(k) for k in places]

    def word(self, k: int) -> str:
        """Return the name of a word."""
        return f"a{k}" if k >= 0 else f"aout{-k}"

    def ideal(self, k: int) -> str:
        """Return the expression of what a word stands for."""
        if k in self.units:
            name, scale, *_ = self.units[k]
            return f"({name} * {number(scale)})"
        return self.word(k) if k in self.exact_wires else f"t{self.word(k)[1:]}"

    def error(self, k: int) -> str:
        """Return the expression of the error of a word."""
        return f"({self.word(k)} - {self.ideal(k)})"

    def _known(self, k: int) -> tuple[str, ...]:
        """Return the facts about a wire."""
        if k in self.exact_wires:
            return (self.word(k),)
        return (self.word(k), self.units[k][0] if k in self.units else self.ideal(k), self.error(k))

    def _state_word(self, k: int, name: str) -> None:
        self.exact_wires.add(k)
        words = self.plan.range_of(k)
        self.prover.state(self.word(k), Ends(Fraction(words.low), Fraction(words.high)), f"input {name}")

    def _state_table(self, k: int, wire: Lookup) -> None:
        block, fact, prover = self.plan.blocks[wire.block], self.facts[wire.block], self.prover
        prover.state(self.word(k), Ends(Fraction(fact.low), Fraction(fact.high)), f"entries of table {wire.block}")
        lsb = block.lsb if isinstance(block, RealBlock) else Fraction(1)
        if not fact.error:
            self.exact_wires.add(k)
            return
        angle = angle_of(self.plan, wire)
        if angle is not None:
            self.units[k] = (f"u{k}", 1 / lsb, *angle)
            prover.state(f"u{k}", around(1), f"a sine or cosine, {wire.name}")
        prover.state(self.error(k), around(Fraction(fact.error) / lsb), f"entries of table {wire.block}, exact values")
        if angle is None:
            hint = Hint(self.ideal(k), f"{self.word(k)} - {self.error(k)}")
            self.prover.prove(
                Lemma(f"table_{k}", wire.name, (self.word(k), self.error(k)), (self.ideal(k),), (), (hint,))
            )

    def _product(self, k: int, wire: Product) -> None:
        left, right = wire.left, wire.right
        step = number(Fraction(1, 1 << wire.shift))
        exact = f"({self.word(left)} * {self.word(right)} * {step})"
        half = [HALF] if wire.shift else []
        inside = total([exact, *half])
        definitions = [(self.word(k), f"floor({inside})" if wire.shift else exact)]
        premises = (*self._known(left), *self._known(right))
        if {left, right} <= self.exact_wires and not wire.shift:
            self.exact_wires.add(k)
            self.prover.prove(Lemma(f"product_{k}", wire.name, premises, (self.word(k),), tuple(definitions)))
            return
        definitions.append((self.ideal(k), self._ideal_product(k)))
        goals, hints = [self.word(k), self.ideal(k), self.error(k)], []
        for lookup, other in dict.fromkeys([(right, left), (left, right)]):
            if lookup not in self.units:
                continue
            way = _Turned(lookup, other, wire.shift)
            self.turned.setdefault(k, []).append(way)
            if other not in self.exact_wires:
                goals.append(self._rest(k, way))
                apart = f"{self.error(lookup)} * {self.word(other)} * {step}"
                hints.append(Hint(self._rest(k, way), f"({self.word(k)} - {inside}) + {total([apart, *half])}"))
        both = [
            f"{self.error(left)} * {self.word(right)} * {step}",
            f"{self.ideal(left)} * {self.error(right)} * {step}",
        ]
        hints.append(Hint(f"{inside} - {self.ideal(k)}", total([*both, *half])))
        self.prover.prove(Lemma(f"product_{k}", wire.name, premises, tuple(goals), tuple(definitions), tuple(hints)))

    def _rest(self, k: int, way: _Turned) -> str:
        """Return the error of a product without that of its other factor, which the sine or cosine turns."""
        assert way.other is not None
        step = number(Fraction(1, 1 << way.shift))
        return f"({self.error(k)} - {self.ideal(way.lookup)} * {self.error(way.other)} * {step})"

    def _sum(self, k: int, name: str, wire: Sum | Output, about: str) -> None:
        step = Fraction(1, 1 << wire.shift)
        factors = _joined((part, factor * step) for part, factor in wire.parts)
        exact = self.plan.exact.get(k)
        constant = exact.constant if exact else wire.constant * step
        centred = exact.centred if exact else ()
        form = _Form(factors, self._meant(k, wire), wire.constant * step, constant, self._dropped(k, name), centred)
        while len(form.meant) > MAX_PARTS:  # Gappa takes much longer for long sums
            form = self._shorter(form, name, about)
        self._linear(k, name, about, form, rounded=bool(wire.shift))

    def _shorter(self, form: _Form, name: str, about: str) -> _Form:
        """Return a form whose summands are groups of those given: turned ones by their angle, the others in turn.

        What a product was multiplied out to stays together.
        """
        groups = [[*cosine, *sine] for cosine, sine in self._pairs(form.meant, errors=False)]
        paired = {i for group in groups for i in group}
        others = [i for i in form.meant if i not in paired]
        groups += grouped(self.plan, others, form.centred, MAX_PARTS)
        joined = []
        for group in groups:
            self.groups += 1
            place = len(self.plan.wires) + self.groups
            factors, meant = ({i: side[i] for i in group if i in side} for side in (form.factors, form.meant))
            part = _Form(factors, meant, centred=[each for each in form.centred if each.wire in group])
            self._linear(place, f"{name}_{self.groups}", f"part of {about}", part, rounded=False)
            joined.append((place, Fraction(1)))
        return replace(form, factors=dict(joined), meant=dict(joined), centred=())

    def _linear(self, k: int, name: str, about: str, form: _Form, rounded: bool) -> None:
        """Prove range and error of a sum, which is `k` from now on."""
        factors, meant, dropped = form.factors, form.meant, form.dropped
        half = [HALF] if rounded else []
        terms = [f"{number(f)} * {self.word(i)}" for i, f in factors.items()]
        words = total([*terms, number(form.constant), *half])
        definitions = [(self.word(k), f"floor({words})" if rounded else words)]
        known = {fact for i in {*factors, *meant} for fact in self._known(i)}
        is_exact = {*factors, *meant} <= self.exact_wires and not rounded and form.is_exact
        if is_exact:
            self.exact_wires.add(k)
        hints = []
        for facts, made, hint in self._range_hints(k, name, form):
            known |= facts
            definitions[:0] = [each for each in made if each not in definitions]
            hints.append(hint)
        if is_exact:
            lemma = Lemma(f"sum_{name}", about, tuple(sorted(known)), (self.word(k),), tuple(definitions), tuple(hints))
            self.prover.prove(lemma)
            return
        ideals = [f"{number(f)} * {self.ideal(i)}" for i, f in meant.items()]
        known |= {*dropped}
        definitions.append((self.ideal(k), total([*ideals, number(form.meant_constant), *dropped])))
        # what rounded factors make of the ideal words, the same for every way to read the sum
        off = [
            f"({number(factors.get(i, Fraction(0)))} - {number(f)}) * {self.ideal(i)}"
            for i, f in meant.items()
            if factors.get(i, Fraction(0)) != f
        ]
        if form.constant != form.meant_constant:
            off.append(f"({number(form.constant)} - {number(form.meant_constant)})")
        off += [*(f"(0 - {each})" for each in dropped), *half]
        plain = [f"{number(f)} * {self.error(i)}" for i, f in factors.items() if i not in self.exact_wires]
        hints.insert(0, Hint(f"{words} - {self.ideal(k)}", total([*plain, *off])))
        for facts, hint in self._turned_errors(k, name, words, factors, off):
            known |= facts
            hints.append(hint)
        hints.append(Hint(self.word(k), f"{self.ideal(k)} + {self.error(k)}"))
        goals = (self.word(k), self.ideal(k), self.error(k))
        self.prover.prove(Lemma(f"sum_{name}", about, tuple(sorted(known)), goals, tuple(definitions), tuple(hints)))

    def _meant(self, k: int, wire: Sum | Output) -> dict[int, Fraction]:
        """Return the factors of a sum before they were rounded; summands that were added later are exact."""
        exact = self.plan.exact.get(k)
        noted = exact.parts if exact else ()
        later = [(i, Fraction(f, 1 << wire.shift)) for i, f in wire.parts if i not in dict(noted)]
        return _joined([*noted, *later])

    def _dropped(self, k: int, name: str) -> list[str]:
        """Return the terms that a sum leaves out."""
        exact = self.plan.exact.get(k)
        if exact is None or not exact.dropped:
            return []
        most = sum(abs(factor) * size for factor, size in exact.dropped)
        self.prover.state(f"d{name}", around(most), "terms left out")
        return [f"d{name}"]

    def _pairs(self, parts: dict[int, Fraction], errors: bool) -> Iterator[_Pair]:
        """Yield the summands that one cosine and one sine of an angle turn, those of the cosine first.

        No summand is in two pairs. With `errors`, only those whose other factor has one.
        """
        ways: dict[Angle, dict[bool, dict[int, _Turned]]] = {}
        taken: set[int] = set()
        for i in parts:
            for way in [_Turned(i)] if i in self.units else self.turned.get(i, ()):
                _, _, angle, quarters = self.units[way.lookup]
                if not errors or (way.other is not None and way.other not in self.exact_wires):
                    ways.setdefault(angle, {False: {}, True: {}})[quarters % 2 == 1][i] = way
        for both in ways.values():
            # one look-up of the cosine and one of the sine: those that most summands have
            chosen = []
            for side in both.values():
                lookups = [way.lookup for way in side.values()]
                most = max(dict.fromkeys(lookups), key=lookups.count, default=-1)
                chosen.append({i: way for i, way in side.items() if way.lookup == most and i not in taken})
            by_cosine, by_sine = chosen
            by_sine = {i: way for i, way in by_sine.items() if i not in by_cosine}
            if by_cosine and by_sine:
                taken |= {*by_cosine, *by_sine}
                yield by_cosine, by_sine

    def _turn(self, label: str, pair: _Pair, parts: dict[int, Fraction], errors: bool) -> tuple[str, str]:
        """Prove what a pair of turned summands is at most; return the fact and the expression of their sum."""
        units, sides, facts = [], [], set()
        for side in pair:
            name, scale, *_ = self.units[next(iter(side.values())).lookup]
            terms = []
            for i, way in side.items():
                terms.append(number(parts[i] * scale / (1 << way.shift)))
                if way.other is not None:
                    inner = self.error(way.other) if errors else self.ideal(way.other)
                    facts |= {self.units[way.other][0] if way.other in self.units and not errors else inner}
                    terms[-1] += f" * {inner}"
            units.append(name)
            sides.append(total(terms))
        self.prover.state(circle(units[0], units[1]), Ends(Fraction(1), Fraction(1)), "cosine and sine of one angle")
        lemma, turned = turn_lemma(label, units, sides, sorted(facts))
        self.prover.prove(lemma)
        return f"|{turned}|", turned

    def _turned_errors(
        self, k: int, name: str, words: str, factors: dict[int, Fraction], off: list[str]
    ) -> Iterator[tuple[set[str], Hint]]:
        """Yield the error of a sum with its turned parts joined by Cauchy and Schwarz, and the facts that it takes."""
        joined: list[str] = []
        facts: set[str] = set()
        rests: dict[int, str] = {}
        for n, pair in enumerate(self._pairs(factors, errors=True)):
            fact, turned = self._turn(f"turned_error_{name}_{n}", pair, factors, errors=True)
            facts.add(fact)
            joined.append(turned)
            rests |= {i: self._rest(i, way) for side in pair for i, way in side.items()}
        if rests:
            terms = [
                f"{number(f)} * {rests.get(i) or self.error(i)}"
                for i, f in factors.items()
                if i not in self.exact_wires
            ]
            yield facts | {*rests.values()}, Hint(f"{words} - {self.ideal(k)}", total([*joined, *terms, *off]))

    def _range_hints(self, k: int, name: str, form: _Form) -> Iterator[tuple[set[str], list[tuple[str, str]], Hint]]:
        """Yield other ways to write what a sum stands for, with the facts and definitions that they take.

        Turned parts are joined by Cauchy and Schwarz, and products are as they were before they were multiplied out.
        """
        joined: list[str] = []
        facts: set[str] = set()
        ways: dict[int, _Turned] = {}
        for n, pair in enumerate(self._pairs(form.meant, errors=False)):
            fact, turned = self._turn(f"turned_range_{name}_{n}", pair, form.meant, errors=False)
            facts.add(fact)
            joined.append(turned)
            ways |= {**pair[0], **pair[1]}
        parts = {i: f for i, f in form.meant.items() if i not in ways}
        centred = tuple(each for each in form.centred if each.wire in parts)
        for products in dict.fromkeys([(), centred]):
            if not ways and not products:  # as it is defined
                continue
            rest, constant = remainder(self.plan, parts, form.meant_constant, products)
            terms = [*joined, *(f"{number(f)} * {self.ideal(i)}" for i, f in rest.items())]
            for each in products:
                left, right, _ = factors_of(self.plan, each)
                facts |= {*self._known(left), *self._known(right)}
                p, q = (f"({self.ideal(i)} + {number(c)})" for i, c in zip((left, right), each.centres, strict=True))
                terms.append(f"{number(each.factor)} * ({p} * {q})")
            multiplied = [i for i, way in ways.items() if way.other is not None] + [each.wire for each in products]
            made = [(self.ideal(i), self._ideal_product(i)) for i in dict.fromkeys(multiplied)]
            yield facts, made, Hint(self.ideal(k), total([*terms, number(constant), *form.dropped]))

    def _ideal_product(self, k: int) -> str:
        wire = self.plan.wires[k]
        assert isinstance(wire, Product)
        return f"({self.ideal(wire.left)} * {self.ideal(wire.right)} * {number(Fraction(1, 1 << wire.shift))})"


def _joined(parts: Iterable[tuple[int, Fraction]]) -> dict[int, Fraction]:
    """Return the factor of every wire in a sum."""
    factors: dict[int, Fraction] = {}
    for wire, factor in parts:
        factors[wire] = factors.get(wire, Fraction(0)) + factor
    return factors
