"""The independent checker: content with what the compiler writes, with nothing else, and sharing nothing with it."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from compiled import compiled
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import proved_findings
from oracle import pinocchio_model, random_states, rnea
from random_cases import random_arm, random_function, random_quantity
from recursion_numbers import Number, Plain
from sample_robots import TWO_LINKS
from strategies import random_robot

import bddtorque as bt
from bddtorque.cli import main
from bddtorque.independent import check_bytes, check_file
from bddtorque.independent.__main__ import main as alone
from bddtorque.independent.dynamics import State, torques
from bddtorque.independent.robots import robot_of
from bddtorque.model.model import to_bytes
from bddtorque.robots.robot_data import robot_to_plain

FOLDER = Path(bt.__file__).parent / "independent"
LAST = ["certificate", "saturation"]
STEPS = ["archive", "header", "diagrams", "tables", "words", "widths", "ranges", "dynamics", *LAST]
FUNCTION_STEPS = [step if step != "dynamics" else "function" for step in STEPS]
FLOATS = [{"target": "float"}, {"target": "float", "precision": "double"}]
SPEC = """robot = "planar2r"
bits = 5
[[joint]]
name = "shoulder"
sign = -1
offset = 0.7
friction = { viscous = 2.0, coulomb = [4.0, 5.0], static = [8.0, 7.0], stribeck_velocity = 0.05 }
velocity = [-0.5, 1.5]
torque = [-150.0, 260.0]
[[joint]]
name = "elbow"
friction = { samples = "elbow.csv" }
"""


@cache
def small() -> bytes:
    return to_bytes(bt.compile("planar2r", bits=4, workers=1))


def content(model) -> list[str]:
    """Return the steps of a file that is proved; fail with what was found otherwise."""
    return [each.name for each in proved_findings(to_bytes(model))]


OPTIONS = [
    {"bits": 5},
    {"bits": 3, "source": "recursive"},
    {"bits": 3, "accuracy": "paper"},
    {"bits": 4, "accuracy": 0.6},
    {"bits": 4, "torque": 20},
    {"bits": 5, "source": "recursive", "products": "partial"},
    {"bits": 8, "target": "float"},
    {"bits": 4, "target": "float", "precision": "double", "torque": 20},
    {"bits": 22, "target": "float", "precision": "single", "accuracy": 1e4},
    {"bits": 4, "gravity": [0.0, 0.0, -9.81]},
    {"bits": 4, "payload": [1.5, 0.0, 0.1, 0.05]},
    {"bits": 4, "input_bits": 5},
    {"velocity": [(-1.0, 2.0), (-1.0, 2.0)]},
    {"bits": 10, "velocity": [(0.0, 1.0), (0.2, 1.0)]},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_arms_are_proved(options):
    assert content(bt.compile("planar2r", workers=1, **options)) == STEPS


@pytest.mark.parametrize("options", [{}, {"source": "recursive"}, {"accuracy": "paper"}, *FLOATS], ids=str)
def test_friction_signs_offsets_and_uneven_ranges(options, tmp_path):
    (tmp_path / "arm.toml").write_text(SPEC)
    (tmp_path / "elbow.csv").write_text("v,f\n-1,-2\n-0.5,-1.5\n0,0\n0.5,1.4\n1,2\n")
    assert content(bt.compile(str(tmp_path / "arm.toml"), workers=1, **options)) == STEPS


@pytest.mark.parametrize("options", [{}, {"source": "recursive"}, *FLOATS], ids=str)
def test_a_sliding_joint_and_rotations_that_floats_round(options, tmp_path):
    (tmp_path / "two.urdf").write_text(TWO_LINKS)
    path, ranges = str(tmp_path / "two.urdf"), {"acceleration": 4.0, "torque": 60.0}
    assert content(bt.compile(path, bits=5, workers=1, **ranges, **options)) == STEPS


FEW = (1, 2, 4, 40, 257, 910_053, 910_117)
"""Small arms; one whose range holds just so at the ends of a sliding joint, one with a wave that is weak but counts,
two with arithmetic that is charged for rotations in floats."""
SEEDS = [*FEW, *(pytest.param(seed, marks=pytest.mark.everything) for seed in range(300) if seed not in FEW)]
"""`make test-all` tries all 300."""


@pytest.mark.parametrize("seed", SEEDS)
def test_no_arm_is_refused(seed):
    assert content(random_arm(seed)) == STEPS


@pytest.mark.parametrize(
    "seed", [*range(27), *(pytest.param(seed, marks=pytest.mark.everything) for seed in range(27, 540))]
)
def test_no_quantity_is_refused(seed):
    """Each quantity and target once; `make test-all` tries each twenty times."""
    model = random_quantity(seed)
    assert model is None or content(model) == STEPS


@pytest.mark.parametrize("seed", SEEDS)
def test_no_function_is_refused(seed):
    assert content(random_function(seed)) == FUNCTION_STEPS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("scara", "tables"),
        ("scara", "float"),
        *(pytest.param(*case, marks=pytest.mark.everything) for case in (("stanford", "tables"), ("ur5", "tables"))),
    ],
)
def test_large_arms(name, target):
    assert content(compiled(name, bits=8, target=target)) == STEPS


@pytest.mark.everything
@pytest.mark.parametrize("target", ["tables", "float"])
@pytest.mark.parametrize("name", ["planar3r_a", "planar3r_b", "scara", "stanford", "puma560", "ur5", "panda"])
def test_every_arm_at_12_bits(name, target):
    assert content(bt.compile(name, workers=1, target=target)) == STEPS


@pytest.mark.everything
@pytest.mark.parametrize("target", ["float", "integer"])
def test_seven_joints_with_gravity_across_the_first(target):
    robot = random_robot(["revolute"] * 7, ["tilted"] * 7, 5, rotors=False)
    options = {"velocity": 1.5, "acceleration": 4.0, "accuracy": 2.0}
    assert content(bt.compile(robot, bits=10, workers=1, target=target, cache=None, **options)) == STEPS


@pytest.mark.everything
def test_the_panda_on_a_wall_in_integers():
    """Gravity across the first axis: the sum of all amplitudes is 24 % more than the file's bound leaves."""
    robot = replace(bt.load_robot("panda"), gravity=(9.81, 0.0, 0.0))
    assert content(bt.compile(robot, bits=12, workers=1, target="integer", cache=None)) == STEPS


