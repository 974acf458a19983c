"""Options that several commands take, and how their text is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.base.errors import BddTorqueError

if TYPE_CHECKING:
    from bddtorque.work.cluster import ClusterExecutor

EngineOption = Annotated[str, typer.Option(metavar="NAME", help="What reduces the diagrams: auto, cudd or autoref.")]
WorkersOption = Annotated[int | None, typer.Option(metavar="N", help="Processes; all processors unless given.")]
DaskOption = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Work on a Dask cluster: its scheduler, such as tcp://host:8786.")
]
NoCacheOption = Annotated[bool, typer.Option("--no-cache", help="Neither read nor keep finished blocks.")]
JsonOption = Annotated[bool, typer.Option("--json", help="For programs: the result as JSON on standard output.")]


@contextmanager
def cluster(address: str | None) -> Iterator[ClusterExecutor | None]:
    """Give what ``--dask`` names as an executor, None where it is not given."""
    if address is None:
        yield None
        return
    from bddtorque.work.cluster import connected

    with connected(address) as executor:
        yield executor


def read_bits(text: str, where: str = "--bits") -> int | list[int]:
    """Return a word length from ``12``, or one a joint from ``12,10``."""
    try:
        bits = [int(each) for each in text.split(",")]
    except ValueError:
        required = "a whole number, or one a joint with commas between them,"
        raise BddTorqueError(f"{where}: {required} required, {text!r:.60} given") from None
    return bits if len(bits) > 1 else bits[0]


def read_word_lengths(text: str, where: str = "--bits") -> list[int]:
    """Return word lengths to compare from ``6:12`` (both ends included), ``6,8,12`` or ``12``; no length twice."""
    lengths: list[int] = []
    try:
        for part in text.split(","):
            first, colon, last = part.partition(":")
            ends = int(first), int(last if colon else first)
            if not 2 <= ends[0] <= ends[1] <= 24:
                raise ValueError
            lengths += range(ends[0], ends[1] + 1)
    except ValueError:
        required = "word lengths from 2 to 24 such as 6:12 or 6,8,12"
        raise BddTorqueError(f"{where}: {required} required, {text!r:.60} given") from None
    return list(dict.fromkeys(lengths))


def read_input_bits(texts: Sequence[str]) -> int | list[int] | dict[str, Any] | None:
    """Return what ``--input-bits`` says: bits for all inputs, or by quantity."""
    if not texts:
        return None
    if all("=" in text for text in texts):
        pairs = [text.split("=", 1) for text in texts]
        named = {name: read_bits(bits, f"--input-bits {name}") for name, bits in pairs}
        if len(named) < len(pairs):
            raise BddTorqueError(f"--input-bits: each quantity once required, {', '.join(texts)} given")
        return named
    if len(texts) > 1:
        raise BddTorqueError(f"--input-bits: once, or as position=, velocity=, required, {', '.join(texts)} given")
    return read_bits(texts[0], "--input-bits")


def read_ranges(text: str, where: str) -> float | list[float | list[float]]:
    """Return a range for all joints from ``1.5``, or one a joint from ``1.5,-1:2``."""
    try:
        ranges = [_range(each) for each in text.split(",")]
    except ValueError:
        required = "a number, or numbers and low:high with commas between them, one a joint,"
        raise BddTorqueError(f"{where}: {required} required, {text!r:.60} given") from None
    first = ranges[0]
    return first if len(ranges) == 1 and isinstance(first, float) else ranges


def read_numbers(text: str, where: str, count: int, whole: bool) -> list[float] | list[int]:
    """Return `count` numbers (whole ones if `whole`) with commas between them."""
    kind = "whole numbers" if whole else "numbers"
    try:
        numbers = [int(each) if whole else float(each) for each in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != count:
        raise BddTorqueError(f"{where}: {count} {kind} with commas between them required, {text!r:.60} given")
    return numbers


def read_lock(texts: Sequence[str]) -> str | dict[str, float] | None:
    """Return what ``--lock`` says: ``others``, or joints with their positions."""
    if not texts:
        return None
    if list(texts) == ["others"]:
        return "others"
    locked: dict[str, float] = {}
    for text in texts:
        name, _, position = text.rpartition("=")
        try:
            locked[name] = float(position)
        except ValueError:
            name = ""
        if not name:
            required = "others, or JOINT=POSITION in rad or m,"
            raise BddTorqueError(f"--lock: {required} required, {text!r:.60} given")
    if len(locked) < len(texts):
        raise BddTorqueError(f"--lock: each joint once required, {', '.join(texts)} given")
    return locked


def read_payload(text: str) -> list[float] | float:
    """Return a mass from ``1.5``, or a mass and its centre from ``1.5,0,0,0.1``."""
    try:
        numbers = [float(each) for each in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 4):
        raise BddTorqueError(f"--payload: MASS or MASS,x,y,z in kg and m required, {text!r:.60} given")
    return numbers if len(numbers) > 1 else numbers[0]


def _range(text: str) -> float | list[float]:
    low, colon, high = text.partition(":")
    return [float(low), float(high)] if colon else float(low)


def read_accuracy(text: str) -> str | float:
    """Return a number of units, or a word."""
    try:
        return float(text)
    except ValueError:
        return text
