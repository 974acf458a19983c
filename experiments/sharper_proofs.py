"""Bits that a sharper proof saves in machine integers: the UR5 at 12 bits, planned for a Cortex-M0.

Words could be shorter by as many bits as a proof is sharper, at the same bound. In the product already: sine and cosine
of one angle as a pair, in errors and in ranges. What could come on top is found on random states, so that it is an
upper limit of what any proof of that kind can save:

- each rounding by the largest |d torque / d word| of any state, instead of a bound composed along every path
  (rotated vectors keep their length, terms that depend on each other cancel);
- all roundings at once, in the worst state: no proof that takes every rounding at its worst sign can do better.

    python experiments/sharper_proofs.py [--quick]
"""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from reporting import Check, arguments, below, finish, near, show_table, write_csv

import bddtorque as bt
from bddtorque.compiler.origin import from_recursion
from bddtorque.dynamics import node_ranges as ranges
from bddtorque.plan import bound
from bddtorque.plan.plan import Plan
from bddtorque.plan.reference import run_wires
from bddtorque.plan.wires import Lookup, Product, Sum

ROBOT, BITS, CHIP = "ur5", 12, "cortex-m0"
STATES, FEW_STATES = 20_000, 2_000
SAVED = [1.59, 0.64, 0.68, 0.90, 0.53, 0.66]
"""Recorded, in bits."""


def composed(model: bt.Model, plan: Plan, pairs: bool) -> np.ndarray:
    """Return what roundings of words cost each torque by the composed bound, in units; without pairs as a plain sum."""
    scales = {name: argument.scale for name, argument in model.formats.arguments.items()}
    facts = bound.planned_facts(plan.blocks)
    if pairs:
        bounds = bound.compose_bounds(plan, scales, facts)
    else:
        with patch.object(bound, "sine_of", lambda plan, lookup: None):
            bounds = bound.compose_bounds(plan, scales, facts)
    return np.array([each.total - 0.5 - each.constants - each.dropped for each in bounds])


def range_bits(model: bt.Model) -> np.ndarray:
    """Return, for every sum of the traced dynamics, the bits that pairs take off its range."""
    graph = from_recursion(model.robot).graph
    inputs = {name: each.interval() for name, each in model.formats.arguments.items() if each.kind == "word"}
    sharp = ranges.node_ranges(graph, inputs)
    with patch.object(ranges, "rotations", lambda left, right: iter(())):
        plain = ranges.node_ranges(graph, inputs)
    saved = [
        np.log2(wide.magnitude / narrow.magnitude)
        for wide, narrow in zip(plain, sharp, strict=True)
        if np.isfinite(wide.magnitude) and narrow.magnitude
    ]
    return np.array(saved)


def by_derivatives(model: bt.Model, plan: Plan, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what roundings cost each torque on random states: each at its worst state, and all in the worst state."""
    random = np.random.default_rng(1)
    words = [
        random.integers(kind.lowest, kind.highest, (count, len(kind)), endpoint=True) for kind in model.formats.inputs
    ]
    names = [f"{kind}{j + 1}" for kind in ("q", "qd", "qdd") for j in range(len(model.formats.q))]
    columns = [column for each in words for column in each.T]
    values = [each.astype(float) for each in run_wires(plan, model.tables, dict(zip(names, columns, strict=True)))]
    separate, together = [], []
    for output in plan.outputs:
        slopes = [np.zeros(count) for _ in plan.wires]
        for wire, factor in output.parts:
            slopes[wire] = slopes[wire] + factor / 2.0**output.shift
        costs = []
        for k in range(len(plan.wires) - 1, -1, -1):
            wire, slope = plan.wires[k], slopes[k]
            if isinstance(wire, Lookup) or (isinstance(wire, Sum | Product) and wire.shift):
                costs.append(np.abs(slope) / 2)
            if isinstance(wire, Sum):
                for source, factor in wire.parts:
                    slopes[source] = slopes[source] + slope * (factor / 2.0**wire.shift)
            elif isinstance(wire, Product):
                for source, other in ((wire.left, wire.right), (wire.right, wire.left)):
                    slopes[source] = slopes[source] + slope * values[other] / 2.0**wire.shift
        separate.append(sum(cost.max() for cost in costs))
        together.append(np.max(np.sum(costs, axis=0)))
    return np.array(separate), np.array(together)


def main() -> None:
    """Print units and bits torque by torque, and hold them against what was recorded."""
    options = arguments(__doc__)
    model = bt.compile(ROBOT, bits=BITS, target="integer", chip=CHIP)
    plan = model.plan
    if plan.in_floats:
        raise TypeError("a plan in words")
    plain, pairs = composed(model, plan, pairs=False), composed(model, plan, pairs=True)
    separate, together = by_derivatives(model, plan, FEW_STATES if options.quick else STATES)
    saved, left, most = np.log2(plain / pairs), np.log2(pairs / separate), np.log2(pairs / together)
    rows = [
        {
            "joint": name,
            "plain": round(plain[j], 3),
            "pairs": round(pairs[j], 3),
            "each at its worst": round(separate[j], 3),
            "worst state": round(together[j], 3),
            "bits by pairs": round(saved[j], 2),
            "bits left": round(left[j], 2),
            "bits left at most": round(most[j], 2),
        }
        for j, name in enumerate(model.robot.joint_names)
    ]
    show_table(rows)
    write_csv("sharper_proofs", rows)
    by_ranges = range_bits(model)
    tightest = float(left.min())
    finish(
        [
            Check("ours", "bits that pairs save, by joint", saved.round(2).tolist(), near(SAVED, absolute=0.1)),
            Check(
                "ours", "bits that pairs take off a range, mean", by_ranges.mean().round(2), near(0.72, absolute=0.05)
            ),
            Check(
                "ours", "bits that pairs take off a range, at most", by_ranges.max().round(2), near(2.71, absolute=0.1)
            ),
            Check("ours", "bits left to each rounding, tightest joint", round(tightest, 2), below(0.3)),
            Check("ours", "bits left to any proof, tightest joint", most.min().round(2), below(0.8)),
        ]
    )


if __name__ == "__main__":
    main()
