"""The parts of a plan say what their fields are once, by type; reading, writing and renumbering follow from that.

A part is a frozen dataclass. The type of a field says what may stand in it: `Word` is the place of an earlier wire that
carries a word, ``tuple[tuple[Word, Factor], ...]`` a list of pairs, ``Literal`` one of some words. A rule that more
than one field takes part in is a `check` of the class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeVar, get_args, get_origin, get_type_hints

from bddtorque.base.errors import BddTorqueError, not_among
from bddtorque.base.plain import choice, describe, fraction, listed, of_type, plain_of, real, table, whole

MAX_BITS = 62
"""Bits of a product or a sum, with room for rounding."""
MAX_INPUT_BITS = 26
"""Bits of the index of a table."""


class Earlier(NamedTuple):
    """Parts that a part that is read can refer to."""

    wires: Sequence[PlanPart] = ()
    blocks: Sequence[PlanPart] = ()


@dataclass(frozen=True)
class Rule:
    """Rule of a field: it takes anything that `reader` takes, a function of the value and its place in messages."""

    reader: Callable[[object, str], Any] | None = None

    def read(self, plain: object, where: str, earlier: Earlier) -> Any:
        """Return a value from plain data, or refuse it."""
        assert self.reader is not None
        return self.reader(plain, where)

    def places(self, value: Any) -> Iterator[int]:
        """Give the wires that a value refers to."""
        return iter(())

    def moved(self, value: Any, places: Mapping[int, int]) -> Any:
        """Return a value with its wires at other places."""
        return value


class Whole(Rule):
    """An integer within limits, both included."""

    def __init__(self, low: int, high: int) -> None:
        super().__init__(lambda plain, where: whole(plain, low, high, where))


@dataclass(frozen=True)
class WireReference(Rule):
    """The place of an earlier wire, and what it must carry."""

    carries: Literal["word", "float", "either"] = "word"
    exact: bool = False  # whether it must be a word without error: an input, or a sum of angles

    def read(self, plain: object, where: str, earlier: Earlier) -> int:
        """Return the place of a wire that carries what is read here."""
        place = whole(plain, 0, len(earlier.wires) - 1, where)
        wire = earlier.wires[place]
        carried = "word" if wire.in_words else "float"
        if self.carries not in (carried, "either"):
            raise BddTorqueError(f"{where} must read a {self.carries}, and wire {place} is a {carried}")
        if self.exact and not wire.exact_word:
            raise BddTorqueError(f"{where} must read an input or a sum of angles, and wire {place} is a {wire.kind}")
        return place

    def places(self, value: int) -> Iterator[int]:
        """Give the wire."""
        yield value

    def moved(self, value: int, places: Mapping[int, int]) -> int:
        """Return where the wire is now."""
        return places[value]


@dataclass(frozen=True)
class BlockReference(Rule):
    """The place of a block; −1 for none, where there may be none."""

    lowest: int = 0

    def read(self, plain: object, where: str, earlier: Earlier) -> int:
        """Return the place."""
        return whole(plain, self.lowest, len(earlier.blocks) - 1, where)


@dataclass(frozen=True)
class OneOf(Rule):
    """One of some words or integers."""

    known: tuple[Any, ...] = ()

    def read(self, plain: object, where: str, earlier: Earlier) -> Any:
        """Return the value, if it is one of them and of their type."""
        if isinstance(self.known[0], str):
            return choice(plain, self.known, where)
        if type(plain) is not int or plain not in self.known:
            raise BddTorqueError(f"{where} must be {' or '.join(map(str, self.known))}, got {describe(plain)}")
        return plain


@dataclass(frozen=True)
class Items(Rule):
    """A list: of any length, all alike, or of one item for each of several rules."""

    rules: tuple[Rule, ...] = ()
    alike: bool = False

    def read(self, plain: object, where: str, earlier: Earlier) -> tuple[Any, ...]:
        """Return the items as a tuple."""
        items = listed(plain, where, None if self.alike else len(self.rules))
        return tuple(rule.read(item, where, earlier) for rule, item in self._with_rules(items))

    def places(self, value: tuple[Any, ...]) -> Iterator[int]:
        """Give the wires of all items."""
        for rule, item in self._with_rules(value):
            yield from rule.places(item)

    def moved(self, value: tuple[Any, ...], places: Mapping[int, int]) -> tuple[Any, ...]:
        """Return the items with their wires at other places."""
        return tuple(rule.moved(item, places) for rule, item in self._with_rules(value))

    def _with_rules(self, items: Sequence[Any]) -> Iterator[tuple[Rule, Any]]:
        return zip(self.rules * len(items) if self.alike else self.rules, items, strict=True)


def _positive(plain: object, where: str) -> Fraction:
    value = fraction(plain, where)
    if value <= 0:
        raise BddTorqueError(f"{where} must be more than 0, got {str(value)[:40]}")
    return value


Word = Annotated[int, WireReference()]
ExactWord = Annotated[int, WireReference(exact=True)]
FloatValue = Annotated[int, WireReference(carries="float")]
Value = Annotated[int, WireReference(carries="either")]
Integer = Annotated[int, Whole(-(1 << MAX_BITS), 1 << MAX_BITS)]
Shift = Annotated[int, Whole(0, MAX_BITS)]
TableBits = Annotated[int, Whole(1, MAX_INPUT_BITS)]
Unit = Annotated[Fraction, Rule(_positive)]
Sign = Annotated[int, OneOf(known=(1, -1))]

PLAIN_TYPES: dict[Any, Rule] = {
    str: Rule(lambda plain, where: of_type(plain, str, where)),
    bool: Rule(lambda plain, where: of_type(plain, bool, where)),
    float: Rule(real),
    Fraction: Rule(fraction),
}


def _rule(hint: Any) -> Rule:
    """Return the rule that a type states."""
    if hint in PLAIN_TYPES:
        return PLAIN_TYPES[hint]
    arguments = get_args(hint)
    if get_origin(hint) is Literal:
        return OneOf(known=arguments)
    if get_origin(hint) is tuple:
        alike = arguments[-1] is Ellipsis
        return Items(rules=tuple(map(_rule, arguments[:1] if alike else arguments)), alike=alike)
    rule = arguments[1]
    assert isinstance(rule, Rule)
    return rule


@cache
def field_rules(part: Any) -> dict[str, Rule]:
    """Return the rules of the fields of a class, in their order."""
    hints = get_type_hints(part, include_extras=True)
    return {each.name: _rule(hints[each.name]) for each in fields(part)}


@cache
def _references(part: Any) -> tuple[tuple[str, Rule], ...]:
    """Return the fields of a class that refer to wires."""
    kinds = (WireReference, Items)
    return tuple((name, rule) for name, rule in field_rules(part).items() if isinstance(rule, kinds))


class PlanPart:
    """Part of a plan: a wire, a block or an output."""

    kind: ClassVar[str] = ""
    plural: ClassVar[str] = ""  # what several wires of this kind are counted as; empty if they are not
    in_words: ClassVar[bool] = True  # whether plans in integers have it; as a wire, whether it carries a word
    in_floats: ClassVar[bool] = False  # whether plans in floats have it
    exact_word: ClassVar[bool] = False  # whether its word has no error
    optional: ClassVar[frozenset[str]] = frozenset()  # flags that are left out where they are true

    @property
    def sources(self) -> tuple[int, ...]:
        """The wires that it reads."""
        return tuple(place for name, rule in self._references() for place in rule.places(getattr(self, name)))

    def moved(self, places: Mapping[int, int]) -> Self:
        """Return the part with the wires that it reads at other places."""
        changes = {name: rule.moved(getattr(self, name), places) for name, rule in self._references()}
        return replace(self, **changes) if changes else self  # type: ignore[type-var]

    def _references(self) -> tuple[tuple[str, Rule], ...]:
        part_class: Any = type(self)
        return _references(part_class)

    def to_plain(self) -> dict[str, Any]:
        """Return what defines the part as plain data, for files and content keys; rationals as text."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
        plain = {
            name: plain_of(value) for name, value in values.items() if name not in self.optional or value is not True
        }
        return {"kind": self.kind, **plain} if self.kind else plain

    @classmethod
    def from_plain(cls, plain: object, where: str, earlier: Earlier) -> Self:
        """Return the part that `to_plain` wrote; every field and every reference is checked."""
        part_class: Any = cls
        rules = field_rules(part_class)
        keys = [name for name in rules if name not in cls.optional]
        given = table(plain, ("kind", *keys) if cls.kind else keys, where, cls.optional)
        read = (name for name in rules if name in given)
        part = cls(**{name: rules[name].read(given[name], f"{where}, {name}", earlier) for name in read})
        low, high = (getattr(part, name, 0) for name in ("low", "high"))
        if low > high:
            raise BddTorqueError(f"{where}: low must be at most high, got {low} and {high}")
        part.check(where, earlier)
        return part

    def check(self, where: str, earlier: Earlier) -> None:
        """Refuse fields that do not go together."""


Part = TypeVar("Part", bound=PlanPart)


def part_from_plain(plain: object, kinds: Mapping[str, type[Part]], where: str, earlier: Earlier) -> Part:
    """Return the part that `to_plain` wrote, of one of several classes, by its kind."""
    kind = plain.get("kind") if isinstance(plain, Mapping) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise BddTorqueError(not_among(f"{where}, kind", kind, kinds))
    return kinds[kind].from_plain(plain, where, earlier)
