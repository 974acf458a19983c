"""Gappa proves the bounds of models, and does not prove what is false."""

import json
import math
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bdt_files import signed, taken_apart
from compiled import compiled, found_errors, random_words, reference, rubbing_arm
from random_cases import random_arm, random_function
from sample_robots import LIMIT, joint
from strategies import random_tree

import bddtorque as bt
from bddtorque.assurance import gappa_proof
from bddtorque.assurance.gappa_proof import GappaBound, GappaProof, prove_with_gappa
from bddtorque.assurance.lemmas import Ends, Hint, Lemma, Prover, around
from bddtorque.assurance.turns import circle, turn_lemma
from bddtorque.cli import main
from bddtorque.compiler.draft import Draft
from bddtorque.independent import check_bytes
from bddtorque.model.model import to_bytes
from bddtorque.plan.plan import ExactSum, Plan
from bddtorque.plan.table import Table
from bddtorque.robots import from_urdf

pytestmark = pytest.mark.skipif(shutil.which("gappa") is None, reason="gappa is not installed")

ARMS = ["planar2r", "planar3r_a", "planar3r_b", "scara", "stanford", "puma560", "ur5", "panda"]


def bounds(proof: GappaProof) -> list[float]:
    assert proof.passed, [check for check in proof.checks if not check.passed]
    return [bound.total for bound in proof.bounds]


@pytest.mark.parametrize("target", ["float", "integer", "tables"])
def test_the_two_joint_arm_is_proved(target: str) -> None:
    model = compiled("planar2r", bits=12 if target != "tables" else 6, target=target)
    proof = prove_with_gappa(model)
    for reached, ours in zip(bounds(proof), model.certificate.bounds, strict=True):
        assert 0.5 < reached <= ours < reached + 0.01  # neither beyond ours nor empty


@pytest.mark.everything
@pytest.mark.parametrize("target", ["float", "integer", "tables"])
@pytest.mark.parametrize("arm", ARMS)
def test_every_arm_is_proved(arm: str, target: str) -> None:
    bounds(prove_with_gappa(compiled(arm, bits=12, target=target)))


def test_friction_is_a_table_like_others() -> None:
    bounds(prove_with_gappa(rubbing_arm()))


@pytest.mark.parametrize("multiplier", [-2, pytest.param(0.7, marks=pytest.mark.everything)])
def test_the_angle_of_a_follower_turns_as_any_other(multiplier: float) -> None:
    """The plan's ranges take c² + s² = 1 of any angle for granted, and so must the lemmas."""
    mimic = f'<mimic joint="one" multiplier="{multiplier}" offset="0.3"/>'
    joints = joint("one", "revolute", "base", "a", LIMIT) + joint("two", "revolute", "a", "b", LIMIT + mimic)
    robot = from_urdf(f'<robot name="coupled"><link name="base"/>{joints}</robot>')
    model = bt.compile(robot, bits=12, target="integer", workers=1, cache=None)
    assert bounds(prove_with_gappa(model)) < [*model.certificate.bounds]
    checked = check_bytes(to_bytes(model))
    assert all(check.passed for check in checked), checked[-1]


def test_the_rule_of_the_paper() -> None:
    bounds(prove_with_gappa(compiled("planar2r", bits=3, accuracy="paper")))


def test_functions() -> None:
    model = bt.compile_function(
        lambda x, y: x * y + 0.3 * x * x - y, inputs={"x": (8, 2.0), "y": (8, (0.0, 3.0))}, output=8
    )
    bounds(prove_with_gappa(model))


@pytest.mark.parametrize(
    "function",
    [
        lambda q, x, y: (x * x - 0.7) * np.sin(q) + y,
        lambda q, x, y: ((x - 0.2) * (y + 0.5) - 0.7) * np.sin(q),
        lambda q, x, y: (3 * np.cos(2 * q) + 4 * np.sin(2 * q)) * x + y,
    ],
    ids=["square", "product", "twice the angle"],
)
def test_a_range_that_the_summands_do_not_show(function: Callable[..., Any]) -> None:
    """The plan multiplies x·x out around the middle of its range, where its summands alone reach below 0."""
    words = {name: (8, "angle" if name == "q" else (-0.3, 1.0)) for name in "qxy"}
    bounds(prove_with_gappa(bt.compile_function(function, inputs=words, output=8, target="integer")))


