"""`bench`: tables for people, JSON for programs, a picture; refusals in one line."""

import json
import re

import pytest

from bddtorque.bench import timing
from bddtorque.bench.chip_bench import ChipFigures
from bddtorque.bench.contenders import BASELINE, VECTOR_BASELINE, Contender, Sizes
from bddtorque.bench.fpga_bench import FpgaFigures
from bddtorque.bench.latency import Latency
from bddtorque.bench.timing import BenchReport, Timing
from bddtorque.cli.bench_command import _latency_table, _timing_table, chip_table, fpga_table
from bddtorque.cli.console import show

QUICK = ["--states", "64", "--rounds", "2"]


@pytest.mark.parametrize("contending", ["two", pytest.param("all", marks=pytest.mark.everything)])
def test_a_file_is_measured(run, model_file, monkeypatch, contending):
    """By two contenders that do nothing and one of Python's calls; or by all, whose code takes seconds to compile."""
    if contending == "two":
        baselines = [Contender(name, lambda: None, 64, proved=False) for name in (BASELINE, VECTOR_BASELINE)]
        own = Contender("words, one state at a time", lambda: None, 64, proved=True)
        monkeypatch.setattr(timing, "contenders", lambda *given: [own, *baselines])
        monkeypatch.setattr(
            timing, "python_calls", lambda *given, **options: [timing.Call("torque_words", 1.0, 1.0, 1.0, 1.0)]
        )
    monkeypatch.setenv("COLUMNS", "200")  # no cell is broken over lines
    ran = run("bench", model_file, *QUICK)
    assert (ran.code, ran.err) == (0, "")
    for part in ("processor", "numba", "target tables", "words, one state at a time", "float32, sine table", "proved",
                 "From Python", "torque_words"):  # fmt: skip
        assert part in ran.out
    assert "data caches" not in ran.out


@pytest.mark.everything
def test_a_robot_is_measured_for_both_targets(run, tmp_path):
    plot = tmp_path / "speed.png"
    ran = run(
        "bench", "planar2r", "--bits", "5", *QUICK, "--latency", "--json", "--plot", plot, "--workers", 1, "--no-cache"
    )
    assert (ran.code, ran.err) == (0, "")
    found = json.loads(ran.out)
    assert [report["target"] for report in found["reports"]] == ["float", "tables"]
    for report in found["reports"]:
        assert report["bits"] == [5, 5] and report["bound"] < 1
        assert report["latency"]["calls"] > 1000 and report["latency"]["resolution"] > 0
        assert {"name", "nanoseconds", "ratio", "lowest", "highest", "sizes"} <= set(report["timings"][0])
    assert found["machine"]["processor"] and plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--states", "100"], "--states must be a multiple of 64, got 100"),
        (["--rounds", "0"], "--rounds must be at least 1, got 0"),
        (["--target", "float"], "--target can only be given with a specification, and "),
        (["--bits", "5"], "--bits can only be given with a specification, and "),
        (["--plot", "no/such/folder/x.png"], "--plot: there is no folder 'no/such/folder' to write x.png to"),
        (["--plot", "x.txt"], "the name of a picture must end in .png, .pdf, .svg, got x.txt"),
    ],
)
def test_bad_use_is_refused(refused, model_file, arguments, message):
    assert message in refused("bench", model_file, *arguments)


def test_a_file_that_is_not_there(refused):
    assert "there is no such file" in refused("bench", "nothing.bdt")


def test_a_narrow_terminal_shows_every_figure(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    sizes = Sizes(123_456_789, 98_765)
    names = ("words, one state at a time", "pinocchio.rnea, from Python")
    timings = [Timing(name, 12345.6, 1234.5, 1111.11, 2222.22, 2345.6, True, True, sizes) for name in names]
    report = BenchReport("planar2r", "tables", "terms", (6, 6), 0.97, tuple(timings), (), None)
    show(_timing_table(report))
    shown = capsys.readouterr().out
    assert "…" not in shown
    for part in ("12,346", "1,234", "1,111–2,222", "2,346", "123.5 MB", "98.8 kB", "* pinocchio.rnea"):
        assert part in shown


def test_a_latency_that_is_not_resolved_says_so(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    latency = Latency(None, 12.3, 1234.5, None, 1011.0, 1610.0, 7.21, 81_920, 100)
    alone = Timing("words, one state at a time", 12.3, 1.0, 1.0, 1.0, 1.0, True, False, Sizes(10_000, 96))
    report = BenchReport("planar2r", "float", "terms", (5, 5), 0.97, (alone,), (), latency)
    show(_latency_table(report))
    lines = capsys.readouterr().out.splitlines()
    rows = dict(cells for line in lines if len(cells := re.split(r"  +", line.strip())) == 2)
    assert rows["median"] == rows["slowest state, at its best"] == "below its resolution (7.2 ns)"
    assert (rows["99.9 %"], rows["worst of 81,920 calls, interruptions included"]) == ("12", "1,234")


def test_chips_and_fpgas_fit_80_columns(model, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    numbers = {"mean": 29_146.4, "lowest": 28_000, "highest": 30_123, "flash": 20_999, "stack": 212, "error": 0.9}
    chips = [
        ChipFigures("atmega2560", "bddtorque", "-Os", **numbers, bound=0.979),
        ChipFigures("avr", "F", problem="none"),
    ]
    figures = {"luts": 12_345, "flip_flops": 12_345, "memories": 12, "multipliers": 28, "mhz": 123.4, "latency": 21}
    fpgas = [
        FpgaFigures("ecp5-25", "", way, **figures, states_per_second=123_400_000)
        for way in ("bddtorque", "straightforward")
    ]
    show(chip_table(model, chips))
    show(fpga_table(model, fpgas))
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines if line.startswith((" atmega", " ecp5"))]
    assert rows[0] == ["atmega2560", "bddtorque", "-Os", "29,146", "30,123", "20,999", "0", "212", "0.900", "0.979"]
    assert rows[2] == ["ecp5-25", "S", "12,345", "12,345", "12", "28", "123.4", "21", "1", "123,400,000"]
    assert not any(line.startswith(" avr") for line in lines)  # what went wrong is said below the table
    assert max(map(len, lines)) <= 80
