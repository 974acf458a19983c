"""The order in which the joints of a tree are computed: each after the one that carries it."""

from __future__ import annotations

from collections.abc import Mapping

from bddtorque.base.errors import BddTorqueError, unknown

BASE = ""
"""The name of the base where a joint is named."""


def carried_order(parents: Mapping[str, str], where: str) -> list[str]:
    """Return the joints so that each comes after its parent, else in the order given; refuse loops and strangers.

    Parameters
    ----------
    parents
        For each joint the one whose link it sits on, or `BASE`.
    where
        How errors begin.
    """
    for name, parent in parents.items():
        if parent != BASE and parent not in parents:
            raise BddTorqueError(f"{where}, parent of joint '{name}': {unknown('joint', parent, parents)}")
    placed: dict[str, None] = {BASE: None}
    waiting = list(parents)
    while waiting:
        for name in waiting:
            if parents[name] in placed:
                placed[name] = None
        rest = [name for name in waiting if name not in placed]
        if len(rest) == len(waiting):
            raise BddTorqueError(f"{where}: joints must form a tree, joint '{rest[0]}' is part of a loop")
        waiting = rest
    return [name for name in placed if name != BASE]