@pytest.mark.everything
def test_eight_joints_in_integers():
    robot = random_robot(["revolute"] * 8, ["tilted"] * 8, 5, rotors=False)
    options = {"velocity": 1.5, "acceleration": 4.0, "accuracy": 2.0}
    assert content(bt.compile(robot, bits=12, workers=1, target="integer", cache=None, **options)) == STEPS


def waving(q, p, v):
    return 3.0 * np.cos(q + p) * v * v + np.sin(2 * q) - v


FUNCTIONS = {
    "table": lambda: bt.compile_function(
        lambda x, y: x * y + 0.1, inputs={"x": (5, 2.0), "y": (5, (-1.0, 3.0))}, output=(8, 8.0)
    ),
    "cascade": lambda: bt.compile_function(
        waving, inputs={"q": (8, "angle"), "p": (8, "angle"), "v": (8, 2.0)}, output=(8, 20.0), block_bits=10
    ),
    "in floats": lambda: bt.compile_function(
        lambda a, b, v: np.sin(2 * a - b) * v + np.cos(a + 0.3),
        inputs={"a": (5, "angle"), "b": (4, "angle"), "v": (4, 2.0)},
        output=(8, 4.0),
        target="float",
    ),
    "offset": lambda: bt.compile_function(
        lambda q, v: np.cos(q + 0.3) * v, inputs={"q": (8, "angle"), "v": (8, 2.0)}, output=(8, 3.0)
    ),
    "uneven": lambda: bt.compile_function(
        lambda x, y: x * y + x * x * 0.3 - y, inputs={"x": (12, 2.0), "y": (12, (0.0, 3.0))}, output=12
    ),
    "nothing": lambda: bt.compile_function(lambda x: 0.0 * x, inputs={"x": (12, 2.0)}, output=(12, 1.0)),
    "constant": lambda: bt.compile_function(lambda x: 0.0 * x + 1.5, inputs={"x": (8, 2.0)}, output=(12, 2.0)),
    "float": lambda: bt.compile_function(np.exp, inputs={"x": (8, 2.0)}, output=(8, 8.0), trace="float"),
    "friction": lambda: bt.compile_function(
        bt.Friction(0.5, (1.0, 1.2), (1.5, 1.6), 0.1), inputs={"v": (8, 3.0)}, output=(8, 2.0), assumed_error=0.01
    ),
    "samples": lambda: bt.compile_samples(
        (
            np.array([(a, b) for a in np.arange(-4, 4) * np.pi / 4 for b in (0.0, 0.4, 1.0)]),
            np.array([np.cos(a) * (1 + b) for a in np.arange(-4, 4) * np.pi / 4 for b in (0.0, 0.4, 1.0)]),
        ),
        inputs={"q": (8, "angle"), "w": (5, (0.0, 1.0))},
        output=10,
    ),
    "nearest": lambda: bt.compile_samples(
        (np.array([(0.0, 0.0), (1.0, 0.2), (0.3, 0.9)]), np.array([1.0, -2.0, 3.0])),
        inputs={"x": (4, (0.0, 1.0)), "y": (4, (0.0, 1.0))},
        output=6,
        gaps="nearest",
        extrapolation="hold",
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_proved(name):
    assert content(FUNCTIONS[name]()) == FUNCTION_STEPS


def test_given_words_are_not_said_to_be_proved():
    told = {each.name: each.detail for each in check_bytes(to_bytes(FUNCTIONS["float"]()))}
    assert "given" in told["tables"] and "only the function itself" in told["function"]
    assert "stated" in told["certificate"]


@settings(max_examples=examples(30))
@given(st.lists(st.sampled_from(["revolute", "prismatic"]), min_size=1, max_size=6), st.integers(0, 10**6))
def test_its_newton_euler_is_pinocchios(kinds, seed):
    robot = random_robot(kinds, ["tilted"] * len(kinds), seed, payload=bool(seed % 2))
    model = pinocchio_model(robot)
    q, qd, qdd = random_states(robot, 5, seed)
    columns = [[Number(column) for column in each.T] for each in (q, np.sin(q), np.cos(q), qd, qdd)]
    own = torques(robot_of(json.loads(json.dumps(robot_to_plain(robot)))), State(*columns), Plain())
    found = np.stack([np.broadcast_to(each.value, len(q)) for each in own], axis=1)
    wanted = rnea(model, q, qd, qdd)
    assert np.allclose(found, wanted, rtol=0, atol=1e-9 * (1 + np.abs(wanted).max()))


def test_another_arm_is_no_proof_of_this_one():
    model = bt.compile("planar2r", bits=4, workers=1)
    heavier = replace(model.robot.links[1], mass=9.0)
    other = replace(
        model, provenance=replace(model.provenance, robot=replace(model.robot, links=(model.robot.links[0], heavier)))
    )
    found = check_bytes(to_bytes(other))
    assert (
        found[-1].name == "dynamics"
        and not found[-1].passed
        and "units of the truth (what the bound leaves for that), but only" in found[-1].detail
    )


@settings(max_examples=examples(150))
@given(st.data())
def test_no_byte_can_be_changed_and_nothing_makes_it_stumble(data):
    whole = small()
    at = data.draw(st.integers(0, len(whole) - 1))
    value = data.draw(st.integers(0, 255).filter(lambda value: value != whole[at]))
    found = check_bytes(whole[:at] + bytes([value]) + whole[at + 1 :])
    assert not found[-1].passed and "\n" not in found[-1].detail


@settings(max_examples=examples(60))
@given(st.one_of(st.binary(max_size=300), st.integers(0, 27000).map(lambda n: small()[:n])))
def test_what_is_no_file_is_refused(data):
    found = check_bytes(data)
    assert [each.passed for each in found] == [False]


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(str(node.module))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 1  # of its own folder
    return {name.split(".")[0] for name in names}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_it_imports_numpy_and_the_standard_library_alone(path):
    assert imported(path) <= {"numpy"} | set(sys.stdlib_module_names)
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 450


def test_the_folder_works_by_itself_elsewhere(tmp_path):
    shutil.copytree(FOLDER, tmp_path / "independent", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "arm.bdt").write_bytes(small())
    (tmp_path / "bad.bdt").write_bytes(small()[:-1])
    code = (
        "import sys; sys.path.insert(0, '.'); from independent.__main__ import main\n"
        "said = main(['arm.bdt']), main(['bad.bdt']), main([])\n"
        "assert said == (0, 1, 2), said\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} - set(sys.stdlib_module_names)))\n"
    )
    run = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            f"import sys; sys.path.append({str(Path(np.__file__).parents[1])!r})\n" + code,
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "bddtorque" not in run.stdout.splitlines()[-1] and "numba" not in run.stdout.splitlines()[-1]


def test_the_command(tmp_path, capsys):
    path = tmp_path / "arm.bdt"
    path.write_bytes(small())
    assert main(["verify", str(path), "--independent"]) == 0
    told = capsys.readouterr().out
    assert "ok    dynamics" in told and "verified" in told
    rows = re.findall(
        r"^ok    certificate   (\w+): bound 0\.\d+ units in the file, 0\.\d+ proved here; ", told, re.MULTILINE
    )
    assert rows == ["shoulder", "elbow"] and max(map(len, told.splitlines())) < 170
    assert main(["verify", str(path), "--independent", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["verified"] and told["independent"] and [each["name"] for each in told["checks"]] == STEPS
    assert [each["name"] for each in told["checks"] if "rows" in each] == ["certificate"]
    path.write_bytes(small()[:-1])
    assert main(["verify", str(path), "--independent"]) == 1
    assert "FAIL  archive" in capsys.readouterr().out
    assert main(["verify", str(path), "--independent", "--workers", "2"]) == 2
    assert "--workers and --dask cannot be given with --independent" in capsys.readouterr().err
    assert not check_file(tmp_path / "none.bdt")[0].passed


@pytest.mark.parametrize(("data", "said"), [(b"", "this file is empty"), (b"<robot/>" * 9, "this is something else")])
def test_what_is_no_archive_is_said_to_be_none(data, said, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_bytes(data)
    [found] = check_file(path)
    assert (found.name, found.passed) == ("archive", False)
    assert found.detail == f"expected a .bdt file (a zip archive), but {said}"


def test_it_says_how_it_is_used(capsys):
    for asked in ("--help", "-h"):
        assert alone([asked]) == 0
        shown = capsys.readouterr()
        assert shown.out.startswith("usage: python -m bddtorque.independent FILE\n") and shown.err == ""
    assert alone([]) == 2
    assert capsys.readouterr() == ("", "usage: python -m bddtorque.independent FILE\n")


def test_the_commands_of_its_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parents[2] / "docs" / "independent.md"
    text = page.read_text(encoding="utf-8").splitlines()
    lines = [line[2:].split() for line in text if line.startswith("$ ")]
    assert len(lines) == 4
    for command, *arguments in lines:
        run = main if command == "bddtorque" else alone
        assert run(arguments if command == "bddtorque" else arguments[2:]) == 0
    shown = capsys.readouterr().out
    assert shown.count("dynamics") == 3
    sample = [line for line in text if line.startswith("ok    ")]
    assert len(sample) == 2 and all(shown.count(f"{line}\n") == 2 for line in sample)
