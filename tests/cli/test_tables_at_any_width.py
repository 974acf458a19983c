"""Tables of twelve joints with long names and large numbers: no digit and no word is cut, and all is what JSON says."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import bddtorque as bt
from bddtorque.bench.chip_bench import ChipFigures
from bddtorque.bench.contenders import BASELINE, Sizes
from bddtorque.bench.fpga_bench import FpgaFigures
from bddtorque.bench.latency import Latency
from bddtorque.bench.timing import BenchReport, Call, Timing
from bddtorque.cli.bench_command import _call_table, _latency_table, _timing_table, chip_table, fpga_table
from bddtorque.cli.console import ShownTable, show
from bddtorque.robots import Joint, Link, Robot

JOINTS = 12
WIDTHS = (40, 80, 200)
NUMBER = re.compile(r"(?<![\w.+-])-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w])")
VALUES = re.compile(r"\(-?\d\S*\s[^)]*\)")
"""Of the words of a state, which stand behind them."""
COMMANDS = {
    "info": ["--levels"],
    "sweep": ["--states", "300", "--workers", "1", "--no-cache", "--outputs"],
    "terms": ["scara", "--velocity", "1234"],
    "ask": ["--largest", "--error", "--work", "1"],
    "robots": [],
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return sliding joints on one line that carry tonnes: cheap to compile, and their forces have many digits."""
    names = [f"a_rather_long_name_of_slide_{k}" for k in range(JOINTS)]
    joints = tuple(Joint(name, "prismatic", velocity=1e3, acceleration=12_345.0) for name in names)
    links = tuple(Link(f"carriage_{k}", 1234.5 + k) for k in range(JOINTS))
    path = tmp_path_factory.mktemp("wide") / "slides.bdt"
    bt.compile(Robot("slides", joints, links), bits=12, position=1.0, cache=None, workers=1).save(path)
    return path


def numbers(text: str) -> set[str]:
    return set(NUMBER.findall(VALUES.sub("", text)))


def leaves(plain: Any) -> Iterator[float]:
    if isinstance(plain, dict | list | tuple):
        for part in plain.values() if isinstance(plain, dict) else plain:
            yield from leaves(part)
    elif isinstance(plain, str):
        yield from (float(figure.replace(",", "")) for figure in numbers(plain))
    elif isinstance(plain, int | float):
        yield float(plain)


def near(shown: str, known: float) -> bool:
    """Tell if a number is another one, rounded to the digits that are shown; sizes may be in thousands."""
    digits = shown.replace(",", "").lstrip("-")
    step = 10.0 ** -len(digits.partition("e")[0].partition(".")[2]) * 10.0 ** int(digits.partition("e")[2] or 0)
    return any(abs(abs(known) / scale - float(digits)) <= 0.51 * step for scale in (1, 1e3, 1e6))


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command: str, file: Path, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [command, *([] if command in ("robots", "terms") else [file]), *COMMANDS[command]]
    told = json.loads(run(*asked, "--json").out)
    shown = {}
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        shown[width] = run(*asked).out
    monkeypatch.delenv("COLUMNS")
    assert all(max(map(len, text.splitlines())) <= max(width, 80) for width, text in shown.items())
    assert all("…" not in text for text in shown.values())
    narrow, *wider = ({float(figure.replace(",", "")) for figure in numbers(text)} for text in shown.values())
    assert all(narrow == others for others in wider)
    if command == "robots":  # angles are in degrees, and sources have numbers
        return
    formats = bt.load(file).formats
    known = [*leaves(told), *(value for word in chain(*formats.arrays) for value in (word.lsb, *word.span))]
    known += [answer["found"] * answer["lsb"] for answer in told.get("answers", ()) if "lsb" in answer]
    strange = [figure for figure in numbers(shown[40]) if not any(near(figure, leaf) for leaf in known)]
    assert strange == []


def timed(name: str, proved: bool) -> Timing:
    return Timing(name, 12_345.6, 1_234.5, 1_111.11, 2_222.22, 98_024.0, proved, True, Sizes(123_456_789, 98_765))


BENCHES = {
    "timings": lambda model: _timing_table(REPORT),
    "calls": lambda model: _call_table(REPORT),
    "latency": lambda model: _latency_table(REPORT),
    "chips": lambda model: chip_table(model, CHIPS),
    "fpgas": lambda model: fpga_table(model, FPGAS),
}
REPORT = BenchReport(
    "slides",
    "tables",
    "terms",
    (12,) * JOINTS,
    0.97,
    (timed("words, one state at a time", True), timed(BASELINE, False)),
    (Call("torque_words", 98_024.0, 177.73, 170.25, 180.5),),
    Latency(None, 98_024.0, 1_234_567.0, None, 177_730.0, 177_731.0, 7.21, 81_920, 100),
)
CHIPS = [
    ChipFigures("atmega2560", "bddtorque", "-Os", 1_234_567.0, 28_000, 3_012_345, 204_999, 0, 2_120, 0.9, 0.979),
    ChipFigures("cortex-m0-slow-multiply", "F", "-O2", 100_214.4, 1, 104_039, 19_972, 0, 640, 0.5),
]
CELLS = (1_234_567.0, 123_456.0, 12.5, 2_800.0, 123.4, 2_100, 3, 41_133_333.0, 0.979)
FPGAS = [FpgaFigures("ecp5-25", "", way, *CELLS) for way in ("bddtorque", "straightforward")]


@pytest.mark.parametrize("name", BENCHES)
@pytest.mark.parametrize("width", WIDTHS)
def test_benches(
    name: str, width: int, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    shown: ShownTable = BENCHES[name](bt.load(file))
    show(shown)
    out = capsys.readouterr().out
    words = Counter(part.strip(",:") for row in shown.rows for cell in row for part in cell.split())
    assert not words - Counter(part.strip(",:") for part in out.split())
    assert max(map(len, out.splitlines())) <= width
    told = {"timings": REPORT, "calls": REPORT, "latency": REPORT, "chips": CHIPS, "fpgas": FPGAS}[name]
    known = [*leaves([each.to_plain() for each in (told if isinstance(told, list) else [told])])]
    figures = numbers("  ".join("  ".join(row) for row in shown.rows))
    figures -= {"99.9"}  # a percentile
    assert len(figures) > 3 and not [figure for figure in figures if not any(near(figure, leaf) for leaf in known)]
