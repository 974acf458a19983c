"""`compile`, `info`, `verify`."""

import json
import os
import re
from pathlib import Path

import pytest
from compiled import rubbing_arm

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.cli.options import read_word_lengths
from bddtorque.compiler.verify import Check
from bddtorque.robots.robot_data import robot_from_plain

SMALL = ["--bits", "5", "--block-bits", "10", "--workers", "1", "--no-cache"]


def test_compile_writes_a_model_and_says_what_it_made(run, tmp_path):
    path = tmp_path / "arm.bdt"
    ran = run("compile", "planar2r", "-o", path, *SMALL)
    assert ran.code == 0
    assert ran.err == ""
    for word in ("--target float", "--target integer --chip NAME", "bound", "N·m", "effective", "faithful", "look-ups"):
        assert word in ran.out
    assert str(path) in ran.out
    assert bt.load(path).digest in ran.out
    assert list(tmp_path.iterdir()) == [path]


def test_compile_as_json(run, tmp_path):
    path = tmp_path / "arm.bdt"
    told = json.loads(run("compile", "planar2r", "-o", path, *SMALL, "--json").out)
    model = bt.load(path)
    assert told["digest"] == model.digest
    assert told["bound"] == list(model.certificate.bounds)
    assert told["report"]["file_bytes"] == path.stat().st_size
    assert told["certificate"] == model.certificate.to_plain()
    assert [each["joint"] for each in told["ranges"]] == ["shoulder", "elbow"]
    assert all(each["reached"] <= each["at_most"] and each["effective_bits"] > 1 for each in told["ranges"])
    assert {"seconds", "peak_bytes", "blocks_from_cache", "engine"} <= set(told["report"])


