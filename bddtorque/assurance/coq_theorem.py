"""The whole proof of a plan in words as one Coq file: every lemma as Gappa proves it, and the theorem made of them.

`gappa -Bcoq` writes the proof of each lemma for Coq; its rewritings are left as hypotheses there. Here each of them is
proved, the lemmas are applied to one another, and what remains is a theorem about real numbers: whatever the
angles, if the input words are in their ranges and the entries of the tables as close to sines and cosines as they were
found to be, the words that the plan computes are within the bound.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from bddtorque.assurance.lemmas import OPTIONS, Ends, Lemma, Prover
from bddtorque.base.errors import BddTorqueError

HEADER = """\
(* {title} *)
From Coq Require Import Reals Lra.
From Flocq Require Import Core.
Require Import Gappa.Gappa_library.

(* A number that is not outside of an interval is inside: order on the reals is decidable. *)
Lemma inside : forall x i, (~ BND x i -> False) -> BND x i.
Proof.
intros x i outside. unfold BND in *.
destruct (Rle_dec (lower i) x) as [low|low]; [|elim outside; intros [H _]; exact (low H)].
destruct (Rle_dec x (upper i)) as [high|high]; [split; assumption|elim outside; intros [_ H]; exact (high H)].
Qed.

(* What is written `floor` in the plan. *)
Definition floor (x : R) : R := round radix2 (FIX_exp 0) Zfloor x.
Lemma floor_is_floor : forall x, floor x = IZR (Zfloor x).
Proof.
intros x. unfold floor, round, F2R, scaled_mantissa, cexp, FIX_exp. simpl.
rewrite Rmult_1_r, Rmult_1_r. reflexivity.
Qed.

(* The rewritings that Gappa was given: identities of polynomials, and |x| = sqrt (x * x). *)
Ltac powers :=
  repeat match goal with
  | |- context [Z.pow_pos ?a ?b] => let v := eval vm_compute in (Z.pow_pos a b) in change (Z.pow_pos a b) with v
  end.
Ltac identity :=
  first [ exact (eq_sym (sqrt_Rsqr_abs _))
        | unfold Float1, float2R, F2R; simpl; powers; field; repeat split; apply IZR_neq; discriminate ].

