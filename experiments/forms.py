"""What each form of a block costs: nanoseconds a look-up, bytes, loads; and how much faster bits are side by side.

Every form is run by the look-up of the evaluators' own kernel, in turn with the others, round after round: once with
look-ups that do not wait for each other, once with each index waiting for the word before. Times are those of the
thread, so that other work on the machine counts little. Figures of the first prototypes stand beside as ratios to
the plain walk of every output bit.

    python experiments/forms.py [--quick]
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import matplotlib
import numba
import numpy as np
from reporting import TIMED, Check, Rule, arguments, at_most, below, finish, save_figure, show_table, write_csv

import bddtorque as bt
from bddtorque.evaluate.machine import look_up
from bddtorque.evaluate.program import block_pools
from bddtorque.plan.forms import FORMS, Bits, Form
from bddtorque.plan.reduction import reduce
from bddtorque.plan.table import Table
from bddtorque.targets.tables.choosing import candidate, choose_forms
from bddtorque.words.kernels import half_up_shift

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PROTOTYPES = {
    "sine": {"bits": 369.0, "multi_terminal": 37.0, "radix4": 17.0, "radix16": 8.6, "dense": 4.4},
    "product": {"bits": 1001.0, "multi_terminal": 94.0, "radix64": 13.5, "dense": 16.5},
}
"""Nanoseconds of the first prototypes on one shared core."""
NANOSECONDS_A_VISIT = 2.6
"""Of the plain walk of the prototypes."""


@numba.njit(nogil=True, _nrt=False)
def look_ups(blocks, values, rules, positions, successors, roots, steps, indices, words):  # type: ignore[no-untyped-def]
    """Look up words that do not wait for each other."""
    for i in range(len(indices)):
        words[i] = look_up(blocks, values, rules, positions, successors, roots, steps, 0, indices[i])


@numba.njit(nogil=True, _nrt=False)
def chained(blocks, values, rules, positions, successors, roots, steps, indices, zero, words):  # type: ignore[no-untyped-def]
    """Look up words of which each waits for the one before: `zero` is 0, which the compiler cannot know."""
    word = np.int64(0)
    for i in range(len(indices)):
        index = indices[i] ^ (word & zero)
        word = look_up(blocks, values, rules, positions, successors, roots, steps, 0, index)
        words[i] = word


@numba.njit(nogil=True, _nrt=False)
def multiply(indices, bits, shift, zero, words):  # type: ignore[no-untyped-def]
    """Give the words of a product block by the machine's own multiplication; `zero` as above."""
    half, mask = np.int64(1) << (bits - 1), (np.int64(1) << bits) - 1
    word = np.int64(0)
    for i in range(len(indices)):
        index = indices[i] ^ (word & zero)
        left, right = ((index >> bits) ^ half) - half, ((index & mask) ^ half) - half
        word = half_up_shift(left * right, shift)
        words[i] = word


def sine() -> Table:
    """Sine of a 12-bit angle in 12 bits."""
    return Table(np.round(2047 * np.sin(np.arange(4096) * 2 * np.pi / 4096)).astype(np.int64), (12,), 12, True)


def product(shift: int) -> Table:
    """Product of two 10-bit words, rounded by floor(x / 2^shift + 1/2)."""
    words = np.where(np.arange(1024) < 512, np.arange(1024), np.arange(1024) - 1024)
    exact = np.multiply.outer(words, words).reshape(-1)
    return Table((exact + ((1 << shift) >> 1)) >> shift, (10, 10), 20 - shift, True)