def test_compile_names_the_file_after_the_spec(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my_arm.toml").write_text('robot = "planar2r"\nbits = 4\n', encoding="utf-8")
    assert run("compile", "my_arm.toml", "--workers", "1", "--no-cache").code == 0
    assert bt.load("my_arm.bdt").formats.tau.bits == (4, 4)


def test_flags_take_the_place_of_the_spec(run, tmp_path):
    path = tmp_path / "arm.bdt"
    flags = ["--bits", "5,4", "--input-bits", "position=6", "--input-bits", "velocity=4,5", "--qd-max", "2"]
    flags += ["--acceleration", "-1:2,3", "--tau-max", "300,100", "--memory", "1GiB", "--source", "terms"]
    assert run("compile", "planar2r", "-o", path, *flags, "--workers", "1", "--no-cache").code == 0
    formats = bt.load(path).formats
    assert (formats.tau.bits, formats.q.bits, formats.qd.bits) == ((5, 4), (6, 6), (4, 5))
    assert [(word.low, word.high) for word in formats.qdd] == [(-1, 2), (-3, 3)]
    assert [word.high for word in (*formats.qd, *formats.tau)] == [2, 2, 300, 100]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no_such_arm"], "unknown robot or specification 'no_such_arm'"),
        (["no_such_file.toml"], "there is no such file"),
        (["planar2r", "--bits", "1"], "bddtorque: --bits must be between 2 and 24, got 1\n"),
        (["planar2r", "--bits", "twelve"], "--bits"),
        (["planar2r", "--bits", "8,8,8"], "--bits must be one number, or one per joint (2 in robot"),
        (["planar2r", "--accuracy", "perfect"], "'faithful', 'paper'"),
        (["planar2r", "--accuracy", "0.4"], "0.5"),
        (["planar2r", "--memory", "lots"], "--memory must be a size"),
        (["planar2r", "--memory", "1MiB"], "memory"),
        (["planar2r", "--block-bits", "99"], "--block-bits must be between"),
        (["planar2r", "--velocity", "fast"], "--velocity"),
        (["planar2r", "--velocity", "1e300"], "values within float64: Numerical result out of range\n"),
        (["planar2r", "--velocity", "-1"], "--velocity must be a positive number"),
        (["planar2r", "--engine", "diesel"], "engine"),
        (["planar2r", "--workers", "0"], "workers"),
        (["planar2r", "--input-bits", "8", "--input-bits", "9"], "--input-bits"),
        (["planar2r", "--input-bits", "speed=8"], "speed"),
        (["planar2r", "-o", "no/such/folder/arm.bdt"], "no folder"),
        (["planar2r", "-o", "."], "folder"),
        (["something.bdt"], "but something.bdt is a compiled model"),
        (
            ["states.csv"],
            "SPEC must be a specification or a robot (.toml, .urdf), but states.csv is data; "
            "for measured samples, use --samples states.csv",
        ),
        (["states.npy"], "SPEC must be a specification or a robot (.toml, .urdf), but states.npy is data\n"),
    ],
)
def test_compile_refuses_in_a_line_and_writes_nothing(refused, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    assert said in refused("compile", *arguments)
    assert list(tmp_path.iterdir()) == []


PENDULUM = """name = "pendulum"
gravity = [0.0, -9.81, 0.0]
[[joint]]
name = "swing"
type = "revolute"
dh = { a = 1.0, alpha = 0.0, d = 0.0 }
limits = { position = ["-pi", "pi"], velocity = 1.0, acceleration = 1.0, effort = 20.0 }
link = { name = "rod", mass = 1.0, centre_of_mass = [0.0, 0.0, 0.0], inertia = [0.0, 0.0, 0.0] }
"""


def test_one_of_a_kind_is_said_in_the_singular(run, tmp_path):
    robot, path = tmp_path / "pendulum.toml", tmp_path / "pendulum.bdt"
    robot.write_text(PENDULUM, encoding="utf-8")
    shown = run("compile", robot, "-o", path, "--bits", "4", "--workers", "1", "--no-cache").out
    shown += run("plan", robot, "--bits", "4").out + run("info", path).out
    assert len(re.findall(r"pendulum, 1 joint\b", shown)) == 2
    assert not re.findall(r"\b1 (?:joint|input|look-?up|product|sum|angle sum|block|row|summand|node)s\b", shown)


def test_an_interrupted_compilation_leaves_the_old_file(run, tmp_path, monkeypatch):
    path = tmp_path / "arm.bdt"
    path.write_text("old", encoding="utf-8")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bddtorque.base.files.os.fsync", interrupt)
    assert run("compile", "planar2r", "-o", path, *SMALL).code == 130
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_info_shows_everything(run, model, model_file):
    ran = run("info", model_file, "--levels")
    assert ran.code == 0
    for word in (
        "planar2r",
        model.digest,
        model.diagram_digest,
        "tau:elbow",
        "angles wrap",
        "faithful",
        "constant",
        "effective bits",
    ):
        assert word in ran.out
    assert max(map(len, ran.out.splitlines())) <= 160
    for block in model.tables:
        assert block.content_key[:12] in ran.out
    assert " ".join(map(str, model.diagrams[0].level_widths)) in ran.out
    assert [line for line in ran.out.splitlines() if line != line.rstrip()] == []
    assert "effective bits" in ran.out.rpartition("Torques")[2]
    assert ran.out.index("Blocks") < ran.out.index("Proved for every input word") < ran.out.rindex("Torques")


def test_info_shows_every_parameter_of_the_robot(run, tmp_path):
    """Frames, centres of mass, inertias and friction too, to the last digit."""
    path, model = tmp_path / "arm.bdt", rubbing_arm()
    model.save(path)
    told = json.loads(run("info", path, "--robot", "--json").out)["robot"]
    assert robot_from_plain(told) == model.robot
    assert json.loads(run("info", path, "--json").out)["robot"] == told
    lines = [line.strip() for line in run("info", path, "--robot").out.splitlines()]

    def leaves(plain):
        """Yield what has no names in it, with its own name."""
        for name, value in plain.items():
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, dict):
                    yield from leaves(part)
            if not isinstance(value, dict) and not (isinstance(value, list) and isinstance(value[0], dict)):
                yield name, value

    for name, value in leaves(told):
        assert any(line.split(maxsplit=1) == [name, json.dumps(value, ensure_ascii=False)] for line in lines), name
    assert {"inertia", "centre_of_mass", "rotation", "friction"} <= {line.split()[0] for line in lines if line}


