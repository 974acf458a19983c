"""`sweep`: found beside proved, word lengths compared, CSV and pictures."""

import csv
import json
from dataclasses import replace

import pytest

import bddtorque.sweeps
from bddtorque.sweeps.drawing import check_plot

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
    assert (one["states"], one["corner_states"], one["searched_states"], one["seed"]) == (2000, 250, 250, 3)
    for joint, bound in zip(one["outputs"], model.certificate.bounds, strict=True):
        assert 0.4 < joint["found"]["units"] <= joint["proved"]["units"] == bound


def test_the_summary_comes_first_and_every_joint_on_request(run, model, model_file):
    short = run("sweep", model_file, *QUICK).out
    lines = short.splitlines()
    assert lines[1] == "Every error found is within its proved bound (2 outputs)"
    assert len(lines) < 16
    assert all(sum(name in line for line in lines) == 1 for name in model.formats.q.labels)
    assert "p99.9" not in short
    whole = run("sweep", model_file, *QUICK, "--outputs").out
    assert whole.splitlines()[:8] == lines[:8]
    assert whole.count("p99.9") == 3  # one table per kind of error
    assert "--outputs" not in whole


def test_several_models_are_one_row_each(run, model_file, tmp_path):
    copy = tmp_path / "copy.bdt"
    copy.write_bytes(model_file.read_bytes())
    lines = run("sweep", model_file, copy, "--workers", "1", "--no-cache", *QUICK).out.splitlines()
    assert lines[1] == "Every error found is within its proved bound (4 outputs)"
    for name in ("small", "copy"):  # in the summary, and with size and speed
        assert sum(line.split()[:1] == [name] for line in lines) == 2


def test_more_found_than_proved_is_exit_code_1(run, model_file, monkeypatch):
    swept = bddtorque.sweeps.sweep

    def broken(*arguments, **named):
        result = swept(*arguments, **named)
        return replace(result, outputs=(replace(result.outputs[0], proved=0.1), *result.outputs[1:]))

    monkeypatch.setattr("bddtorque.sweeps.sweep", broken)
    ran = run("sweep", model_file, *QUICK)
    assert ran.code == 1
    assert ran.out.splitlines()[1] == "1 of 2 outputs EXCEED the proved bound"
    assert "EXCEEDS" in ran.out
    assert ran.err.startswith("bddtorque: found more than proved: shoulder of planar2r at 6 bits")
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
    assert [(row["bits"], row["output"], row["error"]) for row in rows] == expected
    for row in rows[::3]:
        assert float(row["max_units"]) <= float(row["proved_units"])
        assert float(row["proved_si"]) == pytest.approx(float(row["proved_units"]) * float(row["lsb"]))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bits.csv", "bits.svg"]


def test_models_stand_side_by_side(run, model_file, tmp_path, monkeypatch):
    flags = ["--workers", "1", "--no-cache", *QUICK]
    copy = tmp_path / "copy.bdt"
    copy.write_bytes(model_file.read_bytes())
    ran = run("sweep", model_file, copy, *flags, "--plot", tmp_path / "both.svg", "--csv", tmp_path / "both.csv")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(
        "small, copy: 2,000 random and 250 corner states, 250 more in search of the worst, seed 0"
    )
    assert "Size and speed" in ran.out
    monkeypatch.setenv("COLUMNS", "80")
    assert "…" not in run("sweep", model_file, copy, *flags, "--terms").out
    assert f"{len(model_file.read_bytes()):,}" in ran.out
    with (tmp_path / "both.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == ["small"] * 6 + ["copy"] * 6
    told = json.loads(run("sweep", model_file, copy, *flags, "--json").out)
    assert [each["name"] for each in told["sweeps"]] == ["small", "copy"]
    assert told["sweeps"][0]["outputs"] == told["sweeps"][1]["outputs"]
    assert told["sweeps"][0]["cost"]["file_bytes"] == len(model_file.read_bytes())


def test_terms_are_told(run, model_file):
    ran = run("sweep", model_file, *QUICK, "--terms", "--cost")
    assert (ran.code, ran.err) == (0, "")
    assert "error of each term by itself" in ran.out
    (one,) = json.loads(run("sweep", model_file, *QUICK, "--terms", "--json").out)["sweeps"]
    largest = {term["term"]: term["max_units"] for term in one["terms"] if term["torque"] == 1}
    assert set(largest) == {"J11", "J12", "C1_12", "C1_22", "G1", "roundings"}
    assert 0.4 < largest["roundings"] <= 0.5
    assert one["cost"] is None


def test_a_trajectory_by_name_or_from_a_file(run, model, model_file, tmp_path):
    (one,) = json.loads(run("sweep", model_file, *QUICK, "--trajectory", "quintic", "--json").out)["sweeps"]
    assert (one["trajectory"], one["states"], one["corner_states"]) == ("quintic", 2000, 0)
    path = tmp_path / "path.csv"
    columns = [f"{kind}:{joint}" for kind in ("q", "qd", "qdd") for joint in model.formats.q.labels]
    path.write_text(",".join(columns) + "\n0.3,1.2,0.5,0,0,0.1\n0.4,1.1,90,0,0,0.1\n", encoding="utf-8")
    ran = run("sweep", model_file, "--trajectory", path, "--plot", tmp_path / "path.png")
    assert (ran.code, ran.err) == (0, "")
    assert "2 states of the trajectory path.csv" in ran.out
    assert "values of the trajectory out of range: 1 " in ran.out
    assert (tmp_path / "path.png").read_bytes().startswith(b"\x89PNG")


def test_search_may_be_left_out(run, model_file):
    (one,) = json.loads(run("sweep", model_file, *QUICK, "--search", "0", "--json").out)["sweeps"]
    assert one["searched_states"] == 0
    assert one["outputs"][0]["search_max"]["units"] == 0


def test_a_picture_of_one_model(run, model_file, tmp_path):
    for name, start in (("errors.png", b"\x89PNG"), ("errors.pdf", b"%PDF")):
        assert run("sweep", model_file, *QUICK, "--plot", tmp_path / name).code == 0
        assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--bits", "8"], "--bits can only be given with a specification, and "),
        (["--velocity", "2", "--accuracy", "paper"], "--accuracy, --velocity"),
        (["--states", "0"], "bddtorque: --states must be an integer of at least 1, got 0"),
        (["--seed", "-1"], "at least 0"),
        (["--workers", "0"], "--workers must be"),
        (["--evaluator", "letters"], "evaluator"),
        (["--search", "-1"], "--search must be at least 0, got -1"),
        (["--trajectory", "cosine"], "quintic, sine, or a .csv or .npy file, got 'cosine'"),
        (["--trajectory", "missing.csv"], "missing.csv"),
        (["another.bdt"], "another.bdt"),
        (["--plot", "errors.gif"], ".png, .pdf, .svg"),
        (["--plot", "no/such/folder/errors.png"], "folder"),
        (["--csv", "no/such/folder/errors.csv"], "folder"),
    ],
)
def test_bad_use(refused, model_file, arguments, said):
    assert said in refused("sweep", model_file, *arguments)


def test_bad_word_lengths(refused):
    assert "6:12" in refused("sweep", "planar2r", "--bits", "12:6")
    assert "unknown robot or specification" in refused("sweep", "planar9r", "--bits", "6:12")


def test_without_matplotlib_it_says_what_to_install(refused, model_file, monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert "pip install 'bddtorque[plots]'" in refused("sweep", model_file, "--plot", tmp_path / "errors.png")
    with pytest.raises(bddtorque.BddTorqueError):
        check_plot(tmp_path / "errors.png")
