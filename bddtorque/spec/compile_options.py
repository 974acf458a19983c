"""`CompileOptions`: the keywords of `bt.compile` and `Spec.with_options`, for type checkers and editors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy.typing as npt

from bddtorque.robots.urdf_reader import UrdfOptions
from bddtorque.spec.records import InputBits, Payload

BitsOption = int | Sequence[int] | npt.NDArray[Any] | None
RangeOption = float | Sequence[float | Sequence[float]] | npt.NDArray[Any] | None
"""A positive number for every joint (plus or minus it), or a list with a number or a pair [low, high] per joint."""


class CompileOptions(UrdfOptions, total=False):
    """What can be asked of a compilation besides, or instead of, what its specification says.

    The attributes of `Spec` but `ranges` and `joints`, for which ``position``, ``velocity``, ``acceleration`` and
    ``torque`` stand: they take the place of whatever the spec says, for every joint. An option that is None counts as
    not given.
    """

    robot: str | None
    payload: Payload | float | Sequence[float] | Mapping[str, Any] | npt.NDArray[Any] | None
    bits: BitsOption
    input_bits: BitsOption | InputBits | Mapping[str, Any]
    accuracy: Literal["faithful", "paper"] | float | None
    block_bits: int | None
    products: Literal["auto", "blocks", "squares", "partial"] | None
    memory: int | str | None
    source: Literal["auto", "terms", "recursive"] | None
    target: Literal["tables", "host", "float"] | None
    precision: Literal["auto", "single", "double"] | None
    position: RangeOption
    velocity: RangeOption
    acceleration: RangeOption
    torque: RangeOption
