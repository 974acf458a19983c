"""Coq's kernel accepts the whole proof of an arm, and no other."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from compiled import compiled

import bddtorque as bt
from bddtorque.assurance.coq_theorem import translated
from bddtorque.assurance.gappa_proof import prove_with_gappa

REAL_AXIOMS = {"sig_not_dec", "sig_forall_dec", "functional_extensionality_dep", "classic"}
"""What Coq's real numbers are built on."""

gappa = pytest.mark.skipif(shutil.which("gappa") is None, reason="gappa is not installed")


def coq(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "arm.v").write_text(text)
    return subprocess.run(["coqc", "-q", "arm.v"], cwd=folder, capture_output=True, text=True, check=False)


def has_coq() -> bool:
    if shutil.which("coqc") is None:
        return False
    test = "Require Import Gappa.Gappa_library. From Flocq Require Import Core."
    found = subprocess.run(["coqtop", "-q"], input=test, capture_output=True, text=True, check=False)
    return "Error" not in found.stdout + found.stderr


@gappa
@pytest.mark.everything
def test_the_theorem_of_the_two_joint_arm(tmp_path: Path) -> None:
    if not has_coq():
        pytest.skip("coq, libcoq-gappa or libcoq-flocq is not installed")
    proof = prove_with_gappa(compiled("planar2r", bits=12, target="integer"), coq=True)
    done = coq(proof.theorem, tmp_path)
    assert done.returncode == 0, done.stderr
    axioms = done.stdout.split("Axioms:")[1]
    assert {name.rsplit(".")[-1] for name in re.findall(r"^(\S+)\s*:", axioms, re.MULTILINE)} <= REAL_AXIOMS
    # with a table that is further off than it may be, the proof fails
    wider = re.sub(r"(Hypothesis given_\w+ : \(\()-?\d+ / ", r"\g<1>-9250751841667275 / ", proof.theorem, count=1)
    assert wider != proof.theorem
    assert coq(wider, tmp_path).returncode == 1


@gappa
def test_nothing_is_admitted() -> None:
    """Each hypothesis of the theorem is a premise; every fact has a proof."""
    proof = prove_with_gappa(compiled("planar2r", bits=6, target="integer"), coq=True)
    plan = proof.theorem.split("Section Plan.")[1]
    assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Conjecture)\b", proof.theorem)
    stated = re.findall(r"^Hypothesis (\w+)", plan, re.MULTILINE)
    assert stated
    assert all(name.startswith("given_premise_") for name in stated)
    assert plan.count("\nLemma ") == plan.count("Qed.") - 1


@gappa
def test_floats_are_refused() -> None:
    with pytest.raises(bt.BddTorqueError, match="integer"):
        prove_with_gappa(compiled("planar2r", bits=12, target="float"), coq=True)


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
