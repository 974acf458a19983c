"""`plan`, `compile --plan`, and robots without a specification on the command line."""

import json
from pathlib import Path

import pytest
from compiled import arm, rubbing_arm
from sample_robots import TWO_LINKS, extended, joint

import bddtorque as bt
from bddtorque.compiler.pinning import load_pinned
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.targets.plan_text import plan_text

SMALL = ["--bits", "5", "--block-bits", "10"]
QUICK = ["--workers", "1", "--no-cache"]
SIDE = joint("side", "revolute", "upper", "flap", '<limit lower="-1" upper="1" velocity="1" effort="1"/>')


@pytest.fixture
def two(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "two.urdf"
    path.write_text(TWO_LINKS)
    return path


def test_the_plan_is_shown_with_its_candidates(run):
    ran = run("plan", "planar2r", *SMALL)
    assert (ran.code, ran.err) == (0, "")
    for part in (
        "source terms, target tables",
        "dense for b0",
        "lockstep for b0",
        "ways to multiply the widest",
        "* squares",
        "tau2: one",
    ):
        assert part in ran.out
    assert "  w0 " in ran.out
    assert ran.out == run("plan", "planar2r", *SMALL).out


def test_long_plans_are_listed_when_asked_for(run):
    flags = ["ur5", "--bits", "8", "--source", "recursive"]
    short, whole = run("plan", *flags), run("plan", *flags, "--all")
    assert "not listed here" in short.out
    assert short.out.endswith("--all lists every word\n")
    assert "\n  w100 " in whole.out
    assert "--all" not in whole.out


def test_plans_are_folded_on_a_narrow_terminal(run, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    whole = run("plan", "planar2r", *SMALL).out
    monkeypatch.setenv("COLUMNS", "80")
    folded = run("plan", "planar2r", *SMALL).out
    assert max(map(len, folded.splitlines())) <= 80
    assert sorted(folded.split()) != sorted(whole.split())  # names of blocks are repeated
    assert set(folded.split()) == set(whole.split())
    floats = run("plan", "planar2r", *SMALL, "--target", "float").out
    assert max(map(len, floats.splitlines())) <= 80


def test_the_plan_as_json_and_in_a_file(run, tmp_path):
    path = tmp_path / "plan.json"
    ran = run("plan", "planar2r", *SMALL, "-o", path, "--json")
    assert ran.code == 0
    told = json.loads(ran.out)
    assert told == json.loads(path.read_text(encoding="utf-8"))
    assert told["robot"] == "planar2r"
    assert {"plan", "bounds", "wire_bits", "blocks", "products", "counts"} <= set(told)
    assert run("plan", "planar2r", *SMALL, "-o", path).out.endswith(f"written: {path}\n")
    assert list(tmp_path.iterdir()) == [path]


def test_a_pinned_plan(run, refused, tmp_path):
    plan, model = tmp_path / "plan.json", tmp_path / "arm.bdt"
    run("plan", "planar2r", *SMALL, "-o", plan)
    assert run("compile", "planar2r", *SMALL, *QUICK, "--plan", plan, "-o", model).code == 0
    assert bt.load(model).plan.to_plain() == load_pinned(plan)
    model.unlink()
    said = refused("compile", "planar2r", "--bits", "6", "--block-bits", "10", *QUICK, "--plan", plan, "-o", model)
    assert "wires 19 in the file, 21 in the new plan" in said
    assert "bddtorque plan SPEC -o FILE" in said
    assert "there is no such file" in refused("compile", "planar2r", "--plan", tmp_path / "none.json", "-o", model)
    assert not model.exists()


FLOATS = ["--bits", "6", "--target", "float"]


def test_a_plan_in_floats(run, refused, tmp_path):
    """Every operation with its range and error; pinned as any other, and refused for another target."""
    ran = run("plan", "planar2r", *FLOATS)
    assert (ran.code, ran.err) == (0, "")
    model = arm(6, target="float")
    assert ran.out.startswith("planar2r: source recursive, target float, single precision\n")
    for k, wire in enumerate(model.plan.wires):
        assert f"\n  w{k:<4} {wire.kind} " in ran.out
    assert "cos(w" in ran.out and "·w" in ran.out and " ±" in ran.out
    assert f"bound, units: {model.certificate.bounds[0]:.4f}" in ran.out
    file = tmp_path / "plan.json"
    told = json.loads(run("plan", "planar2r", *FLOATS, "-o", file, "--json").out)
    assert told["plan"] == model.plan.to_plain()
    assert load_pinned(file) == model.plan.to_plain()
    assert bt.compile("planar2r", bits=6, target="float", plan=file, workers=1).digest == model.digest
    assert "source recursive in the file, terms in the new plan" in refused(
        "compile", "planar2r", *SMALL, "--plan", file
    )
    double = [*FLOATS, "--precision", "double"]
    assert "precision single in the file, double in the new plan" in refused(
        "compile", "planar2r", *double, "--plan", file
    )
    long = run("plan", "scara", *FLOATS)
    assert "not listed here" in long.out and long.out.endswith("--all lists every word\n")


def test_friction_in_a_plan_in_floats():
    model = rubbing_arm()
    draft = draft_of_robot(model.spec, model.robot)
    text = plan_text(draft.plan, "arm", draft.bounds())
    assert "Tables of friction\n  b0 " in text
    assert " lookup    b0[w" in text


def test_models_in_floats_are_told_of_without_tables(run, refused, tmp_path):
    """`info` and `compile` leave out what there is none of; terms belong to another target."""
    file = tmp_path / "arm.bdt"
    arm(6, target="float").save(file)
    ran = run("info", file, "--levels")
    assert (ran.code, ran.err) == (0, "")
    assert "single precision" in ran.out
    assert "iagram" not in ran.out and "Blocks" not in ran.out
    assert json.loads(run("info", file, "--json").out)["block_list"] == []
    assert 'target = "tables"' in refused("terms", file)
    rubbing_arm().save(file)
    assert "Blocks" in run("info", file).out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["planar9r"], "unknown robot or specification 'planar9r'; did you mean 'planar"),
        (["planar2r", "--bits", "1"], "bddtorque: --bits must be between 2 and 24, got 1\n"),
        (["planar2r", "--tip", "hand"], "built-in robot 'planar2r': tip is for URDF and MJCF files and models only"),
        (["planar2r", "-o", "no/such/folder/plan.json"], "no folder"),
        (["arm.bdt"], "is a compiled model"),
        (
            ["planar2r", "--gravity", "0,0"],
            "--gravity must be x, y and z in m/s², in base axes, or 'runtime', got [0, 0]",
        ),
        (["planar2r", "--gravity", "0,0,nan"], "gravity"),
        (["planar2r", "--payload", "1,2"], "--payload must be a mass in kg, or mass, x, y and z of its centre in m"),
        (["planar2r", "--payload", "-1"], "bddtorque: --payload, mass must be above 0 kg, got -1"),
        (["planar2r", "--lock", "elbow"], "--lock must be others, or JOINT=POSITION"),
        (["planar2r", "--lock", "elbow=here"], "--lock of joint 'elbow' must be a number, or text such as"),
        (["planar2r", "--xacro-arg", "mass"], "--xacro-arg must be NAME=VALUE, each name once, got 'mass'"),
        (["planar2r", "--xacro-arg", "a=1", "--xacro-arg", "a=2"], "--xacro-arg must be NAME=VALUE, each name once"),
        (["planar2r", "--xacro-arg", "a=1"], "xacro_args is for .xacro files only"),
        (["planar2r", "--lock", "elbow=0"], "lock is for URDF and MJCF files and models only"),
        (["planar2r", "--snap", "1"], "bddtorque: --snap must be between 0 and 0.001"),
        (["no.urdf"], "there is no such file"),
        (["no.urdf.xacro"], "no.urdf.xacro: there is no such file"),
    ],
)
def test_bad_use(refused, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    assert said in refused("plan", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_key_of_the_file_is_not_taken_for_a_flag(refused, tmp_path):
    spec = tmp_path / "arm.toml"
    spec.write_text('robot = "planar2r"\nbits = 30\n', encoding="utf-8")
    assert refused("plan", spec, "--bits", "5").startswith("bddtorque: bits must be between 2 and 24, got 30 (")


def test_a_bare_urdf_compiles_and_writes_its_spec(run, two, monkeypatch):
    ran = run("compile", "two.urdf", *SMALL, *QUICK, "--write-spec", "two.toml")
    assert (ran.code, ran.err) == (0, "")
    for part in ("without a specification", "acceleration ±12 rad/s² assumed", "two.toml"):
        assert part in ran.out
    monkeypatch.setenv("COLUMNS", "80")
    ran = run("compile", "two.urdf", *SMALL, *QUICK, "-o", "again.bdt")
    assert len(ran.out.splitlines()) <= 15 and " more; --json lists them all" in ran.out
    assert len(json.loads(run("compile", "two.urdf", *SMALL, *QUICK, "--json").out)["report"]["notes"]) == 3
    first = Path("two.bdt").read_bytes()
    two.unlink()
    two.write_text(TWO_LINKS)
    again = run("compile", "two.toml", *QUICK, "-o", "again.bdt")
    assert again.code == 0
    assert "assumed" not in again.out
    assert Path("again.bdt").read_bytes() == first
    assert "without a specification" in Path("two.toml").read_text(encoding="utf-8")
    assert sorted(path.name for path in Path().iterdir()) == ["again.bdt", "two.bdt", "two.toml", "two.urdf"]


def test_the_options_of_a_urdf(run, refused, two):
    two.write_text(extended(SIDE).replace('damping="0"', 'damping="-1"'))
    flags = [*SMALL, *QUICK, "-o", "two.bdt", "--tip", "lower", "--gravity", "0,-9,0", "--payload", "0.5,0,0,0.1"]
    flags += ["--qd-max", "2", "--qdd-max", "5", "--tau-max", "30"]
    assert "--ignore-friction leaves <dynamics> out" in refused("compile", two, *flags, "--lock", "side=0.5")
    assert "lock it" in refused("compile", two, *flags, "--ignore-friction")
    assert run("compile", two, *flags, "--lock", "side=0.5", "--ignore-friction", "--json").code == 0
    model = bt.load("two.bdt")
    assert model.robot.gravity == (0.0, -9.0, 0.0)
    assert model.robot.payload.centre_of_mass == (0.0, 0.0, 0.1)
    assert model.spec.lock == (("side", 0.5),)
    assert [word.high for word in (model.formats.qd[0], model.formats.qdd[1], model.formats.tau[0])] == [2.0, 5.0, 30.0]
    assert run("compile", two, *flags, "--lock", "others", "--ignore-friction").code == 0
    assert bt.load("two.bdt").spec.lock == "others"


def test_flags_leave_alone_what_the_spec_says(run, two):
    two.write_text(TWO_LINKS.replace('damping="0"', 'damping="1"'))
    Path("spec.toml").write_text(
        'robot = "two.urdf"\nignore_friction = true\npayload = 0.5\n[ranges]\nacceleration = 2.0\n', encoding="utf-8"
    )
    assert run("compile", "spec.toml", *SMALL, *QUICK, "--gravity", "0,0,0", "-o", "two.bdt").code == 0
    assert bt.load("two.bdt").spec.ignore_friction
    assert bt.load("two.bdt").robot.payload.mass == 0.5


def test_places_for_the_spec_that_make_no_sense(refused, two):
    assert "--write-spec and -o both name a.toml" in refused("compile", two, "-o", "a.toml", "--write-spec", "a.toml")
    assert f"--write-spec would overwrite {two}, which" in refused("compile", two, "--write-spec", two)
    assert "no folder" in refused("compile", two, "--write-spec", "no/such/a.toml")


def test_what_does_not_fit_says_what_would(refused, tmp_path):
    said = refused(
        "compile", "planar2r", "--bits", 8, "--accuracy", "paper", "--memory", "40MiB", "-o", tmp_path / "a.bdt"
    )
    for part in (
        "of 40 MiB is less than",
        "MiB needed",
        "the largest, block",
        "input bits",
        'memory = "',
        "block_bits below",
    ):
        assert part in said
