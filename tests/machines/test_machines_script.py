"""`python experiments/machines.py`: a table, JSON, a picture; 1 where a machine differs; refusals in one line."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from compiled import arm

import bddtorque as bt
from bddtorque.model.model import Model
from machines import machine_torques

SCRIPT = Path(__file__).parents[2] / "experiments" / "machines.py"
FAMILIES = {
    "Newton-Euler general", "Newton-Euler", "Luh-Lin", "Binder/Herzog", "Hamilton new", "Lathrop linear",
    "Lathrop logarithmic", "Fijany array", "Horn-Raibert", "terms by bits", "terms by words",
}  # fmt: skip
FEW = ["--states", "4"]


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def model() -> Model:
    return arm(6, block_bits=12)


@pytest.fixture(scope="module")
def model_file(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "small.bdt"
    model.save(path)
    return path


@pytest.fixture(scope="module")
def main() -> Callable[[list[str]], int]:
    spec = importlib.util.spec_from_file_location("machines_script", SCRIPT)  # `machines` is the library
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script.main


@pytest.fixture
def run(main: Callable[[list[str]], int], capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    def running(*arguments: object) -> Ran:
        code = main([str(argument) for argument in arguments])
        return Ran(code, *capsys.readouterr())

    return running


def test_the_script_runs_by_its_path_from_any_folder(tmp_path):
    """Started so, its own folder comes first: `import machines` there must find the library and not the script."""
    ran = subprocess.run([sys.executable, SCRIPT, "--help"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("Usage: python experiments/machines.py ARM|FILE [options]\n")
    assert "--costs" in ran.stdout and "Example: python experiments/machines.py planar2r" in ran.stdout


def test_every_machine_runs_and_agrees(run, model, model_file, tmp_path):
    plot = tmp_path / "machines.svg"
    ran = run(model_file, *FEW, "--json", "--plot", plot)
    assert (ran.code, ran.err) == (0, "")
    found = json.loads(ran.out)
    assert (found["robot"], found["costs"], found["states"]) == ("planar2r", "word", 4)
    assert found["bounds"] == list(model.certificate.bounds)
    machines = {each["name"]: each for each in found["machines"]}
    assert {name.split(",")[0] for name in machines} == FAMILIES
    for name, each in machines.items():
        rounded = name.startswith("Horn-Raibert")
        assert each["agrees"] is (None if rounded else True), name
        assert each["units"] <= max(found["bounds"]) + rounded
        assert " by " in name or each["error"] < (1e-3 if rounded else 1e-12)
    assert machines["Luh-Lin"]["processors"] == 2 and machines["Luh-Lin"]["messages"] > 0
    assert b"<svg" in plot.read_bytes()[:1000]


def test_people_get_a_table_in_the_cost_model_they_ask_for(run, model_file, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    word, bit = (run(model_file, *FEW, "--costs", costs) for costs in ("word", "bit"))
    assert (word.code, bit.code) == (0, 0)
    assert "word steps from a state to its" in word.out and "exact after 3 loops" in word.out
    assert "…" not in word.out + bit.out
    assert max(map(len, word.out.splitlines())) <= 80
    lines = [next(line.split() for line in ran.out.splitlines() if "Hamilton new" in line) for ran in (word, bit)]
    assert lines[0][2] == lines[1][2] == "9" and int(lines[1][3].replace(",", "")) > 10 * int(lines[0][3])


def test_a_machine_that_differs_is_told_and_exits_with_1(run, model_file, monkeypatch):
    right = machine_torques.torque_runs

    def wrong(robot, bits):
        runs = dict(right(robot, bits))
        return {**runs, "Luh-Lin": lambda q, qd, qdd: runs["Luh-Lin"](q, qd, qdd) * (1 + 1e-6)}

    monkeypatch.setattr(machine_torques, "torque_runs", wrong)
    monkeypatch.setenv("COLUMNS", "200")
    ran = run(model_file, *FEW)
    assert ran.code == 1
    assert [line for line in ran.out.splitlines() if "differ" in line] == ["Luh-Lin: the torques differ"]


def test_words_beyond_their_certificate_are_told(run, model_file, monkeypatch):
    bounds = machine_torques._Truth.compare

    def less(truth, torques):
        error, units, _ = bounds(truth, torques)
        return error, units, units < 0.01

    monkeypatch.setattr(machine_torques._Truth, "compare", less)
    ran = run(model_file, *FEW, "--json")
    assert ran.code == 1
    assert {each["agrees"] for each in json.loads(ran.out)["machines"]} == {False, None}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["planar2r", "--states", "0"], "--states must be between 1 and 1000, got 0"),
        ([], "ARM|FILE is missing; see python experiments/machines.py --help"),
        (["planar2r", "--costs", "money"], "--costs must be 'word', 'bit' or 'cell', got 'money'"),
        (["planar2r", "--target", "float"], "unknown option '--target'"),
        (["planar2r", "--plot", "x.txt"], ".png"),
        (["float.bdt"], "float.bdt was compiled for target 'float': compile it for 'tables'"),
        (["gravity.bdt"], "is not the torque of q, qd and qdd"),
        (["rubbing.bdt"], "robot 'planar2r' has friction, which no machine of the literature computes"),
    ],
)
def test_refusals(run, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "float.bdt" in arguments:
        arm(8, target="float", workers=1).save("float.bdt")
    if "gravity.bdt" in arguments:
        bt.compile("planar2r", quantity="gravity", bits=4, workers=1).save("gravity.bdt")
    if "rubbing.bdt" in arguments:
        robot = bt.load_robot("planar2r").with_friction({"elbow": 0.1})
        bt.compile(robot, bits=3, position=1.0, velocity=1.0, acceleration=1.0, workers=1).save("rubbing.bdt")
    ran = run(*arguments)
    assert ran.code == 2 and message in ran.err and ran.err.count("\n") == 1
