"""`bench`: tables for people, JSON for programs, a picture; refusals in one line."""

import json

import pytest

QUICK = ["--states", "64", "--rounds", "2"]


@pytest.mark.slow
def test_a_file_is_measured(run, model_file, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # no cell is broken over lines
    ran = run("bench", model_file, *QUICK)
    assert (ran.code, ran.err) == (0, "")
    for part in ("processor", "numba", "target tables", "words, one state at a time", "float32, sine table", "proved",
                 "From Python", "torque_words"):  # fmt: skip
        assert part in ran.out
    assert "data caches" not in ran.out


@pytest.mark.slow
def test_a_robot_is_measured_for_both_targets(run, tmp_path):
    plot = tmp_path / "speed.png"
    ran = run(
        "bench", "planar2r", "--bits", "5", *QUICK, "--latency", "--json", "--plot", plot, "--workers", 1, "--no-cache"
    )
    assert (ran.code, ran.err) == (0, "")
    found = json.loads(ran.out)
    assert [report["target"] for report in found["reports"]] == ["host", "tables"]
    for report in found["reports"]:
        assert report["bits"] == [5, 5] and report["bound"] < 1
        assert report["latency"]["calls"] > 1000
        assert {"name", "nanoseconds", "ratio", "lowest", "highest", "sizes"} <= set(report["timings"][0])
    assert found["machine"]["processor"] and plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--states", "100"], "--states: a multiple of 64 required, 100 given"),
        (["--rounds", "0"], "--rounds: 1 or more required, 0 given"),
        (["--target", "host"], "a specification required for --target, this file is compiled already"),
        (["--bits", "5"], "a specification required for --bits, this file is compiled already"),
        (["--plot", "no/such/folder/x.png"], "a file in a folder that exists required"),
        (["--plot", "x.txt"], "a picture ending in .png, .pdf, .svg required"),
    ],
)
def test_bad_use_is_refused(refused, model_file, arguments, message):
    assert message in refused("bench", model_file, *arguments)


def test_a_file_that_is_not_there(refused):
    assert "there is no such file" in refused("bench", "nothing.bdt")
