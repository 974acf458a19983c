"""Saved and loaded: the same model, the same bytes, the same words; and one model has one file, whoever made it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bdt_files import digest_of, saved, signed, taken_apart
from compiled import compiled, with_source

import bddtorque as bt
from bddtorque.model.model import from_bytes, to_bytes

MODELS = [
    ("planar2r", {"bits": 2}),
    ("planar2r", {"bits": 4}),
    ("planar2r", {"bits": 8}),
    ("planar2r", {"bits": 12}),
    ("planar2r", {"bits": (5, 6), "input_bits": 7}),
    ("planar2r", {"bits": 4, "source": "recursive"}),
    ("planar2r", {"bits": 6, "source": "recursive", "products": "partial"}),
    ("planar2r", {"bits": 4, "accuracy": "paper"}),
    ("planar2r", {"bits": 6, "accuracy": 0.7}),
    ("planar2r", {"bits": 6, "torque": 20}),
    ("planar2r", {"bits": 4, "gravity": (0.0, -1.62, 0.0), "payload": (1.5, 0.0, 0.0, 0.05)}),
    ("planar3r_a", {"bits": 8}),
    ("scara", {"bits": 8}),
    ("scara", {"bits": 6, "source": "recursive"}),
]


@pytest.mark.parametrize(("robot", "options"), MODELS, ids=str)
def test_a_saved_model_is_the_model(robot: str, options: dict, tmp_path: Path) -> None:
    model = compiled(robot, **options)
    path = tmp_path / "arm.bdt"
    model.save(path)
    loaded = bt.load(path)
    assert loaded.digest == model.digest and loaded.diagram_digest == model.diagram_digest
    assert (loaded.robot, loaded.formats, loaded.plan) == (model.robot, model.formats, model.plan)
    assert loaded.certificate == model.certificate and str(loaded.certificate) == str(model.certificate)
    assert loaded.spec.canonical() == model.spec.canonical()
    for ours, theirs in zip(model.tables, loaded.tables, strict=True):
        assert np.array_equal(ours.values, theirs.values) and ours.content_key == theirs.content_key
    loaded.save(tmp_path / "again.bdt")
    assert (tmp_path / "again.bdt").read_bytes() == path.read_bytes()


def test_a_file_of_another_release_with_the_same_format_loads() -> None:
    header, arrays = taken_apart(saved(bits=2))
    model = from_bytes(signed({**header, "package": "0.0.9"}, arrays))
    assert model.digest == header["digest"] == digest_of(header)


def test_whole_and_numpy_numbers_in_a_robot_are_numbers() -> None:
    """What a robot was written with does not show: 10 kg is 10.0 kg."""
    robot = compiled(bits=2).robot
    joints = tuple(replace(joint, velocity=1, rotor_inertia=0, lower=-3, upper=3) for joint in robot.joints)
    frame = replace(robot.tip, translation=(1, 0, np.int64(0)))
    whole = replace(robot, joints=joints, tip=frame, allow_unphysical=np.bool_(False))
    model = bt.compile(whole, bits=2, acceleration=1, torque=200, workers=1)
    assert from_bytes(to_bytes(model)).digest == model.digest


@pytest.mark.parametrize(
    "name", ["arm.v2.toml", "folder.d/arm", "a.b.c.d.toml", ".hidden.toml", "back\\slash", "ünïcode"]
)
def test_files_of_robots_with_any_name(name: str) -> None:
    model = compiled(bits=2)
    model = with_source(model, spec=replace(model.spec, robot=name))
    loaded = from_bytes(to_bytes(model))
    assert loaded.digest == model.digest and to_bytes(loaded) == to_bytes(model)


@pytest.mark.parametrize("name", ["two\nlines", " elbow ", "\x1b[31mred", "ünï", "x" * 300])
def test_joints_with_any_name(name: str) -> None:
    robot = compiled(bits=2).robot
    robot = replace(robot, joints=(robot.joints[0], replace(robot.joints[1], name=name)))
    model = bt.compile(robot, bits=2, velocity=1, acceleration=1, torque=200, workers=1)
    loaded = from_bytes(to_bytes(model))
    assert loaded.digest == model.digest and loaded.formats.tau.labels == ("shoulder", name)


def test_names_that_are_no_text_are_refused_when_saving() -> None:
    model = compiled(bits=2)
    with pytest.raises(bt.BddTorqueError, match="a name has half of a surrogate pair"):
        to_bytes(with_source(model, robot=replace(model.robot, source="\ud800")))


def test_what_loading_takes_is_bounded() -> None:
    data = saved(bits=4)
    assert from_bytes(data, memory="1 MiB").digest == compiled(bits=4).digest
    with pytest.raises(bt.BddTorqueError, match=r"arm.bdt: tables of 1 MiB are more than the 1 KiB allowed: "):
        from_bytes(data, "arm.bdt", memory=1024)
    with pytest.raises(bt.BddTorqueError, match="memory must be a size in bytes"):
        from_bytes(data, memory="much")


def test_a_model_too_large_for_a_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = compiled(bits=2)
    monkeypatch.setattr("bddtorque.base.archive.LARGEST_FILE", len(saved(bits=2)))
    assert to_bytes(model) == saved(bits=2)  # the size is foreseen to the byte
    monkeypatch.setattr("bddtorque.base.archive.LARGEST_FILE", len(saved(bits=2)) - 1)
    with pytest.raises(bt.BddTorqueError, match=r"must have at most .* entries and .* bytes"):
        to_bytes(model)
    monkeypatch.setattr("bddtorque.model.bdt_file.LARGEST_HEADER", 1000)
    with pytest.raises(bt.BddTorqueError, match=r"a .bdt file has at most 1000 B, and this one"):
        to_bytes(model)
