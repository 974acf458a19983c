"""Targets of plans: one folder and one record for each target, and what their planners share."""

from __future__ import annotations

from collections.abc import Callable

from bddtorque.base.errors import BddTorqueError
from bddtorque.targets.float import FLOAT_TARGET
from bddtorque.targets.integer import INTEGER_TARGET
from bddtorque.targets.tables import TABLES_TARGET
from bddtorque.targets.target import PlanOptions, Target

TARGETS: dict[str, Target] = {each.name: each for each in (TABLES_TARGET, INTEGER_TARGET, FLOAT_TARGET)}
"""Every target, by its name."""


def check_options(options: PlanOptions, at: Callable[[str], str] = lambda _: "", where: str = "") -> None:
    """Refuse options that were chosen and that their target does not take; `at` says where one was."""
    for key in ("chip", "flash", "precision", "products"):
        value = getattr(options, key, None)
        if value is None or (key, value) == ("products", "auto") or key in TARGETS[options.target].options:
            continue
        fits = [f"'{each.name}'" for each in TARGETS.values() if key in each.options]
        targets = f"target{'s' if len(fits) > 1 else ''} {' and '.join(fits)}"
        said = f"{where}{key} is only valid for {targets}, got target '{options.target}'{at(key)}"
        raise BddTorqueError(said, option="" if at(key) else key)
