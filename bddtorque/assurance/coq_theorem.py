"""The whole proof of a plan as one Coq file: every lemma as Gappa proves it, and the theorem made of them.

`gappa -Bcoq` writes the proof of each lemma for Coq; its rewritings are left as hypotheses there. Here each of them is
proved, the lemmas are applied to one another, and what remains is a theorem about real numbers: whatever the
angles, if the input words are in their ranges and the entries of the tables, or the floats of the sines, as close to
sines and cosines as they were found to be, the words that the plan computes are within the bound.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from bddtorque.assurance.coq_tables import REQUIRED, CosineTable
from bddtorque.assurance.identities import circle
from bddtorque.assurance.lemmas import Ends, Lemma, Prover, packaged
from bddtorque.base.errors import BddTorqueError
from bddtorque.export.folder import fill

FLOATS = {"ieee_32": ("24", "-149"), "ieee_64": ("53", "-1074")}
"""Of Gappa's formats the digits of a significand, and the exponent of the smallest float."""


def coq_file(
    title: str, prover: Prover, units: dict[str, tuple[str, str]], goals: Sequence[str], tables: Sequence[CosineTable]
) -> str:
    """Return the Coq file of what a prover has proved.

    Words are variables with the equations of the plan as hypotheses, not local definitions: Coq would write these out
    wherever they occur, and the expressions grow exponentially along a chain of joints.

    `units`: of each sine or cosine its function, such as ``"sin"``, and the name of its angle; `goals`: the facts that
    the theorem is about; `tables`: those whose entries Coq is to check.
    """
    readings: list[str] = []  # lemmas that do not depend on the plan, kept out of its long list of hypotheses
    modules: list[str] = []
    facts: list[str] = []
    names: dict[str, str] = {}
    premises: list[str] = []
    by_table = {expression: proof for table in tables for expression, proof in table.proofs().items()}
    for n, expression in enumerate(prover.reasons):
        names[expression] = f"premise_{n}"
        interval = _interval(prover.known[expression])
        stated = f"Lemma premise_{n} : BND {translated(expression)} {interval}."
        proof = _proof_of_unit(expression, units)
        if not proof:
            low, high = _real(prover.known[expression].low), _real(prover.known[expression].high)
            readings.append(f"Lemma reading_{n} : forall x, ({low} <= x <= {high})%R -> BND x {interval}.")
            readings.append("Proof. intros. plain. Qed.")
            given = f"given_premise_{n} : ({low} <= {translated(expression)} <= {high})%R."
            proved = by_table.get(expression)
            premises.append(f"Lemma {given} Proof. {proved} Qed." if proved else f"Hypothesis {given}")
            proof = f"exact (reading_{n} _ given_premise_{n})."
        premises += [stated, f"Proof. {proof} Qed."]
    defined: dict[str, str] = {}
    for lemma in prover.lemmas:
        for name, expression in lemma.definitions:
            if name not in defined:
                defined[name] = expression
                facts.append(f"Variable {name} : R. Hypothesis def_{name} : {name} = {translated(expression)}.")
        for goal in dict.fromkeys(lemma.goals):
            module = f"M{len(modules)}"
            text = _generated(prover, replace(lemma, goals=(goal,)))
            modules.append(f"Module {module}. (* {lemma.name} *)\n{text}End {module}.")
            stated = f"Lemma fact_{module} : BND {translated(goal)} {_interval(prover.known[goal])}."
            facts += [stated, _application(module, lemma, [names[p] for p in dict.fromkeys(lemma.premises)])]
            names[goal] = f"fact_{module}"
    claims, proofs = [], []
    for n, goal in enumerate(goals):
        most = _real(prover.known[goal].magnitude)
        readings.append(f"Lemma most_{n} : forall x, BND x {_interval(prover.known[goal])} -> (Rabs x <= {most})%R.")
        readings.append("Proof. intros. apply Rabs_le. plain. Qed.")
        claims.append(f"(Rabs {translated(goal)} <= {most})%R")
        proofs.append(f"- exact (most_{n} _ {names[goal]}).")
    declared = {name: text for table in tables for name, text in table.definitions().items()}
    used = [*re.findall(r"\b[A-Za-z]\w*", " ".join(prover.reasons)), *(angle for _, angle in units.values())]
    free = sorted({*used} - {*units} - {*defined} - {*declared})
    digits, lowest = FLOATS[prover.float_format]
    parts = {"title": _comment(title), "required": REQUIRED * bool(tables), "digits": digits, "lowest": lowest}
    header = fill(packaged("plan.v"), **parts)
    lines = [header, *modules, ""]
    if tables:
        checked = [line for table in tables for line in table.lemmas(prover.known)]
        lines += [packaged("tables.v"), *checked, "End Tables.", ""]
    lines += [*readings, "", "Section Plan.", f"Variables {' '.join(free)} : R.", *declared.values()]
    for unit, (function, angle) in units.items():
        lines.append(f"Variable {unit} : R. Hypothesis def_{unit} : ({unit} = {function} {angle})%R.")
    statement = " /\\ ".join(claims) or "True"
    theorem = [f"Theorem bounds : {statement}.", f"Proof. repeat split. {' '.join(proofs)} Qed."]
    lines += [*premises, "", *facts, "", *theorem, "End Plan.", "", "Check bounds.", "Print Assumptions bounds.", ""]
    return "\n".join(lines)


def _comment(text: str) -> str:
    """Return text that is harmless in a comment: Coq reads nested comments and strings there too."""
    return text.replace('"', "'").replace("(*", "( *").replace("*)", "* )")


def _generated(prover: Prover, lemma: Lemma) -> str:
    """Return what Gappa writes for Coq about a lemma of one goal."""
    done = prover.run(lemma, True, "-Bcoq")
    if done.returncode or "UNKNOWN" in done.stdout:
        raise BddTorqueError(f"lemma {lemma.name}: Gappa has no proof of it for Coq")
    return done.stdout.replace("Require Import Gappa.Gappa_library.\n", "")


def _application(module: str, lemma: Lemma, premises: Sequence[str]) -> str:
    """Return the proof that applies the lemma of a module, in which definitions are written out, to what is known."""
    joined = ""
    for each in [*premises, "outside"]:
        joined = f"(conj {joined} {each})" if joined else each
    rewriting = ", ".join(f"?def_{name}" for name, _ in reversed(lemma.definitions))
    rewritten = f"rewrite {rewriting} in all; " if rewriting else ""
    return (
        f"Proof. apply inside; intro outside; assert (all := {joined}); {rewritten}"
        f"eapply {module}.l1; [.. | exact all]; identity. Qed."
    )


def _proof_of_unit(expression: str, units: dict[str, tuple[str, str]]) -> str:
    """Return the proof of a premise about sines and cosines alone; nothing of any other."""
    pair = [name for name in re.findall(r"[A-Za-z]\w*", expression) if name in units]
    rewriting = f"rewrite {', '.join(f'?def_{unit}' for unit in dict.fromkeys(pair))}."
    if [expression] == pair:
        function, angle = units[expression]
        other = "cos" if "sin" in function else "sin"
        return f"{rewriting} apply (unit_range _ ({other} {angle})). circle {angle}."
    if len(pair) == 4 and expression == circle(pair[0], pair[2]):
        return f"{rewriting} apply unit_circle. circle {units[pair[0]][1]}."
    return ""


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