@pytest.mark.parametrize(
    ("quantity", "target"),
    [("kinematics", "integer"), ("law", "float"), ("law", "integer"), ("law", "tables")],
)
def test_other_quantities(quantity: str, target: str) -> None:
    """Outputs without any error, and sums of angles that are multiplied: the error of an angle in a control law."""
    options = {"gains": {"kp": 100.0, "kv": 20.0}, "torque": "auto"} if quantity == "law" else {}
    bits = 9 if target != "tables" else 4
    model = bt.compile("planar2r", quantity=quantity, bits=bits, target=target, workers=1, cache=None, **options)
    bounds(prove_with_gappa(model))


SEEDS = [*range(3), *(pytest.param(seed, marks=pytest.mark.everything) for seed in range(3, 40))]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_function_is_refused(seed: int) -> None:
    bounds(prove_with_gappa(random_function(seed)))


@pytest.mark.everything
@pytest.mark.parametrize("seed", range(30))
def test_no_arm_is_refused(seed: int) -> None:
    bounds(prove_with_gappa(random_arm(seed)))


@pytest.mark.parametrize(
    "seed", [313, *(pytest.param(seed, marks=pytest.mark.everything) for seed in (304, 310, *range(322, 342)))]
)
def test_no_tree_is_refused(seed: int) -> None:
    """Trees whose ranges are beside zero; those of the first three seeds were refused once."""
    parents = [0, 1, 1 + seed % 2]
    robot = random_tree(["prismatic", "revolute", "revolute"], parents, [0, 0, 0], seed, 0.0)
    ranges = {"velocity": [(-1.0, 2.0)] * 3, "position": [(-0.5, 1.0), (-3.0, 3.0), (-3.0, 3.0)]}
    bounds(
        prove_with_gappa(bt.compile(robot, bits=7, target="integer", acceleration=3.0, workers=1, cache=None, **ranges))
    )


def changed_plan(monkeypatch: pytest.MonkeyPatch, change: object) -> None:
    """Have the proof see a plan whose sums stand for something else than their words compute."""
    redraft = gappa_proof.redraft

    def other(model: bt.Model) -> tuple[Draft, str]:
        draft, how = redraft(model)
        assert isinstance(draft.plan, Plan)
        assert callable(change)
        exact = {key: change(each) for key, each in draft.plan.exact.items()}
        return replace(draft, plan=replace(draft.plan, exact=exact)), how

    monkeypatch.setattr(gappa_proof, "redraft", other)


def test_rounded_factors_are_proved_and_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A factor that stands for a little more than its integer says, or a constant, is found."""
    model = compiled("planar2r", bits=12, target="integer")
    changed_plan(
        monkeypatch, lambda each: replace(each, parts=tuple((w, f * Fraction(101, 100)) for w, f in each.parts))
    )
    assert not prove_with_gappa(model).passed
    monkeypatch.undo()
    changed_plan(monkeypatch, lambda each: replace(each, constant=each.constant + Fraction(1, 4)))
    assert not prove_with_gappa(model).passed
    monkeypatch.undo()
    changed_plan(monkeypatch, lambda each: replace(each, dropped=((Fraction(1), Fraction(1, 4)),)))
    proof = prove_with_gappa(model)
    assert not proof.passed
    assert "terms left out" in next(check.detail for check in proof.checks if check.name == "lemmas")


def test_a_wrong_note_of_what_was_multiplied_out_costs_sharpness_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lemmas take from the planner where to look, and no fact: every way to write a sum is an identity."""
    words = {"q": (8, "angle"), "x": (8, (-0.3, 1.0))}
    model = bt.compile_function(lambda q, x: (x * x - 0.7) * np.sin(q), inputs=words, output=8, target="integer")
    (right,) = bounds(prove_with_gappa(model))
    moved = Fraction(5, 3)

    def elsewhere(each: ExactSum) -> ExactSum:
        products = (replace(product, centres=(moved, -moved), factor=2 * product.factor) for product in each.centred)
        return replace(each, centred=tuple(products))

    changed_plan(monkeypatch, elsewhere)
    wrong = prove_with_gappa(model)
    assert [check.name for check in wrong.checks if not check.passed] == [bound.name for bound in wrong.bounds]
    assert wrong.bounds[0].total > right


