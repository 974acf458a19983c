"""Every fact that the lemmas of a proof state, as a premise or as a result, is true of the words that plans compute.

So no lemma follows from premises that contradict one another, and every word in a lemma is the one of its wire. All is
computed in rational numbers, tables to 25 digits.
"""

import math
import re
import shutil
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from compiled import compiled, rubbing_arm
from random_cases import random_arm

import bddtorque as bt
from bddtorque.assurance import gappa_proof
from bddtorque.assurance.lemmas import Prover
from bddtorque.assurance.word_lemmas import WordLemmas
from bddtorque.compiler.verify import redraft
from bddtorque.plan.blocks import FunctionBlock, LawBlock
from bddtorque.plan.plan import Plan
from bddtorque.plan.reference import run_wires
from bddtorque.plan.tabulate import law_rounded_exactly, rounded_exactly, tabulate
from bddtorque.plan.wires import Input, Lookup, Sine

pytestmark = pytest.mark.skipif(shutil.which("gappa") is None, reason="gappa is not installed")

DIGIT = Fraction(1, 10**25)
SLACK = Fraction(1, 10**20)
"""Of an interval's end: more than tables to so many digits are off."""
STATES = 12


def exact_entry(block: Any, words: list[int]) -> Fraction:
    """Return the value that an entry of a table stands for, in units of the word."""
    if isinstance(block, FunctionBlock):
        arguments = {f"x{k}": argument for k, argument in enumerate(block.arguments)}
        state = {f"x{k}": word for k, word in enumerate(words)}
        return rounded_exactly(block.graph, arguments, [state], block.lsb * DIGIT)[0] * DIGIT
    assert isinstance(block, LawBlock)
    values = [argument.scale * word + argument.centre for argument, word in zip(block.arguments, words, strict=True)]
    ends = -(10**60), 10**60  # not clamped
    return law_rounded_exactly(block.law, values, block.lsb * DIGIT, block.centre, block.sign, *ends)[0] * DIGIT


def exact_sine(plan: Plan, wire: Sine, word: int) -> Fraction:
    with mpmath.workdps(40):
        angle = mpmath.pi * word / 2 ** (plan.bits_of(wire.word) - 1)
        angle += mpmath.mpf(wire.rest.numerator) / wire.rest.denominator
        value = mpmath.cos(angle) if wire.cosine else mpmath.sin(angle)
        return int(mpmath.nint(value / mpmath.mpf(10) ** -25)) * DIGIT


def values_of(expression: str, names: dict[str, Any]) -> Fraction:
    """Return the value of an expression in Gappa's syntax."""
    text = re.sub(r"\b(\d+)b-(\d+)", r"F(\1, 2**\2)", expression)
    text = re.sub(r"(?<![\w*.(])(\d+)(?![\w*])|(?<=\()(\d+)(?= [/*])", lambda m: f"F({m[1] or m[2]})", text)
    text = re.sub(r"\|([^|]*)\|", r"abs(\1)", text)
    return Fraction(eval(text, {"F": Fraction, "abs": abs, "__builtins__": {}}, names))


def facts_hold(model: bt.Model) -> int:
    """Return how many facts were compared with what is so in some states."""
    draft, _ = redraft(model)
    plan, prover = draft.plan, Prover()
    lemmas = gappa_proof._lemmas(draft, [tabulate(block)[1] for block in plan.blocks], prover)
    lemmas.prove()
    rng = np.random.default_rng(0)
    wires = [wire for wire in plan.wires if isinstance(wire, Input)]
    inputs = {wire.name: rng.integers(wire.lowest, wire.highest, STATES, endpoint=True) for wire in wires}
    for j, wire in enumerate(wires):
        inputs[wire.name][:3] = (wire.lowest, wire.highest, wire.highest if j % 2 else wire.lowest)
    floats = plan.in_floats
    computed = [np.broadcast_to(values, STATES) for values in run_wires(plan, model.tables, inputs)]
    for state in range(STATES):
        names: dict[str, Any] = {"floor": math.floor, "half_even": round}
        names |= {name: Fraction(0) for name, why in prover.reasons.items() if why == "terms left out"}
        letter = "f" if floats else "a"
        for k, wire in enumerate(plan.wires):
            names[f"{letter}{k}"] = Fraction(computed[k][state].item())
            if isinstance(wire, Lookup) and plan.blocks[wire.block].kind in ("function", "law"):
                names[f"t{k}"] = exact_entry(plan.blocks[wire.block], [int(computed[i][state]) for i in wire.wires])
            if isinstance(wire, Sine):
                names[f"t{k}"] = exact_sine(plan, wire, int(computed[wire.word][state]))
        if isinstance(lemmas, WordLemmas):
            names |= {unit: names[f"t{k}"] / scale for k, (unit, scale, *_) in lemmas.units.items()}
        else:
            names["rnd"] = lambda value: Fraction(plan.floats.nearest(Fraction(value)))
        for lemma in prover.lemmas:
            for name, expression in lemma.definitions:
                value = values_of(expression, names)
                assert name not in names or abs(names[name] - value) <= SLACK * max(1, abs(value)), (lemma.name, name)
                names.setdefault(name, value)
        for expression, ends in prover.known.items():
            value = values_of(expression, names)
            assert ends.low - SLACK <= value <= ends.high + SLACK, expression
    return len(prover.known)


CASES: dict[str, Callable[[], bt.Model]] = {
    "integer": lambda: compiled("planar2r", bits=12, target="integer"),
    "float": lambda: compiled("planar2r", bits=12, target="float"),
    "tables": lambda: compiled("planar2r", bits=6),
    "friction": rubbing_arm,
}
LARGE = {
    "scara": lambda: compiled("scara", bits=12, target="integer"),
    "scara in floats": lambda: compiled("scara", bits=12, target="float"),
    "scara in tables": lambda: compiled("scara", bits=8),
    "ur5": lambda: compiled("ur5", bits=12, target="integer"),
    "ur5 in floats": lambda: compiled("ur5", bits=12, target="float"),
    "stanford": lambda: compiled("stanford", bits=8),
    **{f"arm {seed}": lambda seed=seed: random_arm(seed) for seed in range(6)},
}
MAKERS = {**CASES, **LARGE}


@pytest.mark.parametrize("case", [*CASES, *(pytest.param(name, marks=pytest.mark.everything) for name in LARGE)])
def test_every_fact_holds_in_every_state(case: str) -> None:
    assert facts_hold(MAKERS[case]()) > 10
