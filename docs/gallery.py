"""Write the reports that docs/gallery.md links to: ``make docs`` puts them beside the pages.

python docs/gallery.py site/reports
python docs/gallery.py site/reports --pictures    also take the pictures of docs/images/ anew, with Chromium
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

import bddtorque as bt

ARMS = ("planar2r", "scara", "ur5")
BITS = 12
IMAGES = Path(__file__).parent / "images"
PICTURES = [(name, f"gallery_{name}.png", (1280, 900)) for name in ARMS] + [("ur5", "report.png", (1300, 1190))]
"""Arm, picture and the window that it is taken of."""


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


def picture(page: Path, file: Path, size: tuple[int, int]) -> None:
    """Take a picture of the first screen of a page."""
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=20000"]
    shot = [f"--screenshot={file}", f"--window-size={size[0]},{size[1]}", page.resolve().as_uri()]
    subprocess.run(["chromium", *flags, *shot], check=True, capture_output=True)
    Image.open(file).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE).save(file, optimize=True)


if __name__ == "__main__":
    folders = [Path(each) for each in sys.argv[1:] if each != "--pictures"] or [Path("site/reports")]
    write(folders[0])
    for name, file, size in PICTURES if "--pictures" in sys.argv else ():
        picture(folders[0] / f"{name}.html", IMAGES / file, size)
