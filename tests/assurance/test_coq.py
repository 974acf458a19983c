"""Coq's kernel accepts the whole proof of an arm, and no other."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from compiled import compiled

from bddtorque.assurance.coq_theorem import coq_file, translated
from bddtorque.assurance.gappa_proof import prove_with_gappa
from bddtorque.assurance.lemmas import Prover

REAL_AXIOMS = {"sig_not_dec", "sig_forall_dec", "functional_extensionality_dep", "classic"}
"""Axioms that Coq's real numbers are built on."""

gappa = pytest.mark.skipif(shutil.which("gappa") is None, reason="gappa is not installed")


def coq(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "arm.v").write_text(text)
    return subprocess.run(["coqc", "-q", "arm.v"], cwd=folder, capture_output=True, text=True, check=False)


def has_coq() -> bool:
    if shutil.which("coqc") is None:
        return False
    test = "Require Import Gappa.Gappa_library. From Flocq Require Import Core. From Interval Require Float_full."
    found = subprocess.run(["coqtop", "-q"], input=test, capture_output=True, text=True, check=False)
    return "Error" not in found.stdout + found.stderr


@gappa
@pytest.mark.everything
@pytest.mark.parametrize(
    ("bits", "target", "place"),
    [
        (8, "integer", r"(entries_0 : list Z := \[1638)"),  # an entry that is not the cosine
        (12, "float", r"(Hypothesis given_\w+ : \(\(-)"),  # a sine that is further off than it may be
    ],
)
def test_the_theorem_of_the_two_joint_arm(tmp_path: Path, bits: int, target: str, place: str) -> None:
    if not has_coq():
        pytest.skip("coq, libcoq-gappa, libcoq-flocq or libcoq-interval is not installed")
    proof = prove_with_gappa(compiled("planar2r", bits=bits, target=target), coq=True)
    done = coq(proof.theorem, tmp_path)
    assert done.returncode == 0, done.stderr
    axioms = done.stdout.split("Axioms:")[1]
    assert {name.rsplit(".")[-1] for name in re.findall(r"^(\S+)\s*:", axioms, re.MULTILINE)} <= REAL_AXIOMS
    wrong, count = re.subn(place, r"\g<1>9", proof.theorem, count=1)
    assert count
    assert coq(wrong, tmp_path).returncode == 1


@gappa
def test_no_premise_about_a_table_of_cosines_remains() -> None:
    model = compiled("planar2r", bits=6, target="integer")
    theorem = prove_with_gappa(model, coq=True).theorem
    (entries,) = re.findall(r"Definition entries_0 : list Z := \[(.*)\]", theorem)
    assert [*map(int, entries.split("; "))] == model.tables[0].values.tolist()
    given = re.findall(r"Hypothesis given_\w+ : \(\((-?\d+)\) <= \((\w+)\)%R <= \((\d+)\)\)%R", theorem)
    assert len(given) == theorem.count("Hypothesis given_") == 6  # positions, velocities and accelerations
    assert {(low, high) for low, _, high in given} == {("-32", "31")}


@gappa
@pytest.mark.parametrize("name", ['an "arm', "an (* arm", "an *) arm", "an (*) arm", '"*)"'])
def test_any_name_of_a_robot_is_a_comment(name: str, tmp_path: Path) -> None:
    """Coq reads nested comments and strings in comments."""
    if not has_coq():
        pytest.skip("coq, libcoq-gappa, libcoq-flocq or libcoq-interval is not installed")
    first, *_ = coq_file(f"{name}, 12ab", Prover(), {}, [], []).splitlines()
    done = coq(f"{first}\nCheck 0.\n", tmp_path)
    assert (done.returncode, done.stdout) == (0, "0\n     : nat\n")


@gappa
@pytest.mark.parametrize("target", ["integer", "float"])
def test_nothing_is_admitted(target: str) -> None:
    """Each hypothesis of the theorem is a premise or defines a variable, once; every fact has a proof."""
    proof = prove_with_gappa(compiled("planar2r", bits=6, target=target), coq=True)
    plan = proof.theorem.split("Section Plan.")[1]
    assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Conjecture)\b", proof.theorem)
    stated = re.findall(r"Hypothesis (\w+)", plan)
    definitions = re.findall(r"Variable (\w+) : R. Hypothesis def_(\w+) : [(]?(\w+) = (.*)$", plan, re.MULTILINE)
    assert {name for name in stated if not name.startswith("given_premise_")} == {
        f"def_{name}" for name, *_ in definitions
    }
    assert len({name for name, *_ in definitions}) == len(definitions)
    for name, *same, expression in definitions:  # no equation that could be false
        assert same == [name, name]
        assert not re.search(rf"\b{name}\b", expression)
    assert plan.count("\nLemma ") == plan.count("Qed.") - 1


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("a12", "(a12)%R"),
        ("-3b-4 * a1 + 2", "((float2R (Float2 (-3) (-4))) * a1 + (Float1 (2)))%R"),
        ("(1 / 3) * (u7 * 16384)", "(((Float1 (1)) / (Float1 (3))) * (u7 * (Float1 (16384))))%R"),
        ("|(x - y)|", "((Rabs ((x - y))))%R"),
        ("floor((a1 + 1b-1))", "(floor((a1 + (float2R (Float2 (1) (-1))))))%R"),
    ],
)
def test_expressions(expression: str, text: str) -> None:
    assert translated(expression) == text
