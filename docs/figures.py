"""Write the tables of figures in README.md and docs/: ``make figures``.

    python docs/figures.py               write all of them anew (make figures)
    python docs/figures.py arms chips    only these (make figures TABLES="arms chips")

`pc`, `speed` and `calls` are timings: run them on an otherwise idle machine. The others are counted, and the same on
every machine.

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
from functools import cache
from importlib.metadata import distribution
from io import StringIO
from pathlib import Path
from typing import Any

import bddtorque as bt
from bddtorque.cli import main
from bddtorque.robots.library import builtin_names

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n)(.*?)(<!-- end of figures -->)", re.DOTALL)
CHIP_ARMS = ("planar2r", "scara", "ur5", "puma560", "z1", "xarm7")
PUBLIC_ARMS = {"z1": "z1_description/urdf/z1.urdf", "xarm7": "xarm_description/urdf/xarm7.urdf"}
"""Files of the package example-robot-data; they have no specification of ours."""
PUBLIC_RANGES = ("--velocity", "2", "--acceleration", "5")
COMPILERS = ("arm-none-eabi-gcc", "riscv64-unknown-elf-gcc", "avr-gcc")
CHIPS = ("cortex-m0", "cortex-m3", "cortex-m4", "rv32imc", "avr")
PC_ARMS = ("planar2r", "planar3r_a", "puma560", "ur5")
ONE, ROWS, COLUMNS = "words, one state at a time", "words, batch in rows", "words, batch in columns"
WAYS = (
    ("`float`: `kernel()` in a compiled loop", "float", ONE, "T"),
    ("`float`: a loop of your own over rows", "float", "words, a loop of your own", "T"),
    ("`float`: `kernel(checked=False)`", "float", "words, one state, unchecked", "T"),
    ("`float`: `torque_words`, batch in rows (the default)", "float", ROWS, "V"),
    ("`float`: `torque_words`, batch in columns", "float", COLUMNS, "V"),
    ("`float`: `torque` on batches of floats, N·m out", "float", "values, batch of floats", "V"),
    ("`tables`: `kernel()` in a compiled loop", "tables", ONE, "T"),
    ("`tables`: a loop of your own over rows", "tables", "words, a loop of your own", "T"),
    ("`tables`: `torque_words`, batch in rows", "tables", ROWS, "T"),
    ("`tables`: nothing multiplied", "tables", "words, tables only", "T"),
    ("`integer`: `kernel()` in a compiled loop", "integer", ONE, "T"),
    ("`integer`: `torque_words`, batch in rows", "integer", ROWS, "T"),
    ("T: float32, sine table", "float", "float32, sine table", ""),
    ("V: float32, vector batch", "float", "float32, vector batch", ""),
    ("L: float64, libm", "float", "float64, libm", "T"),
    ("general float64 code", "float", "general float64 code", "T"),
    ("pinocchio.rnea, from Python", "float", "pinocchio.rnea, from Python", "T"),
    ("CasADi's C, float64", "float", "CasADi's C, float64", "T"),
)
"""Rows of the tables of speed: what is shown, target, contender of `bddtorque bench`, and the baseline of its ratio."""
IN_README = (0, 3, 6, 10, 12, 13, 14, 16, 17)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n".replace("| --- ", "|---").replace(" |---", "|---") for line in lines)


def arm_row(name: str) -> list[str]:
    """Return the figures of a built-in arm, compiled for tables at 12 bits."""
    model = bt.compile(name, bits=12)
    figures = model.summary()
    size = len(_file_of(model))
    joints = "".join("R" if joint.kind.turns else "P" for joint in model.robot.joints)
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
    """Return cycles of one torque call on emulated chips: by target beside two baselines, and by chip."""
    ways, by_chip = [], []
    for name in CHIP_ARMS:
        found = {chip: on_chip(name, chip, "integer") for chip in CHIPS}
        own = {"integer": found["cortex-m0"], "tables": on_chip(name, "cortex-m0", "tables")}
        proved = [f"{own[target]['bddtorque']['mean']:,.0f}, {kilobytes(own[target]['bddtorque'])}" for target in own]
        ways.append([name, *proved, *(f"{found['cortex-m0'][way]['mean']:,.0f}" for way in ("X", "F"))])
        by_chip.append([name, *(f"{found[chip]['bddtorque']['mean']:,.0f}" for chip in CHIPS)])
    heads = ["cycles, flash on a Cortex-M0", "`integer`", "`tables`", "unproved fixed point", "unproved float32"]
    first = table(heads, ways)
    second = table(["cycles, `integer`", "Cortex-M0", "M3", "M4", "RV32IMC", "ATmega1284P"], by_chip)
    return f"{first}\n{second}\nCompilers: {', '.join(compiler_version(name) for name in COMPILERS)}.\n"


def kilobytes(figure: dict[str, Any]) -> str:
    """Return the flash that a function adds to a program."""
    return f"{figure['flash'] / 1000:.1f} kB"


def on_chip(name: str, chip: str, target: str) -> dict[str, Any]:
    """Return what `bddtorque bench --chip` measures of an arm at 12 bits, by way."""
    arm = [name] if name not in PUBLIC_ARMS else [public_arm(name), *PUBLIC_RANGES]
    figures = command("bench", *arm, "--bits", "12", "--target", target, "--chip", chip, "--json")["figures"]
    return {figure["way"]: figure for figure in figures if figure["target"] == target}


def public_arm(name: str) -> str:
    """Return the path of an arm of example-robot-data."""
    package = distribution("example-robot-data")
    (file,) = (each for each in package.files or () if str(each).endswith(f"robots/{PUBLIC_ARMS[name]}"))
    return str(Path(str(package.locate_file(file))).resolve())


@cache
def benched(name: str, target: str) -> tuple[dict[str, Any], str]:
    """Return what `bddtorque bench` measures of an arm at 12 bits, and the machine it ran on."""
    found = command("bench", name, "--bits", "12", "--target", target, "--json")
    (report,) = found["reports"]
    return report, ", ".join(f"{key} {value}" for key, value in found["machine"].items())


def speed_row(label: str, target: str, contender: str, baseline: str) -> list[str]:
    """Return the nanoseconds of one way on every arm, with its ratio to a baseline."""
    row = [label]
    for name in PC_ARMS:
        timings = {each["name"]: each for each in benched(name, target)[0]["timings"]}
        if contender not in timings:
            row.append("not installed")
            continue
        timing = timings[contender]
        ratio = timing["vector_ratio" if baseline == "V" else "ratio"]
        row.append(nanoseconds(timing["nanoseconds"]) + (f" ({significant(ratio)} {baseline})" if baseline else ""))
    return row


def nanoseconds(value: float) -> str:
    """Return a time with three digits or more."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def significant(ratio: float) -> str:
    """Return a ratio with two digits or more."""
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2f}"


