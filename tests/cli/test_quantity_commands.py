"""Quantities on the command line: compile, info, eval, sweep, export, and what other commands say of them."""

import json

import numpy as np
import pytest

import bddtorque as bt
from bddtorque.cli import main


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("quantity") / "gravity.bdt"
    model = bt.compile("planar2r", quantity="gravity", bits=6, torque="auto", cache=None, workers=1)
    model.save(path)
    return path


def test_compile_and_info_show_it(tmp_path, capsys):
    out = tmp_path / "law.bdt"
    gains = ["--gains", "kp=100", "--gains", "kv=20,15"]
    options = ["--target", "float", "--bits", "8", "--no-cache", "--workers", "1"]
    assert main(["compile", "planar2r", "--quantity", "computed_torque", *gains, *options, "-o", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "computed_torque" in shown and "qd_desired 8" in shown
    assert main(["info", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["quantity"] == "computed_torque" and told["spec"]["gains"] == {"kp": 100.0, "kv": [20.0, 15.0]}
    assert main(["info", str(out)]) == 0
    assert "qd_desired:elbow" in capsys.readouterr().out


def test_eval_takes_states_and_files(file, tmp_path, capsys):
    model = bt.load(file)
    assert main(["eval", str(file), "--q", "0.5,-0.25"]) == 0
    header, row = capsys.readouterr().out.splitlines()
    assert header == "tau:shoulder,tau:elbow"
    np.testing.assert_array_equal([float(cell) for cell in row.split(",")], model.value([0.5, -0.25]))
    states = tmp_path / "states.csv"
    states.write_text("q:elbow,q:shoulder\n3,-4\n5,6\n", encoding="utf-8")
    assert main(["eval", str(file), str(states), "--words", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["values"] == model.words([[-4, 3], [6, 5]]).tolist()
    assert main(["eval", str(file), "--q", "0,0", "--qd", "0,0"]) == 2
    assert "quantity 'gravity' takes q: got --qd" in capsys.readouterr().err
    assert main(["eval", str(file), "--input", "q=0.5,-0.25"]) == 0
    assert capsys.readouterr().out.splitlines() == [header, row]
    for typed, said in ({"speed=1,2": "unknown input 'speed'", "q": "NAME=NUMBERS", "q=1": "2 numbers"}).items():
        assert main(["eval", str(file), "--input", typed]) == 2
        assert said in capsys.readouterr().err


def test_eval_of_a_function(tmp_path, capsys):
    words = {"inputs": {"x": (6, 2.0, "m"), "y": (6, "angle")}, "output": {"z": (8, 3.0, "m")}}
    model = bt.compile_function(lambda x, y: x * np.cos(y), **words, name="product")
    file, states = tmp_path / "product.bdt", tmp_path / "states.csv"
    model.save(file)
    assert main(["eval", str(file), "--input", "x=0.5", "--input", "y=-1.0", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["outputs"], told["units"], told["values"]) == (["z"], ["m"], [[model.value(0.5, -1.0)]])
    states.write_text("y,x\n3,-4\n5,60\n", encoding="utf-8")
    assert main(["eval", str(file), str(states), "--words", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["values"] == [[model.words(-4, 3)], [model.words(31, 5)]] and told["out_of_range"] == {"x": 1}
    assert main(["eval", str(file), "--input", "x=0.5"]) == 2
    assert "function 'product' takes x, y: --input y=... is missing" in capsys.readouterr().err


def test_sweep_finds_no_more_than_is_proved(file, tmp_path, capsys):
    csv = tmp_path / "sweep.csv"
    assert main(["sweep", str(file), "--states", "3000", "--csv", str(csv)]) == 0
    assert "gravity: 3,000 random and 375 corner states" in capsys.readouterr().out
    assert csv.read_text(encoding="utf-8").startswith("model,quantity,output,")
    found = bt.sweep(bt.load(file), 3000)
    assert not found.exceeding
    assert all(0.4 < output.found <= output.proved for output in found.outputs)
    assert main(["sweep", str(file), "--terms"]) == 2
    assert "terms of torques: 'planar2r' is not the torque of q, qd and qdd" in capsys.readouterr().err


def test_a_sweep_notices_what_is_worse_than_proved(file, monkeypatch):
    true = bt.Model.true_units
    monkeypatch.setattr(bt.Model, "true_units", lambda *given: true(*given) * 1.2)
    assert bt.sweep(bt.load(file), 500).exceeding


def test_functions_are_swept_too(tmp_path, monkeypatch, capsys):
    words = {"inputs": {"x": (6, 2.0, "m"), "y": (6, "angle")}, "output": {"z": (8, 3.0, "m")}}
    model = bt.compile_function(lambda x, y: x * np.cos(y), **words, name="product")
    friction = np.array([[-1.0, -3.1], [-0.1, -2.0], [0.1, 2.0], [1.0, 3.4]])
    samples = bt.compile_samples(friction, inputs={"v": (8, 1.0)}, output={"f": (8, 4.0)}, name="measured")
    files = [tmp_path / "product.bdt", tmp_path / "measured.bdt"]
    for each, file in zip((model, samples), files, strict=True):
        each.save(file)
        [output] = bt.sweep(each, 2000).outputs
        assert 0.45 < output.found <= output.proved
        assert set(output.worst) == set(each.formats.words)
    plot = tmp_path / "both.png"
    assert main(["sweep", *map(str, files), "--states", "500", "--plot", str(plot)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "product, measured: 500 random and 63 corner states, 63 more in search of the worst" in said
    assert plot.read_bytes().startswith(b"\x89PNG")
    true = bt.Model.true_units
    monkeypatch.setattr(bt.Model, "true_units", lambda *given: true(*given) * 1.2)
    assert bt.sweep(model, 200).exceeding
    monkeypatch.undo()
    untraced = bt.compile_function(abs, inputs={"x": (4, 1.0)}, output={"y": (4, 1.0)}, trace="float")
    with pytest.raises(bt.BddTorqueError, match=r"use model.error_of\(function\)"):
        bt.sweep(untraced, 10)


def test_what_does_not_apply_is_refused_in_one_line(file, capsys):
    assert main(["terms", str(file)]) == 2
    said = capsys.readouterr().err
    assert "is not the torque of q, qd and qdd" in said and len(said.strip().splitlines()) == 1


@pytest.mark.everything  # compiles every contender, as test_bench_command.py does
def test_bench_times_batches_and_calls(file, capsys):
    assert main(["bench", str(file), "--states", "64", "--rounds", "2", "--json"]) == 0
    [report] = json.loads(capsys.readouterr().out)["reports"]
    assert report["quantity"] == "gravity" and report["bound"] < 1
    names = [each["name"] for each in report["calls"]]
    assert names[0] == "words, batch" and names[-1] == "general float64 code, batch"
    assert all(each["nanoseconds"] > 0 for each in report["calls"]) and report["calls"][-1]["ratio"] == 1
    assert main(["bench", str(file), "--states", "64", "--rounds", "1"]) == 0
    assert "gravity" in capsys.readouterr().out


def test_ask_answers(file, capsys):
    assert main(["ask", str(file), "--largest", "--where", "q[elbow]=0", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {answer["of"] for answer in said["answers"]} == {"tau1", "tau2"}