def test_a_function_has_no_robot_to_show(refused, tmp_path):
    path = tmp_path / "square.bdt"
    bt.compile_function(lambda x: x * x, inputs={"x": (4, 1.0)}, output=4).save(path)
    said = "is a function, which has no joints: compile a robot"
    assert refused("info", path, "--robot") == f"bddtorque: {path}: parameters of the robot: 'function' {said}\n"


def test_info_says_which_forms_are_taken_and_why(run, model, model_file, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # no cell is broken over lines
    told = json.loads(run("info", model_file, "--json").out)
    assert [each["form"] for each in told["chosen_forms"]] == ["dense"] * len(model.tables)
    assert all("the least" in each["reason"] for each in told["chosen_forms"])
    assert told["constant_sequence"] == {
        "constant": True,
        "why": "look-ups (dense) and sums only; evaluator 'words'",
    }
    assert "dense: cost " in run("info", model_file, "--levels").out


@pytest.mark.parametrize("command", ["info", "eval", "sweep", "verify"])
def test_files_that_are_missing_are_bad_use(refused, tmp_path, command):
    more = ["--q", "0,0"] if command == "eval" else []
    assert "no such file" in refused(command, tmp_path / "missing.bdt", *more)


@pytest.mark.parametrize("command", ["info", "eval", "sweep"])
@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04 but no archive"])
def test_foreign_files_are_refused_in_a_line(refused, tmp_path, command, content):
    path = tmp_path / "foreign.bdt"
    path.write_bytes(content)
    more = ["--q", "0,0"] if command == "eval" else []
    assert str(path) in refused(command, path, *more)


def test_verify_says_each_check_and_its_verdict(run, model_file):
    ran = run("verify", model_file, "--workers", "1")
    assert ran.code == 0
    assert "FAIL" not in ran.out
    assert ran.out.endswith(": verified\n")
    told = json.loads(run("verify", model_file, "--workers", "1", "--json").out)
    assert told["verified"]
    assert {"tables", "diagrams", "certificate"} <= {check["name"] for check in told["checks"]}


def test_verify_finds_an_altered_file_wanting(run, model_file, tmp_path):
    data = bytearray(model_file.read_bytes())
    data[len(data) // 2] ^= 1
    path = tmp_path / "altered.bdt"
    path.write_bytes(data)
    ran = run("verify", path)
    assert ran.code == 1
    assert "FAIL" in ran.out
    assert "NOT verified" in ran.out
    assert not json.loads(run("verify", path, "--json").out)["verified"]


def test_verify_says_what_is_no_file(refused, tmp_path):
    assert "FILE must be a .bdt file, but " in refused("verify", tmp_path)
    assert "there is no such file" in refused("verify", tmp_path / "none.bdt")
    if Path(os.devnull).exists():
        assert "is not a regular file" in refused("verify", os.devnull, "--independent")


def test_verify_names_the_check_that_failed(run, model_file, monkeypatch):
    checks = [Check("file", True, "fine"), Check("tables", False, "entry 3 must be 4")]
    monkeypatch.setattr("bddtorque.compiler.verify.verify", lambda *_, **__: checks)
    ran = run("verify", model_file)
    assert ran.code == 1
    assert "FAIL  tables        entry 3 must be 4" in ran.out


def test_word_lengths_to_compare():
    assert read_word_lengths("6:8") == [6, 7, 8]
    assert read_word_lengths("12,6:7,6") == [12, 6, 7]


@pytest.mark.parametrize("text", ["", "8:6", "1:4", "20:25", "6:", "a", "6..8"])
def test_word_lengths_that_make_no_sense(text):
    with pytest.raises(BddTorqueError, match="6:12"):
        read_word_lengths(text)
