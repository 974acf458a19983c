"""Answers: what was found, whether it is exact or a bracket, and how it was found."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from bddtorque.questions.subject_kinds import State

Label = Literal["exact", "bracket"]


@dataclass(frozen=True)
class Answer:
    """What all answers have.

    Attributes
    ----------
    of
        What was asked about: ``tau1``, ``J12``, ``w15``, ``b3``.
    title
        What that is.
    exact
        Whether the answer is proved to the last digit; else it is a bracket, both ends of it proved.
    way
        ``"diagram"``, ``"enumeration"``, ``"conditioning"``, ``"branch and bound"``, ...
    detail
        What was done, for people.
    stopped
        Why the search ended early: ``"work"``, ``"time"``, ``"memory"`` or ``"interrupt"``; empty if it did not. The
        answer holds all the same; stopped by time, it may be another one on another machine.
    values, units
        Of the state that shows it, where there is one: what its words stand for at the joints, by name.
    where
        The conditions on the inputs that the answer is for; empty for all states.
    """

    of: str
    title: str
    exact: bool
    way: str
    detail: str
    stopped: str = field(default="", kw_only=True)
    values: dict[str, float] = field(default_factory=dict, kw_only=True)
    units: dict[str, str] = field(default_factory=dict, kw_only=True)
    where: str = field(default="", kw_only=True)

    @property
    def interrupted(self) -> bool:
        """Whether somebody stopped it."""
        return self.stopped == "interrupt"

    @property
    def label(self) -> Label:
        """``"exact"`` or ``"bracket"``."""
        return "exact" if self.exact else "bracket"

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        plain = asdict(self)
        del plain["exact"]
        named = {"question": type(self).__name__.lower(), "answer": self.label}
        return {**named, **plain, "interrupted": self.interrupted}


@dataclass(frozen=True)
class Extreme(Answer):
    """The largest or the smallest value.

    Attributes
    ----------
    which
        ``"largest"`` or ``"smallest"``.
    word, value
        What the state gives; the value in `unit`, None where words have none.
    bound_word, bound
        No state gives more (less); those of the state itself if the answer is exact.
    state
        Input words by name that give `word`.
    clamped
        Whether the state saturates: its sum lies beyond the highest or lowest word.
    """

    which: str
    word: int
    value: float | None
    bound_word: int
    bound: float | None
    unit: str
    state: State
    clamped: bool


@dataclass(frozen=True)
class Count(Answer):
    """A number of states.

    Attributes
    ----------
    what
        What was counted.
    low, high
        Bounds of the number, both included; equal if the answer is exact.
    states
        How many states there are.
    certificate
        What the certificate says of it, and whether this answer says more; empty where it says nothing.
    """

    what: str
    low: int
    high: int
    states: int
    certificate: str = ""

    @property
    def share(self) -> tuple[float, float]:
        """Bounds of the share of all states."""
        return self.low / self.states, self.high / self.states

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON; counts may have more digits than a float holds."""
        return {**super().to_plain(), "share_low": self.share[0], "share_high": self.share[1]}


@dataclass(frozen=True)
class LargestError(Answer):
    """Where compiled words are farthest from the truth, in units of the word's last bit.

    Attributes
    ----------
    found
        The error at `state`, up to `radius`.
    bound
        Proved: no state has more.
    radius
        What the truth itself, in float64, may be off; proved, or nothing where the truth is exact. Of an exact answer
        no state has more than found + radius.
    lsb, unit
        The value of one unit of the word.
    state
        Input words by name.
    word, truth
        The compiled word there, and the true value in units.
    """

    found: float
    bound: float
    radius: float
    lsb: float
    unit: str
    state: State
    word: int | None
    truth: float | None


@dataclass(frozen=True)
class Verdict(Answer):
    """Whether something holds for every state.

    Attributes
    ----------
    what
        ``"odd"``, ``"even"``, ``"constant"``, ``"odd in q2"``, ...
    holds
        True or False; None where it could not be decided.
    witness
        Of what does not hold: a state that shows it.
    """

    what: str
    holds: bool | None
    witness: State | None


@dataclass(frozen=True)
class Support(Answer):
    """Which input bits matter, from the least significant (0) on.

    Attributes
    ----------
    matters, idle
        Bits of each input word that change the result in some state, and in none.
    open
        Bits of which it could not be decided.
    by_output_bit
        Of blocks: for each output bit, least significant first, how many input bits matter.
    """

    matters: dict[str, list[int]]
    idle: dict[str, list[int]]
    open: dict[str, list[int]]
    by_output_bit: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Equality(Answer):
    """Whether two compilations give the same words.

    Attributes
    ----------
    equal
        True or False; None where it could not be decided.
    compared
        What was compared.
    largest
        The largest difference found, in `unit`; per output.
    sampled
        Whether that is of some states only: others may differ by more, up to `bound`.
    bound
        Proved: no state has more; None where nothing is proved.
    state
        Input words that give the largest difference, if there is one.
    differing
        How many states differ, where all were run.
    blocks
        The blocks whose tables differ, where the plans are the same.
    """

    equal: bool | None
    compared: str
    largest: float
    bound: float | None
    unit: str
    state: State | None
    differing: int | None
    states: int
    blocks: tuple[int, ...] = ()
    sampled: bool = False
