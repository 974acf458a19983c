"""What the checker says: findings, and the exception that ends a check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One step of the check.

    Attributes
    ----------
    name
        Which step it is.
    passed
        Whether it passed.
    detail
        What was found, in one line.
    rows
        What was found for each output, one line each, where a step says something about each.
    """

    name: str
    passed: bool
    detail: str
    rows: tuple[str, ...] = ()


def lines_of(finding: Finding) -> list[str]:
    """Return the lines in which a finding is printed; each names the step."""
    start = f"{'ok  ' if finding.passed else 'FAIL'}  {finding.name:12}  "
    return [start + text for text in (finding.detail, *finding.rows)]


def one_line(message: str) -> str:
    """Return a message in one line of what can be shown: names in a file may hold anything."""
    return "".join(each if each.isprintable() else "?" for each in " ".join(message.split()))[:1000]


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
