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
    of : what was asked about: ``tau1``, ``J12``, ``w15``, ``b3``
    title : what that is
    exact : whether the answer is proved to the last digit; else it is a bracket, both ends of it proved
    way : ``"diagram"``, ``"enumeration"``, ``"conditioning"``, ``"branch and bound"``, ...
    detail : what was done, for people
    stopped : why the search ended early: ``"work"``, ``"time"``, ``"memory"`` or ``"interrupt"``; empty if it did not.
        The answer holds all the same; stopped by time, it may be another one on another machine
    values, units : of the state that shows it, where there is one: what its words stand for at the joints, by name
    where : the conditions on the inputs that the answer is for; empty for all states
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
    which : ``"largest"`` or ``"smallest"``
    word, value : what the state gives; the value in `unit`, None where words have none
    bound_word, bound : no state gives more (less); those of the state itself if the answer is exact
    state : input words by name that give `word`
    clamped : whether the state saturates: its sum lies beyond the highest or lowest word
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
    what : what was counted
    low, high : bounds of the number, both included; equal if the answer is exact
    states : how many states there are
    certificate : what the certificate says of it, and whether this answer says more; empty where it says nothing
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
    found : the error at `state`, up to `radius`
    bound : proved: no state has more
    radius : what the truth itself, in float64, may be off; proved, or nothing where the truth is exact. Of an exact
        answer no state has more than found + radius
    lsb, unit : the value of one unit of the word
    state : input words by name
    word, truth : the compiled word there, and the true value in units
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
    what : ``"odd"``, ``"even"``, ``"constant"``, ``"odd in q2"``, ...
    holds : True or False; None where it could not be decided
    witness : of what does not hold: a state that shows it
    """

    what: str
    holds: bool | None
    witness: State | None


@dataclass(frozen=True)
class Support(Answer):
    """Which input bits matter, from the least significant (0) on.

    Attributes
    ----------
    matters, idle : bits of each input word that change the result in some state, and in none
    open : bits of which it could not be decided
    by_output_bit : of blocks: for each output bit, least significant first, how many input bits matter
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
    equal : True or False; None where it could not be decided
    compared : what was compared
    largest : the largest difference found, in `unit`; per output
    sampled : whether that is of some states only: others may differ by more, up to `bound`
    bound : proved: no state has more; None where nothing is proved
    state : input words that give the largest difference, if there is one
    differing : how many states differ, where all were run
    blocks : the blocks whose tables differ, where the plans are the same
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
