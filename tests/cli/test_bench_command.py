"""`bench`: tables for people, JSON for programs, a picture; refusals in one line."""

import json
import re

import pytest

from bddtorque.bench import timing
from bddtorque.bench.contenders import BASELINE, VECTOR_BASELINE, Contender, Sizes
from bddtorque.bench.latency import Latency
from bddtorque.bench.timing import BenchReport, Timing
from bddtorque.cli.bench_command import _latency_table
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
    ran = run("bench", "planar2r", "--bits", "5", *QUICK, "--latency", "--json", "--workers", 1, "--no-cache")
    assert (ran.code, ran.err) == (0, "")
    found = json.loads(ran.out)
    assert [report["target"] for report in found["reports"]] == ["float", "tables"]
    for report in found["reports"]:
        assert report["bits"] == [5, 5] and report["bound"] < 1
        assert report["latency"]["calls"] > 1000 and report["latency"]["resolution"] > 0
        assert {"name", "nanoseconds", "ratio", "lowest", "highest", "sizes"} <= set(report["timings"][0])
    assert found["machine"]["processor"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--states", "100"], "--states must be a multiple of 64, got 100"),
        (["--rounds", "0"], "--rounds must be at least 1, got 0"),
        (["--target", "float"], "--target can only be given with a specification, and "),
        (["--bits", "5"], "--bits can only be given with a specification, and "),
    ],
)
def test_bad_use_is_refused(refused, model_file, arguments, message):
    assert message in refused("bench", model_file, *arguments)


def test_a_file_that_is_not_there(refused):
    assert "there is no such file" in refused("bench", "nothing.bdt")


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
