"""``python -m bddtorque.independent FILE``: the checker by itself; exit code 1 if anything is not proved."""

import sys

from .checker import check_file
from .findings import Finding

USAGE = """usage: python -m bddtorque.independent FILE

Prove a .bdt file again with code that shares nothing with the compiler, and print every finding.
Exit code 0 if all is proved, 1 if anything is not, 2 for bad use.
"""


def main(arguments: list[str]) -> int:
    """Print every finding of one file; return the exit code."""
    if arguments in (["--help"], ["-h"]):
        sys.stdout.write(USAGE)
        return 0
    if len(arguments) != 1:
        sys.stderr.write(USAGE.partition("\n")[0] + "\n")
        return 2

    def show(each: Finding) -> None:
        sys.stdout.write(f"{'ok  ' if each.passed else 'FAIL'}  {each.name:12}  {each.detail}\n")
        sys.stdout.flush()

    findings = check_file(arguments[0], show)
    return 0 if all(each.passed for each in findings) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
