"""`Formats`: the words of a whole arm, one `Format` for each quantity of each joint."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, refusals_in, unknown
from bddtorque.base.plain import listed, of_type, table
from bddtorque.base.shown_tables import text_table
from bddtorque.words.formats import Floats, Format, Words

_KERNELS = "bddtorque.words.kernels"
"""Imported when first used: it takes Numba, which nothing else needs that only reads or writes words."""
QUANTITIES = {"q": "positions", "qd": "velocities", "qdd": "accelerations", "tau": "torques"}
"""The quantities of an arm, by the name of their `JointFormats` in `Formats`."""


@dataclass(frozen=True)
class JointFormats:
    """The formats of one quantity, one `Format` per joint from base to tip; indexed by number or joint name.

    Attributes
    ----------
    name
        The quantity, for messages: ``"velocities"``.
    joints
        The formats, one per joint.
    joint_names
        The names of the joints.
    """

    name: str
    joints: tuple[Format, ...]
    joint_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(self.joints))

    def __len__(self) -> int:
        return len(self.joints)

    def __getitem__(self, joint: int | str) -> Format:
        if not isinstance(joint, str):
            return self.joints[joint]
        if joint not in self.joint_names:
            raise BddTorqueError(unknown("joint", joint, self.joint_names))
        return self.joints[self.joint_names.index(joint)]

    def __iter__(self) -> Iterator[Format]:
        return iter(self.joints)

    def __str__(self) -> str:
        rows = [
            (name, f"{each.bits}", f"{each.lsb:.6g} {each.unit}", *(f"{end:.6g}" for end in each.span))
            for name, each in zip(self.joint_names or map(str, range(1, len(self) + 1)), self.joints, strict=True)
        ]
        return text_table(f"Words of the {self.name}", ("joint", "bits", "unit of the last bit", "from", "to"), rows)

    @property
    def bits(self) -> tuple[int, ...]:
        """Word length of each joint."""
        return tuple(each.bits for each in self.joints)

    @property
    def lsb(self) -> Floats:
        """One unit of the last bit of each joint, in the joint's unit, shape (n,)."""
        return np.array([each.lsb for each in self.joints])

    @property
    def lowest(self) -> Words:
        """The lowest word of each joint, shape (n,)."""
        return np.array([each.lowest for each in self.joints], dtype=np.int64)

    @property
    def highest(self) -> Words:
        """The highest word of each joint, shape (n,)."""
        return np.array([each.highest for each in self.joints], dtype=np.int64)

    def quantise(self, x: npt.ArrayLike) -> Words:
        """Return the nearest words of values in the joints' units, shape (n,) or (N, n); see `Format.quantise`."""
        return self.quantise_counted(x)[0]

    def quantise_counted(self, x: npt.ArrayLike) -> tuple[Words, Words]:
        """Return the words, shape (n,) or (N, n), and for each joint how many values were out of range, shape (n,)."""
        given = self._shaped(x)
        words, counts = zip(*(each.quantise_counted(given[..., j]) for j, each in enumerate(self.joints)), strict=True)
        return np.stack(words, axis=-1), np.array(counts, dtype=np.int64)

    def dequantise(self, words: npt.ArrayLike) -> Floats:
        """Return the values, in the joints' units, of words of shape (n,) or (N, n); see `Format.dequantise`."""
        given = self._shaped(words)
        return np.stack([each.dequantise(given[..., joint]) for joint, each in enumerate(self.joints)], axis=-1)

    def held(self, words: npt.ArrayLike) -> Words:
        """Return integers of shape (n,) or (N, n) as the formats hold them: angles masked, others clamped."""
        given = self._shaped(words)
        return np.stack([each.held(given[..., joint]) for joint, each in enumerate(self.joints)], axis=-1)

    def kernel(self) -> Callable[..., int]:
        """Return a compiled function that quantises in your own `numba.njit` loop.

        ``outside = kernel(values, words)`` reads `values` (n,) in the joints' units, writes `words` (n,) and returns
        how many values were out of range. It returns the words of `quantise`, allocates nothing and releases the GIL.
        NaN, infinity and arrays of another length raise ValueError.
        """
        made: Callable[..., int] = import_module(_KERNELS).quantiser(self)
        return made

    def inverse_kernel(self) -> Callable[..., None]:
        """Return a compiled function ``kernel(words, values)`` that does what `dequantise` does; see `kernel`."""
        made: Callable[..., None] = import_module(_KERNELS).dequantiser(self)
        return made

    def _shaped(self, x: npt.ArrayLike) -> npt.NDArray[Any]:
        n = len(self.joints)
        try:
            given = np.asarray(x)
        except ValueError:  # ragged lists
            raise BddTorqueError(f"{self.name} must have shape ({n},) or (N, {n}), got a ragged list") from None
        if given.ndim not in (1, 2) or given.shape[-1] != n:
            raise BddTorqueError(f"{self.name} must have shape ({n},) or (N, {n}), got {given.shape}")
        return given


