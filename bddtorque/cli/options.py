"""Options that several commands take, and how their text is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from bddtorque.errors import BddTorqueError

PANEL = "What to compile (each takes the place of what the specification says)"

InputBitsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--input-bits",
        rich_help_panel=PANEL,
        metavar="BITS",
        help="Word length of the inputs: 12, or 12,10 (one a joint), or position=14 (may be repeated: velocity=, "
        "acceleration=). As --bits unless given.",
    ),
]
AccuracyOption = Annotated[
    str | None,
    typer.Option(rich_help_panel=PANEL, metavar="GOAL", help="faithful, paper, or units of the last bit above 0.5."),
]
BlockBitsOption = Annotated[
    int | None,
    typer.Option("--block-bits", rich_help_panel=PANEL, metavar="N", help="Input bits of one table, at most."),
]
MemoryOption = Annotated[
    str | None, typer.Option(rich_help_panel=PANEL, metavar="SIZE", help="Budget, such as 2GiB or 500MB.")
]
SourceOption = Annotated[
    str | None, typer.Option(rich_help_panel=PANEL, metavar="NAME", help="auto, terms or recursive.")
]
TargetOption = Annotated[str | None, typer.Option(rich_help_panel=PANEL, metavar="NAME", help="tables or host.")]


def _range_option(name: str, short: str, what: str) -> Any:
    return typer.Option(
        f"--{name}",
        f"--{short}",
        rich_help_panel=PANEL,
        metavar="RANGE",
        help=f"Largest {what}: 1.5, or one a joint: 1.5,2.0 or -1:2,3.",
    )


PositionOption = Annotated[str | None, _range_option("position", "q-max", "position (rad, m)")]
VelocityOption = Annotated[str | None, _range_option("velocity", "qd-max", "velocity (rad/s, m/s)")]
AccelerationOption = Annotated[str | None, _range_option("acceleration", "qdd-max", "acceleration (rad/s², m/s²)")]
TorqueOption = Annotated[str | None, _range_option("torque", "tau-max", "torque (N·m, N)")]
EngineOption = Annotated[str, typer.Option(metavar="NAME", help="What reduces the diagrams: auto, cudd or autoref.")]
WorkersOption = Annotated[int | None, typer.Option(metavar="N", help="Processes; all processors unless given.")]
NoCacheOption = Annotated[bool, typer.Option("--no-cache", help="Neither read nor keep finished blocks.")]
JsonOption = Annotated[bool, typer.Option("--json", help="For programs: the result as JSON on standard output.")]


def spec_options(
    input_bits: Sequence[str] | None,
    accuracy: str | None,
    block_bits: int | None,
    memory: str | None,
    source: str | None,
    target: str | None,
    **ranges: str | None,
) -> dict[str, Any]:
    """Return the options of `Spec.with_options` from the text of the flags; those not given are None."""
    return {
        "input_bits": read_input_bits(input_bits or []),
        "accuracy": _read_accuracy(accuracy),
        "block_bits": block_bits,
        "memory": memory,
        "source": source,
        "target": target,
        **{name: None if text is None else read_ranges(text, f"--{name}") for name, text in ranges.items()},
    }


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


def _range(text: str) -> float | list[float]:
    low, colon, high = text.partition(":")
    return [float(low), float(high)] if colon else float(low)


def _read_accuracy(text: str | None) -> str | float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
