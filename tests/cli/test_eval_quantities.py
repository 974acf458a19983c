"""`eval` of quantities and functions."""

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
