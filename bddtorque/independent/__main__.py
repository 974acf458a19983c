"""``python -m bddtorque.independent FILE``: the checker by itself; exit code 1 if anything is not proved."""

import sys

from .checker import check_file
from .findings import Finding


def main(arguments: list[str]) -> int:
    """Print every finding of one file; return the exit code."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m bddtorque.independent FILE\n")
        return 2

    def show(each: Finding) -> None:
        sys.stdout.write(f"{'ok  ' if each.passed else 'FAIL'}  {each.name:12}  {each.detail}\n")
        sys.stdout.flush()

    findings = check_file(arguments[0], show)
    return 0 if all(each.passed for each in findings) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