@dataclass(frozen=True)
class Formats:
    """The formats of all words of an arm with n joints.

    Attributes
    ----------
    joint_names
        Names of the joints from base to tip.
    q, qd, qdd, tau
        Formats of positions, velocities, accelerations and torques (or forces).
    """

    joint_names: tuple[str, ...]
    q: JointFormats
    qd: JointFormats
    qdd: JointFormats
    tau: JointFormats

    def __post_init__(self) -> None:
        object.__setattr__(self, "joint_names", tuple(self.joint_names))
        for quantity, name in QUANTITIES.items():
            given = len(getattr(self, quantity))
            if given != len(self.joint_names):
                raise BddTorqueError(f"formats of {name} must be one per joint, {len(self.joint_names)}, got {given}")
            object.__setattr__(self, quantity, replace(getattr(self, quantity), joint_names=self.joint_names))

    def __str__(self) -> str:
        rows = [
            (name, *(f"{each.bits} bits, {each.lsb:.4g} {each.unit}" for each in words))
            for name, *words in zip(self.joint_names, *self.inputs, self.tau, strict=True)
        ]
        return text_table("Words and the unit of their last bit", ("joint", *QUANTITIES.values()), rows)

    @property
    def inputs(self) -> tuple[JointFormats, JointFormats, JointFormats]:
        """The formats of the input words: positions, velocities, accelerations."""
        return self.q, self.qd, self.qdd

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON; infinite limits are None."""
        plain: dict[str, Any] = {"joint_names": list(self.joint_names)}
        for quantity in QUANTITIES:
            plain[quantity] = [each.to_plain() for each in getattr(self, quantity)]
        return plain


def formats_from_plain(plain: object, where: str = "formats") -> Formats:
    """Return the `Formats` that `Formats.to_plain` wrote; every key and type is checked and `where` is named."""
    given = table(plain, ("joint_names", *QUANTITIES), where)
    names = listed(given["joint_names"], f"{where}, joint_names")
    quantities = {}
    for quantity, name in QUANTITIES.items():
        words = enumerate(listed(given[quantity], f"{where}, {quantity}"))
        joints = (format_from_plain(each, f"{where}, {quantity}[{i}]") for i, each in words)
        quantities[quantity] = JointFormats(name, tuple(joints))
    return Formats(tuple(of_type(name, str, f"{where}, joint_names") for name in names), **quantities)


def format_from_plain(plain: object, where: str) -> Format:
    """Return the format that `Format.to_plain` wrote; every key and type is checked."""
    given = table(plain, Format.__dataclass_fields__, where)
    for key in ("name", "unit"):
        of_type(given[key], str, f"{where}, {key}")
    for key, open_ in (("low", -math.inf), ("high", math.inf)):
        given[key] = open_ if given[key] is None else given[key]
    with refusals_in(where):
        return Format(**given)
