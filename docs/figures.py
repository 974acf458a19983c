"""Write the tables of figures in README.md and docs/: ``make figures``.

    python docs/figures.py               write all of them anew
    python docs/figures.py arms chips    only these

A table stands between two comments, so that a figure can only come from the code that measures it::

    <!-- figures: arms -->
    ...
    <!-- end of figures -->
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import bddtorque as bt
from bddtorque.cli import main
from bddtorque.robots.library import builtin_names

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n)(.*?)(<!-- end of figures -->)", re.DOTALL)
CHIP_ARMS = ("planar2r", "scara", "ur5", "puma560")
COMPILERS = ("arm-none-eabi-gcc", "riscv64-unknown-elf-gcc", "avr-gcc")
CHIPS = ("cortex-m0", "cortex-m3", "cortex-m4", "rv32imc", "avr")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n".replace("| --- ", "|---").replace(" |---", "|---") for line in lines)


def arm_row(name: str) -> list[str]:
    """Return the figures of a built-in arm, compiled for tables at 12 bits."""
    model = bt.compile(name, bits=12)
    figures = model.summary()
    size = len(_file_of(model))
    joints = "".join("R" if joint.revolute else "P" for joint in model.robot.joints)
    bound = max(model.certificate.bounds)
    shown = f"{len(joints)}R" if len(joints) > 4 and set(joints) == {"R"} else joints
    return [
        name, shown, model.plan.source, str(figures["blocks"]), f"{figures['nodes']:,}", f"{size / 1000:,.0f} kB",
        f"{bound:.3f}",
    ]  # fmt: skip


def _file_of(model: bt.Model) -> bytes:
    from bddtorque.model.model import to_bytes  # noqa: PLC0415 - no public name, needed here only

    return to_bytes(model)


def arms() -> str:
    """Return all built-in arms at 12 bits."""
    heads = ["arm", "joints", "source", "tables", "diagram nodes", "file", "proved bound, worst joint"]
    return table(heads, [arm_row(name) for name in builtin_names()])


def chips() -> str:
    """Return cycles of one torque call on emulated chips, beside unproved fixed point and software floats."""
    heads = ["arm", "Cortex-M0", "flash", "unproved fixed point", "float32", "M3", "M4", "RV32IMC", "ATmega1284P"]
    rows = []
    for name in CHIP_ARMS:
        found: dict[tuple[str, str], Any] = {}
        for chip in CHIPS:
            figures = command("bench", name, "--bits", "12", "--target", "integer", "--chip", chip, "--json")["figures"]
            found |= {(chip, figure["way"]): figure for figure in figures if figure["target"] == "integer"}
        cycles = {key: f"{figure['mean']:,.0f}" for key, figure in found.items()}
        flash = f"{found['cortex-m0', 'bddtorque']['flash'] / 1000:.1f} kB"
        others = [cycles[chip, "bddtorque"] for chip in CHIPS[1:]]
        first = [cycles["cortex-m0", way] for way in ("bddtorque", "X", "F")]
        rows.append([name, first[0], flash, *first[1:], *others])
    return f"{table(heads, rows)}\nCompilers: {', '.join(compiler_version(name) for name in COMPILERS)}.\n"


def compiler_version(name: str) -> str:
    """Return a compiler with its version; emulated cycles depend on nothing else of the machine."""
    said = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\) (\d+\.\d+\.\d+)", said)
    return f"{name} {found[1] if found else 'of unknown version'}"


def command(*arguments: str) -> Any:
    """Return what a command of bddtorque prints as JSON."""
    with redirect_stdout(StringIO()) as out:
        if main(list(arguments)) != 0:
            raise SystemExit(f"bddtorque {' '.join(arguments)} failed")
    return json.loads(out.getvalue())


FIGURES: dict[str, Callable[[], str]] = {"arms": arms, "chips": chips}


def write(names: Sequence[str]) -> None:
    """Write the tables of these names wherever they stand."""
    made = {name: FIGURES[name]() for name in names}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        new = BLOCK.sub(lambda found: found[1] + made.get(found[2], found[3]) + found[4], text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            sys.stdout.write(f"written: {page.relative_to(ROOT)}\n")


if __name__ == "__main__":
    write(sys.argv[1:] or list(FIGURES))
