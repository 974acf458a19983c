"""`CompileOptions`: the keywords of `bt.compile` and `Spec.with_options`, for type checkers and editors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy.typing as npt

from bddtorque.dynamics.run_time.payload_input import PayloadBox
from bddtorque.robots.tree_robot import TreeOptions
from bddtorque.spec.records import Gains, InputBits, Payload

BitsOption = int | Sequence[int] | npt.NDArray[Any] | None
End = float | str
"""A number, or text with a unit such as ``"180 deg"``; as the torque of a joint also ``"auto"`` or ``"limits"``."""
RangeOption = End | Sequence[End | Sequence[End]] | Mapping[str, End | Sequence[End]] | npt.NDArray[Any] | None
"""A positive number (plus or minus it) or a pair [low, high] for every joint, a list with one per joint, or by name."""


class CompileOptions(TreeOptions, total=False):
    """Options of `compile` and `Spec.with_options`: keys of `Spec` and `Ranges`, which say what each is for.

    They override the specification; None counts as not given. A range replaces those of the joints too. The options of
    `TreeOptions` (base, tip, lock, gravity, ...) belong to it.
    """

    robot: str | None
    payload: Payload | PayloadBox | float | Sequence[float] | Mapping[str, Any] | npt.NDArray[Any] | None
    quantity: str | None
    gains: Gains | Mapping[str, Any] | None
    bits: BitsOption
    input_bits: BitsOption | InputBits | Mapping[str, Any]
    accuracy: Literal["faithful", "paper"] | float | None
    block_bits: int | None
    products: Literal["auto", "blocks", "squares", "partial"] | None
    memory: int | str | None
    source: Literal["auto", "terms", "recursive"] | None
    target: Literal["tables", "integer", "float"] | None
    precision: Literal["auto", "single", "double"] | None
    chip: str | None
    flash: int | str | None
    position: RangeOption
    velocity: RangeOption
    acceleration: RangeOption
    torque: RangeOption
