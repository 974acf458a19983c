"""``bddtorque ask``: exact questions to a compiled model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.record import OptionRecord, option
from bddtorque.cli import options as opt
from bddtorque.cli.console import ShownTable, say, show, write_json
from bddtorque.cli.progress import ShownProgress

if TYPE_CHECKING:
    from bddtorque.questions import Answer, Count, Equality, Extreme, LargestError, Support, Verdict

INTERRUPTED = 130
QUESTIONS = ("largest", "smallest", "saturation", "at_least", "at_most", "error", "symmetry", "support")
MAX_WORK = 1e9
MAX_LIMIT = 7 * 86_400.0
Row = tuple[str, str, str, str]
MAX_COUNT = 10**15
"""Brackets of counts beyond this are shown as shares of all states; JSON has all digits."""
USELESS = 0.5
"""A bracket of the share of all states that is wider tells nothing worth a number."""
MIN_SHARE = 1e-12
"""Of all states: fewer are as good as some."""
MAX_FLOAT = 1 << 1023
"""Counts from here on are shown as a power of two: no float holds 2^1024."""


@dataclass(frozen=True, kw_only=True)
class AskOptions(OptionRecord):
    """Questions, the states they are about, and how long to look for each answer."""

    of: tuple[str, ...] = option(
        (),
        "NAME",
        "What to ask about (may be repeated): an output (tau1, or the joint), a term (J12, G1), a word (w15) or a "
        "block (b3). Default: all outputs.",
    )
    largest: bool = option(False, None, "The largest value, and a state that has it.")
    smallest: bool = option(False, None, "The smallest value, and a state that has it.")
    saturation: bool = option(False, None, "How many states saturate.")
    at_least: float | None = option(None, "X", "How many states give X or more, in its unit.")
    at_most: float | None = option(None, "X", "How many states give X or less, in its unit.")
    error: bool = option(False, None, "The largest error, and a state that has it.")
    symmetry: bool = option(False, None, "Whether it is odd, even, or constant.")
    support: bool = option(False, None, "Which input bits matter.")
    equal: Path | None = option(None, "OTHER", "Whether another .bdt gives the same words.")
    where: tuple[str, ...] = option(
        (),
        "CONDITION",
        "Only states with these inputs (may be repeated): qd=0, q2=90deg, 'q[elbow]>=0', '-1<=qd1<=1'.",
    )
    within_limits: bool = option(False, None, "Only positions within the limits of their joints.")
    work: float = option(3000.0, "N", "Millions of steps for one answer; 100 take about a second.")
    limit: float | None = option(None, "SECONDS", "Time limit of one answer; it may then depend on the machine.")

    def __post_init__(self) -> None:
        for name, largest, unit in (("work", MAX_WORK, "million steps"), ("limit", MAX_LIMIT, "seconds")):
            value = getattr(self, name)
            if value is not None and not 0 < value <= largest:
                message = f"{name} must be above 0 and at most {largest:g} {unit}, got {value:g}"
                raise BddTorqueError(message, option=name)

    def questions(self) -> dict[str, Any]:
        """Return the questions that are asked, by name, with their values."""
        asked = {name.replace("_", " "): getattr(self, name) for name in QUESTIONS}
        return {name: value for name, value in asked.items() if value is not None and value is not False}


def ask_command(file: opt.FileArgument, options: AskOptions, as_json: opt.JsonOption = False) -> None:
    """Answer exact questions: extremes, counts of states, largest errors, symmetry, equality.

    Every answer is labelled exact, or bracket: then both ends of it are proved. Without a question: the largest and the
    smallest value of every output, and how many states saturate it. Exit code 1 if --equal
    finds a difference, or if anything is found that the certificate excludes.

    Example: bddtorque ask planar2r.bdt

    Example: bddtorque ask planar2r.bdt --of tau1 --at-least 150 --limit 120

    Example: bddtorque ask planar2r.bdt --of b0 --symmetry --support

    Example: bddtorque ask planar2r.bdt --equal again.bdt
    """
    from bddtorque.base.workers import step
    from bddtorque.model.model import load
    from bddtorque.questions import Work
    from bddtorque.questions.asking import answers

    model = load(file)
    other = None if options.equal is None else load(options.equal)
    with ShownProgress("ask") as progress:

        @contextmanager
        def scope(what: str, place: int, count: int) -> Iterator[Work]:
            progress.part(what, place, count)
            with step(progress, "", options.work):
                yield Work(options.work, options.limit, on_spend=lambda steps: progress.advance("", steps / 1e6, False))

        names, conditions = list(options.of), list(options.where)
        found, stopped = answers(model, names, options.questions(), other, scope, conditions, options.within_limits)
    if as_json:
        write_json({"file": str(file), "answers": [answer.to_plain() for answer in found]})
    else:
        _show(file, found)
    for answer in found:
        if answer.refutes:
            say(f"more than the certificate allows: {answer.of} of {model.name}: {answer.refutes}")
    if stopped:
        raise typer.Exit(INTERRUPTED)
    if any(answer.refutes for answer in found) or any(getattr(answer, "equal", True) is False for answer in found):
        raise typer.Exit(1)


def _show(file: Path, found: list[Answer]) -> None:
    conditions = next((answer.where for answer in found if answer.where), "")
    start = "" if conditions.startswith("within the limits") else "with "
    title = f"{file.name}: answers for every state {start + conditions if conditions else 'of its input words'}"
    rows, states, last = [], [], ""
    for answer in found:
        row, state = answer_row(answer)
        rows.append(["" if answer.of == last else answer.of, *row])
        last = answer.of
        if state:
            shows = f"not {row[0][:-1]}" if row[0].endswith("?") else row[0]
            states.append(f"{answer.of} {shows}: at {state}")
    show(ShownTable(title, ["of", "question", "answer", "", "how"], rows))
    for line in states:  # too long for a column
        show(line)


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