def contenders(
    table: Table, forms: dict[str, Form], indices: np.ndarray, shift: int | None
) -> dict[str, Callable[[int], np.ndarray]]:
    """Return, by name, a run over all indices: 0 for words that wait for none, 1 for words that wait for the last."""

    def run(pools: tuple[Any, ...]) -> Callable[[int], np.ndarray]:
        def once(waiting: int) -> np.ndarray:
            words = np.empty(len(indices), np.int64)
            if waiting:
                chained(*pools, indices, 0, words)
            else:
                look_ups(*pools, indices, words)
            return words

        return once

    found = {name: run(block_pools([form])) for name, form in forms.items()}
    if shift is not None:

        def native(waiting: int) -> np.ndarray:
            del waiting  # there is nothing to wait for but the multiplication
            words = np.empty(len(indices), np.int64)
            multiply(indices, table.input_bits // 2, shift, 0, words)
            return words

        found["native"] = native
    for name, each in found.items():
        for waiting in range(2):
            if not np.array_equal(each(waiting), table.values[indices]):
                raise AssertionError(f"{name} does not give the words of the table")
    return found


def measure(case: str, table: Table, shift: int | None, count: int, rounds: int) -> tuple[list[dict[str, Any]], float]:
    """Return a row for each form of a table, and by how much bits side by side are faster, the median of all rounds."""
    diagram = reduce(table).diagram
    forms = {name: form.from_table(table, diagram.order) for name, form in FORMS.items()}
    indices = np.random.default_rng(1).integers(0, 1 << table.input_bits, count)
    runs = contenders(table, forms, indices, shift)
    times: dict[tuple[str, int], list[float]] = {(name, waiting): [] for name in runs for waiting in range(2)}
    for _ in range(rounds):
        for (name, waiting), seconds in times.items():
            runs[name](waiting)  # brings its arrays back into the caches, which the others have filled
            begun = time.thread_time()
            runs[name](waiting)
            seconds.append((time.thread_time() - begun) / count * 1e9)
    chosen = choose_forms([table], [diagram.order])[0].form.name
    visits = Bits.from_diagram(diagram).count_tests(indices[:2000]).sum(axis=1).mean()
    best = {key: min(seconds) for key, seconds in times.items()}  # the round least disturbed by other work
    rows = []
    for name in runs:
        figures = candidate(forms[name]) if name in forms else None
        rows.append(
            {
                "case": case,
                "form": name,
                "ns": round(best[name, 0], 2),
                "ns waiting": round(best[name, 1], 2),
                "ratio to bits": round(best[name, 0] / best["bits", 0], 4),
                "bytes": figures.bytes if figures else 0,
                "loads": figures.loads if figures else 0,
                "depth": figures.depth if figures else 0,
                "cost": figures.cost if figures else 0,
                "constant": "yes" if not figures or figures.constant else "no",
                "chosen": "*" if name == chosen else "",
                "node visits": round(float(visits), 1) if name == "bits" else "",
            }
        )
    pairs = zip(times["bits", 0], times["lockstep", 0], strict=True)
    return rows, statistics.median(one / other for one, other in pairs)


def whole_arm(model: bt.Model, count: int, rounds: int) -> float:
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


def checks_of(rows: list[dict[str, Any]], gains: dict[str, float]) -> list[Check]:
    """Compare with the prototypes' figures, as ratios to the plain walk, and with what is asked of bits."""
    tripled = Rule("at least 3", lambda ours: ours >= 3)
    checks = [
        Check("ours", f"bits side by side against one after another, {case}", gain, TIMED, goal=tripled)
        for case, gain in gains.items()
    ]
    for key, prototype in PROTOTYPES.items():
        case = next(row["case"] for row in rows if row["case"].startswith(key))
        found = {row["form"]: row["ns"] for row in rows if row["case"] == case}
        for name, nanoseconds in prototype.items():
            if name != "bits":
                wanted = nanoseconds / prototype["bits"]
                twice = Rule(f"about {wanted:.4f}, twice at most", at_most(2 * wanted).holds)
                ratio = found[name] / found["bits"]
                checks.append(Check("ours", f"{name} against plain bits, {case}", ratio, TIMED, goal=twice))
    visit = statistics.median(row["ns"] / row["node visits"] for row in rows if row["form"] == "bits")
    slow = [row["case"] for row in rows if row["chosen"] and row["ns waiting"] > 2 * fastest(rows, row["case"])]
    none = Rule("none", lambda ours: not ours)
    return [
        *checks,
        Check("ours", "plain bits, ns a node visit", visit, TIMED, goal=below(3 * NANOSECONDS_A_VISIT)),
        Check("ours", "cases in which the form chosen takes twice the fastest (waiting words)", slow, TIMED, goal=none),
    ]


def fastest(rows: list[dict[str, Any]], case: str) -> float:
    """Return the least nanoseconds of any table form of a case, each word waiting for the one before."""
    return min(row["ns waiting"] for row in rows if row["case"] == case and row["form"] != "native")


def draw(rows: list[dict[str, Any]], cases: list[str]) -> None:
    """Draw time against bytes, a panel a case, a mark a form."""
    figure, axes = plt.subplots(2, 2, figsize=(11, 8.2), layout="constrained")
    names = [*FORMS, "native"]
    colours = dict(zip(names, (*plt.get_cmap("tab10").colors, "black"), strict=True))
    marks = dict(zip(names, "sDo^<v>PXp*", strict=True))
    for axis, case in zip(axes.flat, cases, strict=True):
        for row in (row for row in rows if row["case"] == case):
            name = row["form"]
            place = max(row["bytes"], 16)
            axis.plot([place, place], [row["ns"], row["ns waiting"]], color=colours[name], lw=1, alpha=0.6)
            axis.plot(place, row["ns"], marks[name], color=colours[name], ms=8, label=name.replace("_", " "))
            axis.plot(place, row["ns waiting"], marks[name], color=colours[name], ms=8, mfc="none")
        axis.set(xscale="log", yscale="log", title=case, xlabel="bytes (native: none)", ylabel="ns a look-up")
        axis.set(xlim=(10, 3e7), ylim=(1, 3000))
        axis.grid(alpha=0.3, which="both")
    handles, labels = axes.flat[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center")
    figure.suptitle(
        "Time and memory of each form of a block: filled marks do not wait for the word before, hollow ones do"
    )
    save_figure("forms", figure)


def main() -> None:
    quick = arguments(__doc__).quick
    count, rounds = (20_000, 3) if quick else (100_000, 15)
    model = bt.compile("planar2r", bits=12)
    cases: list[tuple[str, Table, int | None]] = [
        ("sine, 12 bits", sine(), None),
        ("product, 10×10 bits, rounded to 10", product(10), 10),
        ("exact product, 10×10 bits", product(0), 0),
    ]  # the last block of the arm is the table of quarter squares that all its products share
    cases += [(f"planar2r, block {k}", table, None) for k, table in enumerate(model.tables) if k == 4 or not quick]
    rows, gains = [], {}
    for case, table, shift in cases:
        found, gains[case] = measure(case, table, shift, count, rounds)
        print(f"\n{case}")
        show_table([{key: value for key, value in row.items() if key != "case"} for row in found])
        rows += found
    gains["planar2r, whole torques"] = whole_arm(model, count // 4, rounds)
    write_csv("forms", rows)
    draw(rows, [case for case, _, _ in (*cases[:3], cases[-1])])
    finish(checks_of(rows, gains))


if __name__ == "__main__":
    main()
