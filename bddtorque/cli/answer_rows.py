"""The answers of `ask` as rows of a table: question, answer, label, and how it was found."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bddtorque.questions import Answer, Count, Equality, Extreme, LargestError, Support, Verdict

Row = tuple[str, str, str, str]
MAX_COUNT = 10**15
"""Brackets of counts beyond this are shown as shares of all states; JSON has all digits."""
USELESS = 0.5
"""A bracket of the share of all states that is wider tells nothing worth a number."""
MIN_SHARE = 1e-12
"""Of all states: fewer are as good as some."""
MAX_FLOAT = 1 << 1023
"""Counts from here on are shown as a power of two: no float holds 2^1024."""


def answer_row(answer: Answer) -> tuple[Row, str]:
    """Return the row of an answer, and the state that shows it, which may be empty."""
    question, said, state = _SAID[type(answer).__name__](answer)
    return (question, said, _label(answer), f"{answer.way}: {answer.detail}"), _state(state, answer)


def _label(answer: Answer) -> str:
    undecided = getattr(answer, "holds", 0) is None or getattr(answer, "equal", 0) is None
    return "open" if undecided else answer.label


def _state(state: dict[str, int], answer: Answer) -> str:
    """Return the words of a state, each with its value where it has one."""
    said = []
    for name, word in state.items():
        value = answer.values.get(name)
        said.append(f"{name} {word}" if value is None else f"{name} {word} ({value:.4g} {answer.units[name]})")
    return ", ".join(said)


def _value(word: int, value: float | None, unit: str) -> str:
    return f"{word:,}" if value is None else f"{value:.7g} {unit} (word {word:,})"


def _extreme(answer: Extreme) -> tuple[str, str, dict[str, int]]:
    said = _value(answer.word, answer.value, answer.unit)
    if not answer.exact:
        ends = [said, _value(answer.bound_word, answer.bound, answer.unit)]
        said = " to ".join(ends if answer.which == "largest" else ends[::-1])
    return answer.which, said + (", saturated" if answer.clamped else ""), answer.state


def _count(answer: Count) -> tuple[str, str, dict[str, int]]:
    bits = answer.states.bit_length() - 1
    total = f"2^{bits}" if answer.states == 1 << bits else _short(answer.states)
    low, high = answer.share
    if answer.exact:
        share = f", {low:.6g} of all" if answer.low else ""
        said = f"{answer.low:,} of {total} states{share}"
    elif high - low > USELESS:
        said = f"not counted: only {low:.3g} to {high:.3g} of all {total} states is proved"
    elif answer.high < MAX_COUNT:
        said = f"{answer.low:,} to {answer.high:,} of {total} states, {low:.6g} to {high:.6g} of all"
    else:
        least = ", at least one" if answer.low and low < MIN_SHARE else ""
        said = f"{low:.6g} to {high:.6g} of all {total} states{least}"
    return f"states that {answer.what}", said + (f"; {answer.certificate}" if answer.certificate else ""), {}


def _short(count: int) -> str:
    if count < MAX_COUNT:
        return f"{count:,}"
    return f"{count:.6g}" if count < MAX_FLOAT else f"2^{math.log2(count):.8g}"


def _error(answer: LargestError) -> tuple[str, str, dict[str, int]]:
    radius = f" ± {answer.radius:.1g}" if answer.radius else ""
    if answer.refutes:
        said = f"{answer.found:.6g}{radius} units, MORE than proved"
    elif answer.exact:
        said = f"{answer.found:.6g}{radius} units, {answer.bound:.6g} at most"
    else:
        said = f"{answer.found:.6g}{radius} to {answer.bound:.6g} units"
    if answer.unit:
        said += f", {answer.found * answer.lsb:.4g} {answer.unit}"
    return "largest error", said, answer.state


def _verdict(answer: Verdict) -> tuple[str, str, dict[str, int]]:
    said = {True: "yes", False: "no", None: "not known"}[answer.holds]
    return f"{answer.what}?", said, answer.witness or {}


def _support(answer: Support) -> tuple[str, str, dict[str, int]]:
    parts = []
    for name, bits in answer.matters.items():
        count = len(bits) + len(answer.idle.get(name, ())) + len(answer.open.get(name, ()))
        parts.append(f"{name} all {count}" if len(bits) == count else f"{name} {_bits(bits)} of {count}")
    idle = [name for name in answer.idle if name not in answer.matters]
    said = ", ".join(parts) + (f"; does not depend on {', '.join(idle)}" if idle else "")
    left = {name: bits for name, bits in answer.open.items() if bits}
    said += "".join(f"; not known of {name} bits {_bits(bits)}" for name, bits in left.items())
    return "bits that matter", said, {}


def _bits(bits: list[int]) -> str:
    return "none" if not bits else "bits " + " ".join(map(str, bits))


def _equality(answer: Equality) -> tuple[str, str, dict[str, int]]:
    said = {True: "yes", False: "no", None: "not known"}[answer.equal]
    if answer.equal is not True:
        said += f"; apart by {answer.largest:.4g} {answer.unit} here"
        said += ", the most of the states tried" if answer.sampled else ""
        if answer.differing is not None:
            said += f", which is the most; {answer.differing:,} states differ"
        elif answer.bound is not None:
            said += f", by {answer.bound:.4g} at most"
    if answer.blocks:
        said += f"; blocks that differ: {', '.join(f'b{k}' for k in answer.blocks)}"
    return "equal?", said, answer.state or {}


_SAID: dict[str, Callable[[Any], tuple[str, str, dict[str, int]]]] = {
    "Extreme": _extreme,
    "Count": _count,
    "LargestError": _error,
    "Verdict": _verdict,
    "Support": _support,
    "Equality": _equality,
}
