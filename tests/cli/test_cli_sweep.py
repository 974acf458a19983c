"""`sweep`: found beside proved, word lengths compared, CSV and pictures."""

import csv
import json
from dataclasses import replace

import pytest

import bddtorque.sweep
from bddtorque.sweep.plots import check_plot

QUICK = ["--states", "2000"]


def test_found_is_within_proved(run, model, model_file):
    ran = run("sweep", model_file, *QUICK)
    assert (ran.code, ran.err) == (0, "")
    assert "within" in ran.out
    assert "EXCEEDS" not in ran.out
    told = json.loads(run("sweep", model_file, *QUICK, "--seed", "3", "--json").out)
    assert not told["exceeds"]
    (one,) = told["sweeps"]
    assert one["digest"] == model.digest
    assert (one["states"], one["corner_states"], one["seed"]) == (2000, 250, 3)
    for joint, bound in zip(one["joints"], model.certificate.bounds, strict=True):
        assert 0.4 < joint["found"]["units"] <= joint["proved"]["units"] == bound


@pytest.mark.parametrize("command", ["info", "sweep"])
def test_a_narrow_terminal_shows_everything(run, model_file, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    ran = run(command, model_file, *(QUICK if command == "sweep" else []))
    assert "…" not in ran.out


def test_more_found_than_proved_is_exit_code_1(run, model_file, monkeypatch):
    swept = bddtorque.sweep.sweep

    def broken(*arguments, **named):
        result = swept(*arguments, **named)
        return replace(result, joints=(replace(result.joints[0], proved=0.1), *result.joints[1:]))

    monkeypatch.setattr("bddtorque.sweep.sweep", broken)
    ran = run("sweep", model_file, *QUICK)
    assert ran.code == 1
    assert "EXCEEDS" in ran.out
    assert ran.err.startswith("bddtorque: found more than proved: torque of 'shoulder' at 6 bits")
    assert ran.err.count("\n") == 1
    ran = run("sweep", model_file, *QUICK, "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["exceeds"]


def test_word_lengths_are_compared(run, tmp_path):
    flags = ["--bits", "4:5", "--block-bits", "10", "--workers", "1", "--no-cache", *QUICK]
    table, picture = tmp_path / "bits.csv", tmp_path / "bits.svg"
    ran = run("sweep", "planar2r", *flags, "--csv", table, "--plot", picture)
    assert ran.code == 0
    assert str(table) in ran.out
    assert picture.read_bytes().startswith(b"<?xml")
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    kinds = ("tables", "inputs", "total")
    expected = [(bits, joint, kind) for bits in "45" for joint in ("shoulder", "elbow") for kind in kinds]
    assert [(row["bits"], row["joint"], row["error"]) for row in rows] == expected
    for row in rows[::3]:
        assert float(row["max_units"]) <= float(row["proved_units"])
        assert float(row["proved_si"]) == pytest.approx(float(row["proved_units"]) * float(row["lsb"]))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bits.csv", "bits.svg"]


def test_a_picture_of_one_model(run, model_file, tmp_path):
    for name, start in (("errors.png", b"\x89PNG"), ("errors.pdf", b"%PDF")):
        assert run("sweep", model_file, *QUICK, "--plot", tmp_path / name).code == 0
        assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--bits", "8"], "--bits, this file is compiled already"),
        (["--velocity", "2", "--accuracy", "paper"], "--accuracy, --velocity"),
        (["--states", "0"], "at least 1"),
        (["--seed", "-1"], "at least 0"),
        (["--workers", "0"], "workers"),
        (["--evaluator", "letters"], "evaluator"),
        (["--plot", "errors.gif"], ".png, .pdf, .svg"),
        (["--plot", "no/such/folder/errors.png"], "folder"),
        (["--csv", "no/such/folder/errors.csv"], "folder"),
    ],
)
def test_bad_use(refused, model_file, arguments, said):
    assert said in refused("sweep", model_file, *arguments)


def test_bad_word_lengths(refused):
    assert "6:12" in refused("sweep", "planar2r", "--bits", "12:6")
    assert "a known name" in refused("sweep", "planar9r", "--bits", "6:12")


def test_without_matplotlib_it_says_what_to_install(refused, model_file, monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert "pip install 'bddtorque[plots]'" in refused("sweep", model_file, "--plot", tmp_path / "errors.png")
    with pytest.raises(bddtorque.BddTorqueError):
        check_plot(tmp_path / "errors.png")
