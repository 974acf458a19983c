"""Flash of a chip: what is left of it for tables, and whether what a compiler made fits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bddtorque.base.errors import BddTorqueError
from bddtorque.export.c_steps import Steps
from bddtorque.model.model import Model
from bddtorque.plan.loads import BudgetError
from bddtorque.spec.chips import Chip
from bddtorque.spec.field_values import as_flash


def flash_of(model: Model, asked: int | str | None) -> int | None:
    """Return the bytes of flash that an export may take: those asked for, or the spec's; None if nobody says."""
    return model.provenance.flash if asked is None else as_flash(asked, "flash")


@contextmanager
def within_flash(model: Model, asked: int | str | None, steps: Steps, chip: Chip) -> Iterator[int]:
    """Give the bytes that tables may take beside the code; say so if the smallest ones take more."""
    flash = flash_of(model, asked)
    if flash is None:
        yield model.provenance.memory
        return
    try:
        yield max(flash - steps.code_bytes, 0)
    except BudgetError as problem:
        raise BddTorqueError(
            f"flash must hold {problem.smallest:,} bytes of tables in their smallest forms and about "
            f"{steps.code_bytes:,} of code on chip '{chip.name}', got {flash:,}: more flash or fewer bits would work"
        ) from None


def check_flash(taken: int, tables: int, flash: int | None, chip: Chip) -> None:
    """Refuse code that takes more flash than it may."""
    if flash is not None and taken > flash:
        raise BddTorqueError(
            f"flash must be at least {taken:,} bytes on chip '{chip.name}', {tables:,} of them tables, got {flash:,}: "
            "more flash or fewer bits would work"
        )