def pc(rows: Sequence[int] = IN_README) -> str:
    """Return nanoseconds of one state on this machine, for every target, beside float baselines."""
    made = table(["ns per state", *PC_ARMS], [speed_row(*WAYS[k]) for k in rows])
    return f"{made}\nMachine: {benched(PC_ARMS[0], 'float')[1]}.\n"


def speed() -> str:
    """Return the same for every way to call."""
    return pc(range(len(WAYS)))


def calls() -> str:
    """Return nanoseconds of one call from Python, target float."""
    found = [{each["name"]: each["nanoseconds"] for each in benched(name, "float")[0]["calls"]} for name in PC_ARMS]
    return table(["", *PC_ARMS], [[way, *(f"{each[way]:,.0f}" for each in found)] for way in found[0]])


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


FIGURES: dict[str, Callable[[], str]] = {"arms": arms, "chips": chips, "pc": pc, "speed": speed, "calls": calls}


def write(names: Sequence[str]) -> None:
    """Write the tables of these names wherever they stand."""
    for name in names:
        if name not in FIGURES:
            raise SystemExit(f"unknown table '{name}'; known: {', '.join(FIGURES)}")
    made = {name: FIGURES[name]() for name in names}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        new = BLOCK.sub(lambda found: found[1] + made.get(found[2], found[3]) + found[4], text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            sys.stdout.write(f"written: {page.relative_to(ROOT)}\n")


if __name__ == "__main__":
    write(sys.argv[1:] or list(FIGURES))
