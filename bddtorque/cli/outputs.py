"""Files that a command writes: never over what it reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bddtorque.base.errors import BddTorqueError


def refuse_overwriting(outputs: Iterable[Path | None], inputs: Iterable[Path | None], what: str) -> None:
    """Refuse an output that is one of the inputs, by any of its names; `what` says what these are."""
    for output in outputs:
        for given in inputs:
            if output is None or given is None:
                continue
            try:
                same = output.samefile(given)
            except (OSError, ValueError):  # one of them is not there, or can be no file
                continue
            if same and output.is_file():
                raise BddTorqueError(f"{output}: another file than the {what} required, it would be overwritten")