(* Bounds of two's complement and powers of two as plain inequalities. *)
Ltac plain := unfold BND, float2R, F2R in *; simpl in *; lra.
"""


def coq_file(title: str, prover: Prover, units: dict[str, tuple[str, str]], goals: Sequence[str]) -> str:
    """Return the Coq file of what a prover has proved.

    Parameters
    ----------
    title
        One line.
    prover
        After its lemmas were proved; of a plan in words.
    units
        Of each sine or cosine its function, ``"sin"`` or ``"cos"``, and the name of its angle.
    goals
        The facts that the theorem is about.
    """
    modules: list[str] = []
    facts: list[str] = []
    names = {expression: f"premise_{n}" for n, expression in enumerate(prover.reasons)}
    defined: set[str] = set()
    for lemma in prover.lemmas:
        for name, expression in lemma.definitions:
            if name not in defined:
                defined.add(name)
                facts.append(f"Let {name} : R := {translated(expression)}.")
        for goal in dict.fromkeys(lemma.goals):
            module = f"M{len(modules)}"
            text = _generated(prover, replace(lemma, goals=(goal,)))
            modules.append(f"Module {module}. (* {lemma.name} *)\n{text}End {module}.")
            facts.append(
                _fact(
                    f"fact_{module}",
                    module,
                    goal,
                    prover.known[goal],
                    [names[p] for p in dict.fromkeys(lemma.premises)],
                )
            )
            names[goal] = f"fact_{module}"
    used = {*re.findall(r"\b[A-Za-z]\w*", " ".join(prover.reasons))}
    free = sorted(used - {*units} - defined)
    lines = [
        HEADER.replace("{title}", title.replace("*)", "* )")),
        *modules,
        "",
        "Section Plan.",
        f"Variables {' '.join(free)} : R.",
    ]
    if units:
        lines.append(f"Variables {' '.join(sorted({angle for _, angle in units.values()}))} : R.")
    lines += [f"Let {unit} : R := {function} {angle}." for unit, (function, angle) in units.items()]
    for expression in prover.reasons:
        lines += _premise(names[expression], expression, prover.known[expression], units)
    claims = [f"(Rabs {translated(goal)} <= {_real(prover.known[goal].magnitude)})%R" for goal in goals]
    proofs = " ".join(f"- assert (H := {names[goal]}); apply Rabs_le; plain." for goal in goals)
    statement = " /\\ ".join(claims)
    lines += ["", *facts, "", f"Theorem bounds : {statement}.", f"Proof. repeat split. {proofs} Qed.", "End Plan.", ""]
    return "\n".join([*lines, "Check bounds.", "Print Assumptions bounds.", ""])


def _generated(prover: Prover, lemma: Lemma) -> str:
    """Return what Gappa writes for Coq about a lemma of one goal."""
    script = lemma.script(prover.known, prover.float_format, answered=True)
    command = [prover.path, *OPTIONS, "-Bcoq"]
    done = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
    if done.returncode or "UNKNOWN" in done.stdout:
        raise BddTorqueError(f"lemma {lemma.name}: Gappa has no proof of it for Coq")
    return done.stdout.replace("Require Import Gappa.Gappa_library.\n", "")


def _fact(name: str, module: str, goal: str, ends: Ends, premises: Sequence[str]) -> str:
    """Return a lemma that applies the one in a module to what is known."""
    joined = premises[0]
    for each in premises[1:]:
        joined = f"(conj {joined} {each})"
    return (
        f"Lemma {name} : BND {translated(goal)} {_interval(ends)}.\n"
        f"Proof. apply inside; intro outside; eapply {module}.l1; [.. | exact (conj {joined} outside)]; identity. Qed."
    )


def _premise(name: str, expression: str, ends: Ends, units: dict[str, tuple[str, str]]) -> list[str]:
    """Return a premise: a fact about sines and cosines with its proof, any other as a hypothesis."""
    bound = f"Lemma {name} : BND {translated(expression)} {_interval(ends)}."
    if expression in units:
        function, angle = units[expression]
        return [bound, f"Proof. assert (H := {function.upper()}_bound {angle}). fold {expression} in H. plain. Qed."]
    if ends == Ends(Fraction(1), Fraction(1)):  # c * c + s * s
        angle = next(angle for unit, (_, angle) in units.items() if re.search(rf"\b{unit}\b", expression))
        return [bound, f"Proof. assert (H := sin2_cos2 {angle}). unfold Rsqr in H. {_unfold(units)} plain. Qed."]
    plain = f"Hypothesis given_{name} : ({_real(ends.low)} <= {translated(expression)} <= {_real(ends.high)})%R."
    return [plain, bound, f"Proof. assert (H := given_{name}). plain. Qed."]


def _unfold(units: dict[str, tuple[str, str]]) -> str:
    return f"unfold {', '.join(units)}."


def _interval(ends: Ends) -> str:
    return f"(makepairF {_dyadic(ends.low)} {_dyadic(ends.high)})"


def _dyadic(value: Fraction) -> str:
    """Return a number as Gappa writes it for Coq: an odd mantissa, and an exponent."""
    if not value:
        return "(Float2 (0) (0))"
    twos = (value.numerator & -value.numerator).bit_length() - 1
    exponent = twos - (value.denominator.bit_length() - 1)
    return f"(Float2 ({value.numerator >> twos}) ({exponent}))"


def _real(value: Fraction) -> str:
    return f"({value.numerator} / {value.denominator})" if value.denominator > 1 else f"({value.numerator})"


def translated(expression: str) -> str:
    """Return an expression of Gappa in Coq's syntax."""

    def token(match: re.Match[str]) -> str:
        if match["dyadic"]:
            mantissa, exponent = match["dyadic"].split("b")
            return f"(float2R (Float2 ({mantissa}) ({exponent})))"
        return f"(Float1 ({match['integer']}))" if match["integer"] else match[0]

    text = re.sub(r"(?P<dyadic>-?\d+b-\d+)|(?P<name>[A-Za-z_]\w*)|(?P<integer>-?\d+)", token, expression)
    text = re.sub(r"[|]([^|]*)[|]", r"(Rabs (\1))", text)
    return f"({text})%R"
