"""What the checker says: findings, and the exception that ends a check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One check: its name, whether it passed, and what was found."""

    name: str
    passed: bool
    detail: str


class RefusedError(Exception):
    """The file is not what docs/format.md says, or something in it cannot be proved; the message says what.

    `step` names what failed where that is not the step after the last finding.
    """

    def __init__(self, message: str, step: str = "") -> None:
        super().__init__(message)
        self.step = step


def require(holds: bool, message: str, step: str = "") -> None:
    """Refuse the file with a message unless something holds."""
    if not holds:
        raise RefusedError(message, step)
