"""``python -m bddtorque.independent FILE``: the checker by itself; its exit codes are those of ``bddtorque verify``.

0    all is proved
1    something is not proved
2    bad use: arguments, a file that cannot be read, an output that cannot be written
130  interrupted
141  whoever reads standard output closed it early (128 + SIGPIPE)
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .findings import Finding

USAGE = """usage: python -m bddtorque.independent FILE

Prove a .bdt file again with code that shares nothing with the compiler, and print every finding.
Exit code 0 if all is proved, 1 if anything is not, 2 for bad use.
"""
BAD_USE, INTERRUPTED, BROKEN_PIPE = 2, 130, 141


def main(arguments: list[str]) -> int:
    """Print every finding of one file; return the exit code."""
    from .checker import check_file  # not above: `run` catches Ctrl-C while NumPy is imported
    from .findings import lines_of, one_line

    if arguments in (["--help"], ["-h"]):
        sys.stdout.write(USAGE)
        return 0
    if len(arguments) != 1:
        sys.stderr.write(USAGE.partition("\n")[0] + "\n")
        return BAD_USE

    def show(finding: Finding) -> None:
        if finding.name == "file":  # nothing was checked: bad use
            _say(finding.detail)
            return
        sys.stdout.write("".join(f"{line}\n" for line in lines_of(finding)))
        sys.stdout.flush()

    findings = check_file(arguments[0], show)
    if findings[0].name == "file":
        return BAD_USE
    passed = all(finding.passed for finding in findings)
    sys.stdout.write(f"{one_line(arguments[0])}: {'verified' if passed else 'NOT verified'}\n")
    return 0 if passed else 1


def run(arguments: list[str]) -> int:
    """Do what `main` does, and end in one line where it is interrupted or cannot write."""
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "standard output is closed")
        for stream in (sys.stdout, sys.stderr):  # a terminal that cannot show a name is no reason to fail
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        code = main(arguments)
        sys.stdout.flush()  # here, where it can be said that the disk is full
        return code
    except KeyboardInterrupt:
        _say("interrupted")
        return INTERRUPTED
    except OSError as problem:
        _discard_output()
        if isinstance(problem, BrokenPipeError):
            return BROKEN_PIPE
        _say(f"output: {problem.strerror or problem}")
        return BAD_USE


def _say(message: str) -> None:
    """Write one line to standard error, unless that is closed."""
    if sys.stderr is not None:
        sys.stderr.write(f"{__package__}: {message}\n")


def _discard_output() -> None:
    """Let standard output lead nowhere: Python would try again to write at its end, and complain in its own words."""
    if sys.stdout is not None:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
