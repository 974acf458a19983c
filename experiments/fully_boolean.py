"""The fully Boolean arm beside the hybrid: one truth table from all 3n words to each torque, and why it was given up.

The paper starts from one table of 3n input words (F40: 6 for the 2R arm), and turns to separate terms joined by
ordinary sums because the table grows as 2^(3n·r). At 2 to 4 bits a word both can be built: rows, diagram nodes, time
to build and to run, and error.

    python experiments/fully_boolean.py [--quick]
"""

from __future__ import annotations

import time

import matplotlib
import numpy as np
from reporting import Check, arguments, at_most, finish, save_figure, show_table, write_csv

import bddtorque as bt
from bddtorque.plan.forms import make_form
from bddtorque.plan.reduction import reduce
from bddtorque.plan.table import Table
from bddtorque.spec import load_spec
from bddtorque.words.rounding import round_half_away

matplotlib.use("Agg")
import matplotlib.pyplot as plt

WORDS = 6
STATES = 200_000
REPEATS = 3


def timed(run: object, count: int) -> float:
    """Return ns a state, the best of a few runs."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return round(min(times) / count * 1e9, 1)


def all_words(r: int) -> list[np.ndarray]:
    """Return q, qd and qdd words of every state, in the order of a table's index."""
    axis = np.arange(1 << r)
    axis = np.where(axis >= 1 << (r - 1), axis - (1 << r), axis)
    grid = np.stack(np.meshgrid(*[axis] * WORDS, indexing="ij"), axis=-1).reshape(-1, WORDS)
    return [grid[:, :2], grid[:, 2:4], grid[:, 4:]]


def true_units(formats: bt.Interface, words: list[np.ndarray]) -> np.ndarray:
    """Return the torques of states in words, in units of the torque words, clamped to them."""
    states = [kind.dequantise(each) for kind, each in zip(formats.inputs, words, strict=True)]
    units = bt.inverse_dynamics(bt.load_robot("planar2r"), *states) / formats.tau.lsb
    return np.clip(units, formats.tau.lowest, formats.tau.highest)


def full(r: int) -> dict[str, object]:
    """Build one table for each torque over all six words, and its diagram."""
    formats = load_spec("planar2r").with_options(bits=r).formats(bt.load_robot("planar2r"))
    start = time.perf_counter()
    units = true_units(formats, all_words(r))
    tables = [Table(round_half_away(units[:, j]), (r,) * WORDS, r, True) for j in range(2)]
    tabulated = time.perf_counter()
    diagrams = [reduce(table).diagram for table in tables]
    reduced = time.perf_counter()
    index = np.random.default_rng(r).integers(0, 1 << (WORDS * r), STATES)
    times = {}
    for name in ("bits", "dense"):
        forms = [make_form(name, table, diagram) for table, diagram in zip(tables, diagrams, strict=True)]
        times[name] = timed(lambda forms=forms: [form.walk(index) for form in forms], STATES)
    error = max(float(np.abs(table.values - units[:, j]).max()) for j, table in enumerate(tables))
    return {
        "r": r,
        "way": "fully Boolean",
        "tables": 2,
        "rows": sum(len(table.values) for table in tables),
        "nodes": sum(diagram.node_count for diagram in diagrams),
        "tabulate_s": round(tabulated - start, 3),
        "reduce_s": round(reduced - tabulated, 3),
        "bits_ns": times["bits"],
        "dense_ns": times["dense"],
        "error_found": round(error, 4),
        "error_proved": 0.5,
    }


def hybrid(r: int) -> dict[str, object]:
    """Compile the arm as the compiler does: tables of terms, ordinary sums."""
    start = time.perf_counter()
    model = bt.compile("planar2r", bits=r, cache=None, workers=1)
    seconds = time.perf_counter() - start
    rng = np.random.default_rng(r)
    words = [rng.integers(-(1 << (r - 1)), 1 << (r - 1), (STATES, 2)) for _ in range(3)]
    times = {}
    for name, evaluator in (("bits", model.evaluator("bits")), ("dense", model.evaluator("words"))):
        times[name] = timed(lambda evaluator=evaluator: evaluator.torque_words(*words), STATES)
    error = float(np.abs(model.torque_words(*words) - true_units(model.formats, words)).max())
    return {
        "r": r,
        "way": "hybrid",
        "tables": len(model.tables),
        "rows": sum(len(table.values) for table in model.tables),
        "nodes": sum(diagram.node_count for diagram in model.diagrams),
        "tabulate_s": "",
        "reduce_s": round(seconds, 3),
        "bits_ns": times["bits"],
        "dense_ns": times["dense"],
        "error_found": round(error, 4),
        "error_proved": round(max(model.certificate.bounds), 4),
    }


def expected_rows(r: int) -> int:
    """Return the rows of two tables over 3n = 6 words of r bits."""
    return 2 << (WORDS * r)


def checks_of(found: list[dict[str, object]]) -> list[Check]:
    """Check the rows of full tables, and that errors are within their bounds."""
    checks = []
    for row in found:
        what = f"r = {row['r']}, {row['way']}"
        if row["way"] != "hybrid":
            rows = expected_rows(row["r"])
            checks.append(Check("F40", f"{what}: rows of two tables over 3n = 6 words", row["rows"], rows, rows))
        checks.append(Check("ours", f"{what}: largest error", row["error_found"], at_most(row["error_proved"])))
    return checks


def draw(found: list[dict[str, object]]) -> None:
    """Draw rows (with what would follow), nodes and building time over the word length."""
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    for way, colour in (("fully Boolean", "tab:red"), ("hybrid", "tab:blue")):
        mine = [row for row in found if row["way"] == way]
        r = [row["r"] for row in mine]
        axes[0].semilogy(r, [row["rows"] for row in mine], "o-", color=colour, label=way)
        axes[1].semilogy(r, [row["nodes"] for row in mine], "o-", color=colour, label=way)
        axes[2].semilogy(
            r, [row["reduce_s"] + (row["tabulate_s"] or 0.0) for row in mine], "o-", color=colour, label=way
        )
    ahead = np.arange(4, 9)
    axes[0].semilogy(ahead, [expected_rows(int(r)) for r in ahead], ":", color="tab:red", label="2·2^(6r)")
    axes[0].axhline(2**31, color="gray", linewidth=0.8)
    axes[0].text(ahead[-1], 2**31 * 1.5, "2 GiB at a byte a row", ha="right", fontsize=7)
    for axis, title in zip(axes, ("rows", "diagram nodes", "building, s"), strict=True):
        axis.set_title(title)
        axis.set_xlabel("r, bits of a word")
        axis.set_xticks(sorted({row["r"] for row in found} | (set(ahead.tolist()) if axis is axes[0] else set())))
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    figure.suptitle("The 2R arm as one truth table of all six words, and as tables of terms joined by sums")
    save_figure("fully_boolean", figure)


def main() -> None:
    lengths = (2, 3) if arguments(__doc__).quick else (2, 3, 4)
    hybrid(2), full(2)  # what Numba compiles is not counted
    found = [build(r) for r in lengths for build in (full, hybrid)]
    show_table(found)
    print("(ns a state: the full table is looked up as it is, the hybrid also reads, clamps and sums its words)")
    print("\nWhat the full table would need, one byte or two an entry:")
    for r in (4, 6, 8, 10, 12):
        size = expected_rows(r) * (1 if r <= 8 else 2)
        print(f"  r = {r:2}: {expected_rows(r):.3g} rows, {size / 2**30:.3g} GiB")
    write_csv("fully_boolean", found)
    draw(found)
    finish(checks_of(found))


if __name__ == "__main__":
    main()
