"""Write the reports that docs/gallery.md links to: ``make docs`` puts them beside the pages.

python docs/gallery.py site/reports
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import bddtorque as bt

ARMS = ("planar2r", "scara", "ur5")
BITS = 12


def write(folder: Path, arms: Sequence[str] = ARMS) -> None:
    """Compile arms at 12 bits and write their reports into a folder, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in arms:
        model = bt.compile(name, bits=BITS)
        report = bt.write_report(model, folder / f"{name}.html")
        found, proved = max(report.largest_found), max(model.certificate.bounds)
        if found > proved:
            raise SystemExit(f"{name}: an error of {found} units was found, and {proved} are proved")
        sys.stdout.write(
            f"{folder / name}.html: {report.bytes:,} bytes, {found:.3f} units found, {proved:.3f} proved\n"
        )


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "site/reports"))
