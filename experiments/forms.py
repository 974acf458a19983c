"""Forms of blocks that are chosen, by arm, target, word length and flash budget; and bits side by side or not.

For each compiled arm the forms that give whole words are chosen within budgets from all that dense tables take down to
the least that any forms take. Beside the choice stands what the smallest forms take together with and without each of
them. Then the evaluator `bits` is timed with all output bits of a block side by side and one after another.

    python experiments/forms.py [--quick]
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np
from reporting import TIMED, Check, Rule, arguments, finish, show_table, write_csv

import bddtorque as bt
from bddtorque.plan.forms import WORD_FORMS
from bddtorque.plan.plan_cost import BudgetError, Candidate, pick
from bddtorque.targets.tables.cost import candidate, contenders

SHARES = (1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2)
"""Budgets, of what dense tables take."""
BITS = {"tables": (8, 10, 12), "integer": (8, 12, 16)}
ARMS = ("planar2r", "scara", "puma560", "ur5")
COLLECTED = ("ur_description/urdf/ur10_robot.urdf", "z1_description/urdf/z1.urdf")
"""Of the Python package example-robot-data, if it is installed."""


def collection() -> list[Path]:
    """Return the files of `COLLECTED`; none if the package is not installed."""
    try:
        files = distribution("example-robot-data").files or []
    except PackageNotFoundError:
        return []
    return [Path(str(file.locate())) for file in files if str(file).endswith(COLLECTED)]


def candidates(model: bt.Model) -> list[list[Candidate]]:
    """Return what each form of whole words costs, block by block."""
    pairs = zip(model.tables, model.diagrams, strict=True)
    return [
        [candidate(form) for form in contenders(table, diagram.order, everything=True).values()]
        for table, diagram in pairs
    ]


def smallest(blocks: list[list[Candidate]], without: str = "") -> int:
    """Return the bytes of the smallest forms, one of them left out."""
    return sum(min(each.bytes for each in block if each.name != without) for block in blocks)


def chosen(blocks: list[list[Candidate]]) -> Counter[str]:
    """Return how often each form is chosen, over all budgets that the smallest forms fit."""
    dense = sum(block[0].bytes for block in blocks)
    counts: Counter[str] = Counter()
    for share in SHARES:
        try:
            picked = pick(blocks, int(share * dense))
        except BudgetError:
            break
        counts.update(each.name for block in picked for each in block if each.chosen)
    return counts


def row_of(name: str, target: str, bits: int) -> dict[str, Any]:
    """Return what is chosen for an arm."""
    blocks = candidates(bt.compile(name, target=target, bits=bits))
    counts = chosen(blocks)
    return {
        "arm": Path(name).stem,
        "target": target,
        "bits": bits,
        "blocks": len(blocks),
        **{f"{form} chosen": counts[form] for form in WORD_FORMS},
        "dense bytes": sum(block[0].bytes for block in blocks),
        "smallest bytes": smallest(blocks),
        **{f"without {form}": smallest(blocks, form) for form in WORD_FORMS[1:]},
    }


def side_by_side(model: bt.Model, count: int, rounds: int) -> float:
    """Return how much faster the evaluator bits is side by side than one after another, whole torques, median."""
    rng = np.random.default_rng(2)
    words = [rng.integers(-2048, 2048, (count, 2)) for _ in range(3)]
    runs = [model.evaluator("bits", form) for form in ("bits", "lockstep")]
    if not np.array_equal(*(each.torque_words(*words) for each in runs)):
        raise AssertionError("bits and lockstep give different words")
    ratios = []
    for _ in range(rounds):
        taken = []
        for each in runs:
            begun = time.thread_time()
            each.torque_words(*words)
            taken.append(time.thread_time() - begun)
        ratios.append(taken[0] / taken[1])
    return statistics.median(ratios)


def main() -> None:
    """Choose, time, check and write."""
    options = arguments(__doc__)
    arms = ["planar2r"] if options.quick else [*ARMS, *map(str, collection())]
    rows = [row_of(arm, target, bits) for arm in arms for target, each in BITS.items() for bits in each]
    show_table(rows)
    write_csv("forms", rows)
    gain = side_by_side(bt.compile("planar2r", bits=12), *((500, 5) if options.quick else (5_000, 15)))
    some = Rule("some", lambda ours: ours > 0)
    checks = [
        Check("ours", f"times that '{form}' is chosen", sum(row[f"{form} chosen"] for row in rows), some)
        for form in WORD_FORMS
        if not options.quick or form != "edge_valued"  # which larger arms choose
    ]
    tripled = Rule("at least 3", lambda ours: ours >= 3)
    checks.append(Check("ours", "bits side by side against one after another", gain, TIMED, goal=tripled))
    finish(checks)


if __name__ == "__main__":
    main()