def changed_wires(wire: Any) -> Iterator[Any]:
    """Yield a wire or an output with one of its numbers changed."""
    for each in fields(wire):
        value = getattr(wire, each.name)
        if isinstance(value, bool):
            yield replace(wire, **{each.name: not value})
        elif isinstance(value, int | Fraction):
            yield replace(wire, **{each.name: value + 1})
        elif each.name == "parts":
            for place, (source, factor, *rest) in enumerate(value):
                yield replace(wire, parts=(*value[:place], (source, factor + 1, *rest), *value[place + 1 :]))


@pytest.mark.parametrize("target", ["float", "integer", "tables"])
def test_another_plan_is_refused(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every number of every wire: an input's bits, a shift, a factor, a constant, which wire is read."""
    model = compiled("planar2r", bits=6, target=target)
    draft = gappa_proof.redraft(model)
    monkeypatch.setattr(gappa_proof, "redraft", lambda _: draft)
    changed = []
    for kind in ("wires", "outputs"):
        parts = getattr(model.plan, kind)
        for place, part in enumerate(parts):
            changed += [{kind: (*parts[:place], other, *parts[place + 1 :])} for other in changed_wires(part)]
    assert len(changed) > 50
    for change in changed:
        proof = prove_with_gappa(replace(model, plan=replace(model.plan, **change)))
        assert [check.name for check in proof.checks if not check.passed] == ["plan"], change


def test_a_certificate_that_says_less_is_refused() -> None:
    model = compiled("planar2r", bits=12, target="float")
    first, *rest = model.certificate.outputs
    small = replace(first, parts=replace(first.parts, arithmetic=first.parts.arithmetic / 2))
    proof = prove_with_gappa(replace(model, certificate=replace(model.certificate, outputs=(small, *rest))))
    assert [check.name for check in proof.checks if not check.passed] == ["certificate", first.name]


def test_an_output_without_error_has_a_bound_of_0() -> None:
    assert GappaBound("z", 0.0, 0.0, 0.0).holds and not GappaBound("z", 5e-324, 0.0, 0.0).holds


def test_a_bound_is_rounded_up_by_no_more_than_a_float() -> None:
    """Where rounded constants are all, Gappa reaches what the file states, to the last digits."""
    bound = GappaBound("j0", 0.5009285278106, 1.5e-12, math.nextafter(0.5009285278106 + 1.5e-12, 1))
    assert bound.holds and Fraction(bound.total) >= Fraction(bound.gappa) + Fraction(bound.arithmetic)


def test_another_table_is_refused() -> None:
    model = compiled("planar2r", bits=6)
    table = model.tables[0]
    values = np.roll(table.values, 1)
    tables = (Table(values, table.input_widths, table.output_bits, table.signed), *model.tables[1:])
    proof = prove_with_gappa(replace(model, tables=tables))
    assert [check.name for check in proof.checks if not check.passed] == ["tables"]


def test_no_state_is_off_by_more_than_gappa_says() -> None:
    model = compiled("planar2r", bits=12, target="integer")
    states = random_words(model, 2000)
    found = found_errors(model, states, reference(model, states))
    assert (found <= bounds(prove_with_gappa(model))).all()
    assert (found > 0.4).all()


class TestProver:
    def test_a_false_identity_is_refused(self) -> None:
        prover = Prover()
        prover.state("x", around(1), "")
        with pytest.raises(bt.BddTorqueError, match="identity"):
            prover.prove(Lemma("wrong", "", ("x",), ("(x * x)",), hints=(Hint("x * x", "x * 1b-1"),)))
        with pytest.raises(bt.BddTorqueError, match="identity"):
            prover.prove(Lemma("root", "", ("x",), ("|x|",), hints=(Hint("|x|", "sqrt(x * x * x)"),)))

    def test_what_does_not_follow_is_not_closed(self) -> None:
        prover = Prover()
        prover.state("x", around(1), "")
        with pytest.raises(bt.BddTorqueError, match="does not close"):
            prover.prove(Lemma("open", "", ("x",), ("(x * y)",)))

    def test_ends_of_few_bits_hold_those_of_many(self) -> None:
        ends = Ends(Fraction(-1, 3), Fraction(10**40, 7))
        short = ends.short()
        assert short.low <= ends.low <= ends.high <= short.high
        assert short.low > Fraction(-1, 3) - Fraction(1, 2**59)

    def test_a_turned_vector_is_no_longer_than_it_was(self) -> None:
        prover = Prover()
        for name, most in (("c", 1), ("s", 1), ("x", 3), ("y", 4)):
            prover.state(name, around(most), "")
        prover.state(circle("c", "s"), Ends(Fraction(1), Fraction(1)), "")
        lemma, turned = turn_lemma("turn", ("c", "s"), ("x", "y"), ("x", "y"))
        prover.prove(lemma)
        assert prover.known[f"|{turned}|"].high == 5
        assert prover.holds(lemma)


def ran(script: Path, text: str | None = None, **options: Any) -> tuple[int, str]:
    """Run a script, with other text if given, and return its exit code and what it prints."""
    if text is not None:
        script.write_text(text)
    done = subprocess.run(["/bin/sh", str(script)], capture_output=True, text=True, check=False, **options)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_the_command_prints_both_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "arm.bdt"
    compiled("planar2r", bits=12, target="integer").save(file)
    assert main(["verify", str(file), "--gappa"]) == 0
    shown = capsys.readouterr().out
    assert "0.6908 by Gappa, 0.6908 in the file" in shown
    assert " 1 table, " in shown and ", 1 pair of cosine and sine" in shown
    assert shown.endswith(f"{file}: bounds proved by Gappa (diagrams: `bddtorque verify {file}`)\n")
    assert main(["verify", str(file), "--gappa", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["verified"]
    assert [each["name"] for each in plain["gappa"]["outputs"]] == ["shoulder", "elbow"]
    assert plain["gappa"]["unchecked"] == ["diagrams"]


@pytest.mark.parametrize("target", ["float", "integer", "tables"])
def test_the_script_proves_all_again(target: str, tmp_path: Path) -> None:
    proof = prove_with_gappa(compiled("planar2r", bits=6, target=target))
    assert ran(tmp_path / "proof.sh", proof.script) == (0, f"{proof.lemmas} lemmas hold\n")


@cache
def script_of_planar2r() -> str:
    return prove_with_gappa(compiled("planar2r", bits=12, target="integer")).script


class TestScript:
    @pytest.fixture
    def whole(self) -> str:
        return script_of_planar2r()

    @pytest.mark.parametrize(
        ("pattern", "other", "said"),
        [
            (r"^(\{ \(a26 - t26\) in \[-57270261664475)739b", r"\g<1>738b", "sum_out1: neither a premise nor proved"),
            (r"^(/\\ a26 in \[-3784)3", r"\g<1>2", "sum_out1: neither a premise nor proved before: a26 in"),
            (r"^(#   a8 in \[-204)8", r"\g<1>7", "product_9: neither a premise nor proved before: a8 in"),
            (r"^(#   \(aout1 - tout1\) in \[-1)", r"\g<1>0", "claims: not proved: "),
            (r"^(t13 = .*) \* 1\);\n(?=t14)", r"\1 * 2);\n", "sum_15: t13 has two definitions"),
            (r"^(a9 = )\(a8", r"u2 = 1;\n\1(a8", "product_9: u2 is used before its definition"),
            (r"^(a9 = )\(a8", r"a10 = (a10 * 1);\n\1(a8", "product_9: a10 is used before its definition"),
            (r"^(\|.*\| -> sqrt\(.*)\);$", r"\1 * 1b-9);", "not of the form |x| -> sqrt(x * x)"),
            (r"^(\{ a8 in)", r"a8 >= 0 ->\n\1", "product_9: not part of a lemma"),
            (r"^prove sum_out2 .*(\n.*)*?\nEND\n", "", "claims: not proved: (aout2 - tout2) in"),
            (r"^prove product_9 .*(\n.*)*?\nEND\n", "", "sum_10: neither a premise nor proved before: a9 in"),
        ],
    )
    def test_lemmas_that_are_no_chain_fail(
        self, pattern: str, other: str, said: str, whole: str, tmp_path: Path
    ) -> None:
        """A hypothesis that nothing proves, two meanings of a name, a claim that no lemma concludes."""
        broken, count = re.subn(pattern, other, whole, flags=re.MULTILINE, count=1)
        assert count == 1
        code, shown = ran(tmp_path / "proof.sh", broken)
        assert code == 1 and said in shown and shown.count("\n") == 1

    def test_what_gappa_does_not_prove_fails(self, whole: str, tmp_path: Path) -> None:
        """A bound that is smaller wherever it stands: a chain, but not a proof."""
        (end,) = re.findall(r"^#   \(aout1 - tout1\) in \[-(1\d+)b", whole, re.MULTILINE)
        assert whole.count(end) == 2
        assert ran(tmp_path / "proof.sh", whole.replace(end, str(int(end) * 9 // 10))) == (1, "sum_out1 fails\n")

    def test_a_rewriting_that_is_no_identity_fails(self, whole: str, tmp_path: Path) -> None:
        broken = re.sub(r"^(a\d+ -> .*);$", r"\1 + 1b-60;", whole, count=1, flags=re.MULTILINE)
        code, shown = ran(tmp_path / "proof.sh", broken)
        assert code == 1 and "a rewriting is no identity" in shown  # of which Gappa itself only warns

    def test_a_missing_tool_is_no_failed_proof(self, whole: str, tmp_path: Path) -> None:
        for tool in ("gappa", "awk"):
            (tmp_path / tool).symlink_to(str(shutil.which(tool)))
        for tool in ("awk", "gappa"):
            (tmp_path / tool).unlink()
            code, shown = ran(tmp_path / "proof.sh", whole, env={"PATH": str(tmp_path)})
            assert (code, shown.count("\n")) == (2, 1) and shown.startswith(f"{tool} was not found on PATH")

    def test_a_script_from_standard_input_says_what_it_needs(self, whole: str) -> None:
        done = subprocess.run(["sh"], input=whole, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "run this script by its name: 'sh FILE'\n")

    def test_names_are_only_comments(self, tmp_path: Path) -> None:
        robot = bt.load_robot("planar2r")
        joints = [replace(joint, name=f"END\n'{joint.name}; exit 5 \\") for joint in robot.joints]
        odd = replace(robot, name="x'\nexit 3\n#   a0 in [0, 0]", joints=joints)
        proof = prove_with_gappa(bt.compile(odd, bits=4, target="integer", workers=1, cache=None))
        assert ran(tmp_path / "proof.sh", proof.script) == (0, f"{proof.lemmas} lemmas hold\n")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"high": 100.0}, "shoulder: high must be "),
        ({"lsb": 0.05}, "shoulder: lsb must be "),
        ({"unit": "N"}, "shoulder: unit must be 'N·m', got 'N'"),
        ({"saturation": "not excluded"}, "shoulder: saturation must be 'cannot', got 'not excluded'"),
        ({"parts": "moved"}, "shoulder: parts, constants must be "),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_false_field_of_a_certificate_is_refused(
    change: dict[str, Any], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also one that leaves the bound in units as it is."""
    file, model = tmp_path / "arm.bdt", compiled("planar2r", bits=6, target="integer")
    first, *rest = model.certificate.outputs
    if "parts" in change:
        parts = first.parts
        change = {"parts": replace(parts, constants=parts.constants + 0.25, sums=parts.sums - 0.25)}
    false = replace(model.certificate, outputs=(replace(first, **change), *rest))
    file.write_bytes(to_bytes(replace(model, certificate=false)))
    assert main(["verify", str(file), "--gappa"]) == 1
    shown = capsys.readouterr().out
    assert f"FAIL  certificate   {said}" in shown and shown.endswith("NOT verified\n")


def test_the_command_says_how_many_sines_were_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "arm.bdt"
    compiled("planar2r", bits=12, target="float").save(file)
    assert main(["verify", str(file), "--gappa"]) == 0
    shown = capsys.readouterr().out
    assert "  floats of 2,050 sines and cosines compared\n" in shown  # a quarter of a turn of each, and its end
    assert ", 8 facts on sines and cosines, " in shown
    assert shown.endswith(f"{file}: bounds proved by Gappa\n")  # there are no diagrams


def test_files_are_written_or_said_not_to_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    compiled("planar2r", bits=3).save("arm.bdt")
    command = ["verify", "arm.bdt", "--gappa", "--gappa-script", "proof.sh", "--coq", "arm.v"]
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gappa"]["written"] == ["proof.sh", "arm.v"]
    before = Path("proof.sh").read_text(), Path("arm.v").read_text()
    assert all(before)
    Path("arm.bdt").write_bytes(Path("arm.bdt").read_bytes()[:-100])
    assert main(command) == 1
    *_, script, theorem, verdict = capsys.readouterr().out.splitlines()
    assert script == "proof.sh: not written, as the proof failed"
    assert theorem == "arm.v: not written, as the proof failed"
    assert verdict == "arm.bdt: NOT verified"
    assert before == (Path("proof.sh").read_text(), Path("arm.v").read_text())


@pytest.mark.parametrize("damage", ["truncated", "empty", "text", "byte", "sum"])
def test_a_damaged_file_is_a_failed_check(damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As without --gappa: exit code 1, and JSON."""
    file, model = tmp_path / "arm.bdt", compiled("planar2r", bits=3)
    data = to_bytes(model)
    header, arrays = taken_apart(data)
    header["certificate"]["torques"][0]["bound"] /= 2  # not the sum of its parts
    flipped = bytes([*data[: len(data) // 2], data[len(data) // 2] ^ 1, *data[len(data) // 2 + 1 :]])
    kinds = {
        "truncated": data[:1000],
        "empty": b"",
        "text": b"no model\n",
        "byte": flipped,
        "sum": signed(header, arrays),
    }
    file.write_bytes(kinds[damage])
    for flags in ([], ["--gappa"]):
        assert main(["verify", str(file), *flags]) == 1
        shown = capsys.readouterr().out
        assert shown.startswith("FAIL  file  ") and shown.endswith("NOT verified\n")
    assert main(["verify", str(file), "--gappa", "--json"]) == 1
    plain = json.loads(capsys.readouterr().out)
    assert not plain["verified"] and [check["name"] for check in plain["checks"]] == ["file"]


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("#!/bin/sh\nexit 127\n", "'gappa --version' has exit code 127 and prints ''"),
        ("#!/bin/sh\necho Hello\n", "'gappa --version' has exit code 0 and prints 'Hello\\n'"),
        ("\x7fELF", "Exec format error"),
        ('#!/bin/sh\n[ "$1" = --version ] && echo Gappa 1.4 || exit 126\n', "it ended with exit code 126 on lemma "),
    ],
    ids=["127", "other", "format", "later"],
)
def test_a_broken_gappa_is_not_blamed_on_the_model(
    program: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, tool = tmp_path / "arm.bdt", tmp_path / "gappa"
    compiled("planar2r", bits=3).save(file)
    tool.write_text(program)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["verify", str(file), "--gappa"]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert f"{tool} is not a working Gappa ({said}" in shown.err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "bddtorque: --coq must name a file, got an empty name or the current folder\n"),
        ("x" * 300, f"bddtorque: --coq: '{'x' * 100}' cannot be written: File name too long\n"),
        ("/proc/arm.v", "bddtorque: --coq: '/proc/arm.v' cannot be written: No such file or directory\n"),
    ],
    ids=["empty", "long", "unwritable"],
)
def test_an_output_that_cannot_be_written_is_refused_before_the_proof(
    name: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    compiled("planar2r", bits=3).save("arm.bdt")
    monkeypatch.setattr(gappa_proof, "prove_with_gappa", lambda *_: pytest.fail("work was begun"))
    assert main(["verify", "arm.bdt", "--gappa", "--coq", name]) == 2
    assert capsys.readouterr().err == said
    assert [path.name for path in tmp_path.iterdir()] == ["arm.bdt"]


def test_bad_use(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "arm.bdt"
    compiled("planar2r", bits=3).save(file)
    assert main(["verify", str(file), "--gappa", "--independent"]) == 2
    assert "cannot be given with --gappa" in capsys.readouterr().err
    assert main(["verify", str(file), "--gappa-script", str(tmp_path / "x")]) == 2
    assert "only valid with --gappa" in capsys.readouterr().err
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["verify", str(file), "--gappa"]) == 2
    assert capsys.readouterr().err.strip().splitlines() == [
        "bddtorque: Gappa was not found on PATH: install it, on Debian and Ubuntu by 'apt install gappa'"
    ]
