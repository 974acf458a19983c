"""Draw the picture of docs/hardware.md from the plan that the page compiles.

python docs/images/draw_hardware.py
"""

from __future__ import annotations

from pathlib import Path

import bddtorque as bt
from bddtorque.report.page import standalone_svg
from bddtorque.report.plan_picture import plan_svg

NOTES = ("Every box ends in a register; words that wait for others go through more of them.",)


def drawing() -> bytes:
    """Return the picture."""
    model = bt.compile("planar2r", bits=8, target="integer", chip="fpga", workers=1)
    return standalone_svg(
        plan_svg(model.plan), "planar2r, 8 bits, planned for logic: from input words to torques", NOTES
    )


if __name__ == "__main__":
    Path(__file__).with_name("hardware.svg").write_bytes(drawing())
