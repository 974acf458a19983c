"""Answers: what was found, whether it is exact or a bracket, and how it was found."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from bddtorque.questions.subjects import State

Label = Literal["exact", "bracket"]


@dataclass(frozen=True)
class Answer:
    """The common part of all answers.

    Attributes
    ----------
    of
        Name of the subject: ``tau1``, ``J12``, ``w15``, ``b3``.
    title
        A description of it.
    exact
        True if the answer is exact; otherwise it is a bracket with both ends proved.
    way
        The method: ``"diagram"``, ``"enumeration"``, ``"conditioning"``, ``"branch and bound"``, ...
    detail
        Account of the search, for people.
    stopped
        Why the search ended early: ``"work"``, ``"time"``, ``"memory"`` or ``"interrupt"``; empty if it did not. The
        answer is still correct. Stopped by time, it may differ from one machine to another.
    values, units
        The values at the joints of the state that shows it, if there is one, and their units, by name.
    where
        The conditions on the inputs; empty for all states.
    refutes
        Statement of the certificate that the answer refutes; empty unless there is a bug, or somebody changed the file.
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
    refutes: str = field(default="", kw_only=True)

    @property
    def interrupted(self) -> bool:
        """True if somebody interrupted the search."""
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
        Word that the state gives; its value in `unit`, or None for words without a unit.
    bound_word, bound
        No state gives more (less). Equal to `word` and `value` if the answer is exact.
    state
        Input words by name that give `word`.
    clamped
        True if the state saturates: its sum lies beyond the highest or lowest word.
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
        Property that is counted.
    low, high
        Bounds of the number, both included; equal if the answer is exact.
    states
        The number of all states.
    certificate
        Statement of the certificate beside this answer; empty if it says nothing.
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
        Proved: no state has a larger error.
    radius
        Proved distance of the true value, computed in float64, from the exact one; 0 if it is exact. For an exact
        answer no state has an error above found + radius.
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
    """Verdict on something that holds for every state, or does not.

    Attributes
    ----------
    what
        ``"odd"``, ``"even"``, ``"constant"``, ``"odd in q2"``, ...
    holds
        True or False; None if it could not be decided.
    witness
        A state that shows the opposite, if it does not hold.
    """

    what: str
    holds: bool | None
    witness: State | None


@dataclass(frozen=True)
class Support(Answer):
    """Which input bits matter; bit 0 is the least significant.

    Attributes
    ----------
    matters, idle
        Bits of each input word that change the result in some state, and in none.
    open
        Bits that could not be decided.
    by_output_bit
        For blocks: how many input bits matter for each output bit, least significant first.
    """

    matters: dict[str, list[int]]
    idle: dict[str, list[int]]
    open: dict[str, list[int]]
    by_output_bit: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Equality(Answer):
    """Comparison of the words of two compiled models.

    Attributes
    ----------
    equal
        True or False; None if it could not be decided.
    compared
        Things that were compared.
    largest
        The largest difference found, in `unit`, per output.
    sampled
        True if only some states were compared: others may differ by more, up to `bound`.
    bound
        Proved: no state differs by more; None if nothing is proved.
    state
        Input words that give the largest difference, if there is one.
    differing
        The number of states that differ, if all were run.
    blocks
        The blocks whose tables differ, if the plans are the same.
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
