"""Specifications written and read again, found by name when installed; sizes as people write them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.measures import format_size, parse_size
from bddtorque.base.shown_text import counted
from bddtorque.robots import load_robot
from bddtorque.spec import (
    InputBits,
    JointSpec,
    Payload,
    Ranges,
    Spec,
    from_toml,
    load_spec,
    save_spec,
    spec_from_plain,
)

ROOT = Path(__file__).resolve().parents[2]


def ranges() -> st.SearchStrategy[tuple[float, float]]:
    return st.tuples(st.floats(-1e3, -1e-3), st.floats(1e-3, 1e3))


BITS = st.integers(2, 24) | st.lists(st.integers(2, 24), min_size=1, max_size=7).map(tuple)
QUANTITIES = ("position", "velocity", "acceleration", "torque")
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
JOINTS = st.fixed_dictionaries(
    {"sign": st.sampled_from([1, -1]), "offset": st.floats(-10, 10)}, optional={each: ranges() for each in QUANTITIES}
)
VECTORS = st.tuples(*[st.floats(-10, 10)] * 3)
SPECS = st.builds(
    Spec,
    robot=NAMES,
    base=st.none() | NAMES,
    tip=st.none() | NAMES,
    lock=st.sampled_from([None, "others"]) | st.dictionaries(NAMES, st.floats(-3, 3), max_size=3),
    gravity=st.none() | VECTORS,
    payload=st.none() | st.builds(Payload, st.floats(1e-3, 50), VECTORS, st.none() | VECTORS),
    snap=st.none() | st.floats(0, 1e-3),
    ignore_friction=st.booleans(),
    allow_massless=st.booleans(),
    allow_unphysical=st.booleans(),
    bits=BITS,
    input_bits=st.none() | BITS | st.builds(InputBits, BITS, st.none() | BITS, BITS),
    accuracy=st.sampled_from(["faithful", "paper", 0.75]),
    block_bits=st.integers(4, 28),
    products=st.sampled_from(["auto", "blocks", "squares", "partial"]),
    memory=st.integers(2**20, 2**40),
    source=st.sampled_from(["auto", "terms", "recursive"]),
    target=st.sampled_from(["tables", "float"]),
    ranges=st.builds(Ranges, st.none() | ranges(), velocity=st.lists(ranges(), min_size=1, max_size=3)),
    joints=st.lists(NAMES, unique=True, max_size=3).flatmap(
        lambda names: st.tuples(*(JOINTS.map(lambda each, name=name: JointSpec(name, **each)) for name in names))
    ),
)


@given(SPECS)
def test_written_specs_read_back_equal(spec: Spec) -> None:
    assert from_toml(str(spec)) == spec
    plain = json.loads(json.dumps(spec.to_plain(), allow_nan=False))
    assert spec_from_plain(plain) == spec
    assert list(spec.canonical()) == sorted(spec.canonical())


def test_canonical_does_not_depend_on_folders() -> None:
    assert Spec("a/arm.urdf").canonical() == Spec("arm.urdf", directory=Path("b")).canonical()
    assert Spec("arm.urdf").canonical()["robot"] == "arm"


def test_saved_specs_find_their_robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("robots", "specs", "out"):
        (tmp_path / folder).mkdir()
    shutil.copy(ROOT / "bddtorque" / "robots" / "builtin" / "planar2r.toml", "robots/two.toml")
    Path("specs/two.toml").write_text('robot = "../robots/two.toml"\n', encoding="utf-8")
    spec = load_spec("specs/two.toml")
    load_robot(spec.robot_location)
    save_spec(spec, "out/two.toml")
    assert Path(load_spec("out/two.toml").robot_location).resolve() == (tmp_path / "robots" / "two.toml").resolve()
    save_spec(load_spec(tmp_path / "specs" / "two.toml"), tmp_path / "out" / "far.toml", ["first", "se\ncond"])
    assert load_spec("out/far.toml").robot == "../robots/two.toml"
    assert Path("out/far.toml").read_text(encoding="utf-8").startswith("# first\n# se\\ncond\nrobot = ")
    save_spec(Spec(str(tmp_path / "robots" / "two.toml")), "out/absolute.toml")
    assert load_spec("out/absolute.toml").robot == str(tmp_path / "robots" / "two.toml")
    with pytest.raises(BddTorqueError, match="cannot be written"):
        save_spec(spec, "nowhere/two.toml")


@given(st.integers(0, 2**50))
def test_sizes_read_back(size: int) -> None:
    assert parse_size(format_size(size), "size") == size


def test_sizes() -> None:
    assert parse_size("2 GiB", "size") == parse_size("2gib", "size") == 2**31
    assert parse_size("1.5 MB", "size") == 1_500_000
    for bad in ("-1", -1, True, "1e3", None, "GiB"):
        with pytest.raises(BddTorqueError, match=r"^size must be a size .*, got "):
            parse_size(bad, "size")  # type: ignore[arg-type]


@pytest.mark.slow
def test_an_installed_wheel_finds_specs_by_name(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, project)
    for name in ("bddtorque", "tables"):
        shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=project, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    site = tmp_path / "site"
    shutil.unpack_archive(wheel, site, "zip")
    (site / "tables").mkdir()  # another package of that name, as PyTables is, must not be taken for ours
    script = (
        f"import sys; sys.path.insert(0, {str(site)!r})\n"
        "import bddtorque; from bddtorque.spec import load_spec, spec_names\n"
        f"assert bddtorque.__file__.startswith({str(site)!r}), bddtorque.__file__\n"
        "assert 'planar2r' in spec_names() and load_spec('planar2r').bits == 12\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)


def test_counts_as_people_write_them() -> None:
    assert [counted(count, "angle_sums") for count in (0, 1, 2, 1024)] == [
        "0 angle sums",
        "1 angle sum",
        "2 angle sums",
        "1,024 angle sums",
    ]
