"""The Boolean/BDD paper's Fig. 3 on processors like the paper's, and whether the gain grows with the joints.

Fig. 3 shows hi-lo bars over inputs for four terms of the 2R arm (a: −5 S2 q̇2², b: 6.75 g C1, c: 9 q̈2, d: 5 S2 q̇1²) on
an 8086 without floating-point unit: a, b and d much faster as diagrams, c about the same (F43). Here each term goes
from words of W = 5 to 10 bits to its word (the paper's rule, W = r + m), in C, on an AVR and a Cortex-M0 that are
emulated (docs/chips.md): float32 in software, fixed point tuned by hand, exported tables in the fastest form that fits,
and the paper's object code, a test and a branch per node (`export --form ifs`). Cycles have mean, lowest, highest and a
histogram over random inputs; flash and the largest error stand beside them. The PC's nanoseconds are timed, not judged.

Then the paper's expectation that the gain grows with the joints (F45): the heaviest inertial, Coriolis and gravity
terms of the 2R, the 3R, the PUMA 560 and the UR5, all at r = 4 by the paper's rule, on the same chips. Soft float takes
the cheaper of two formulas, harmonics or recursion.

    python experiments/term_times.py [--quick]
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from reporting import (
    TIMED,
    Check,
    Rule,
    arguments,
    at_most,
    between,
    finish,
    near,
    require,
    save_figure,
    show_table,
    write_csv,
)
from term_cases import case_of, compare, gains, heaviest, paper_graphs, term_graphs
from term_code import fixed_code, float_code

import bddtorque as bt
from bddtorque.bench.emulation import missing_tools
from bddtorque.dynamics.terms import terms_of

matplotlib.use("Agg")
import matplotlib.pyplot as plt

EMULATED = ("atmega2560", "cortex-m0")
WAYS = {"float": "float32, libm", "fixed": "tuned fixed point", "tables": "exported tables", "ifs": "exported ifs"}
COLOURS = dict(zip(WAYS, ("tab:blue", "tab:cyan", "tab:green", "tab:red"), strict=True))
KINDS = ("inertial", "coriolis", "gravity")
PAPER = {"a": ("C1_22", "−5 S2 q̇2²"), "b": ("G1.1", "6.75 g C1"), "c": ("J22", "9 q̈2"), "d": ("C2_11", "5 S2 q̇1²")}
"""The terms of Fig. 3: what the export calls them, and their formulas."""
GAINS: dict[bool, dict[str, tuple[float, ...]]] = {
    False: {"atmega2560": (36.23, 21.61, 10.05, 36.99), "cortex-m0": (46.46, 26.09, 8.307, 29.19)},
    True: {"atmega2560": (85.73, 38.0, 20.52, 73.67), "cortex-m0": (157.6, 51.51, 22.99, 85.02)},
}
"""Cycles of soft float over cycles of ifs, terms a to d at W = 8 (--quick: 6), as recorded."""
GROWTH: dict[bool, dict[str, dict[str, tuple[float, ...]]]] = {
    False: {
        "atmega2560": {
            "inertial": (40.24, 8.385, 85.26, 16.04),
            "coriolis": (36.69, 7.17, 24.19, 10.29),
            "gravity": (25.52, 26.3, 71.76, 28.75),
        },
        "cortex-m0": {
            "inertial": (40.06, 13.75, 135.4, 30.45),
            "coriolis": (35.21, 9.722, 65.7, 27.74),
            "gravity": (43.24, 89.26, 114.1, 39.01),
        },
    },
    True: {"atmega2560": {"gravity": (25.38, 26.65)}, "cortex-m0": {"gravity": (42.66, 91.66)}},
}
"""The same of the heaviest terms, arm by arm."""


def figure_3(widths: range, count: int, folder: Path) -> list[dict[str, Any]]:
    """Return a row for every width, term, chip and way of the 2R arm."""
    rows = []
    for W in widths:
        model = bt.compile("planar2r", bits=W - 2, accuracy="paper")
        for letter, graph in paper_graphs().items():
            case = case_of(model, PAPER[letter][0], graph, count, folder / f"{W}{letter}")
            case.folder.mkdir()
            others = {
                "float": [lambda case=case: float_code(case.graph, case.term, case.folder / "float")],
                "fixed": [lambda case=case, letter=letter: fixed_code(letter, case.term, case.folder / "fixed")],
            }
            rows += [{"W": W, "term": letter, **row} for row in compare(case, (*EMULATED, "pc"), others)]
            print(f"  W = {W}, {letter}: {PAPER[letter][1]}", flush=True)
    return rows


def heaviest_terms(arms: tuple[str, ...], kinds: tuple[str, ...], count: int, folder: Path) -> list[dict[str, Any]]:
    """Return a row for every arm, kind of term, chip and way."""
    rows = []
    for arm in arms:
        model = bt.compile(arm, bits=4, accuracy="paper", block_bits=20)
        terms = terms_of(model.robot)
        for kind in kinds:
            term = heaviest(terms, kind, model)
            graphs = term_graphs(terms, term)
            case = case_of(model, term.name, graphs[0], count, folder / f"{arm}{kind}")
            case.folder.mkdir()
            usable = [graph for graph in graphs if set(graph.input_names) <= set(case.term.inputs.values())]
            others = {
                "float": [
                    lambda case=case, k=k, graph=graph: float_code(graph, case.term, case.folder / f"float{k}")
                    for k, graph in enumerate(usable)
                ]
            }
            known = {"arm": arm, "joints": model.robot.degrees_of_freedom, "kind": kind, "term": term.name,
                     "harmonics": len(term.expansion), "inputs": len(case.term.inputs)}  # fmt: skip
            rows += [{**known, **row} for row in compare(case, EMULATED, others)]
            print(f"  {arm}, {kind} {term.name}", flush=True)
    return rows


def draw_figure_3(rows: list[dict[str, Any]], W: int) -> None:
    """Draw hi-lo bars of the four terms on every chip, and below them the histograms of soft float and ifs."""
    figure, axes = plt.subplots(2, 3, figsize=(16, 9), layout="constrained")
    for column, chip in enumerate((*EMULATED, "pc")):
        axis, below = axes[0, column], axes[1, column]
        for k, way in enumerate(WAYS):
            mine = [row for row in rows if (row["W"], row["chip"], row["way"]) == (W, chip, way)]
            place = np.array(["abcd".index(row["term"]) for row in mine]) + (k - 1.5) * 0.2
            low, high, mean = (np.array([row[key] for row in mine]) for key in ("low", "high", "mean"))
            axis.bar(place, np.maximum(high - low, 0.06 * high), 0.17, bottom=low, color=COLOURS[way], label=WAYS[way])
            axis.plot(place, mean, "k_", ms=9)
            if way == "ifs":
                for row in mine:
                    below.hist(
                        row["net"], bins=24, histtype="step", lw=1.5, label=f"{row['term']}: {PAPER[row['term']][1]}"
                    )
        axis.set_yscale("log")
        axis.set_ylim(bottom=0.6 * min(row["low"] for row in rows if (row["W"], row["chip"]) == (W, chip)))
        axis.set_xticks(range(4), list("abcd"))
        axis.set_title(f"{chip}: lowest to highest, mean")
        axis.set_ylabel("ns" if chip == "pc" else "cycles")
        below.set_title(f"{chip}: histogram of exported ifs")
        below.set_xlabel("ns" if chip == "pc" else "cycles")
        below.legend(fontsize=8)
        axis.grid(alpha=0.3, axis="y", which="both")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(WAYS))
    figure.suptitle(f"Fig. 3 of the Boolean/BDD paper, W = {W}: terms of the 2R arm over random inputs")
    save_figure("term_times", figure)


def draw_gains(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> None:
    """Draw the gain over soft float against the word length, and against the arms."""
    figure, axes = plt.subplots(1, 2, figsize=(14, 5.5), layout="constrained")
    for chip, style in zip(EMULATED, ("-", "--"), strict=True):
        for letter, colour in zip("abcd", ("tab:red", "tab:orange", "tab:gray", "tab:purple"), strict=True):
            mine = [row for row in first if (row["chip"], row["term"]) == (chip, letter)]
            places = [row["W"] for row in mine if row["way"] == "ifs"]
            axes[0].semilogy(places, gains(mine), f"o{style}", color=colour, label=f"{letter}, {chip}")
        for kind, mark in zip(KINDS, "os^", strict=True):
            mine = [row for row in second if (row["chip"], row["kind"]) == (chip, kind)]
            for way in ("ifs", "tables"):
                places = [row["arm"] for row in mine if row["way"] == way]
                if places:
                    axes[1].semilogy(places, gains(mine, way), f"{mark}{style}", color=COLOURS[way],
                                     label=f"{kind}, {WAYS[way]}, {chip}")  # fmt: skip
    axes[0].set_xlabel("W, bits")
    axes[0].xaxis.get_major_locator().set_params(integer=True)
    axes[0].set_title("Fig. 3: cycles of soft float over exported ifs")
    axes[1].set_title("The heaviest terms, r = 4: does the gain grow with the joints (F45)?")
    for axis in axes:
        axis.axhline(1.0, color="k", lw=0.8)
        axis.grid(alpha=0.3, which="both")
        axis.legend(fontsize=7, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.1))
    save_figure("term_times_gain", figure)


def figure_3_checks(rows: list[dict[str, Any]], W: int, quick: bool) -> list[Check]:
    """F43: a, b and d much faster as diagrams, c about the same."""
    checks = []
    for chip in (*EMULATED, "pc"):
        ours = gains([row for row in rows if (row["W"], row["chip"]) == (W, chip)])
        what = f"gain of a, b, c, d over float32 at W = {W}, {chip}"
        if chip == "pc":  # which has a floating-point unit, as the paper's had not
            checks.append(Check("ours", what, ours, TIMED))
            continue
        recorded = near(GAINS[quick][chip], relative=0.1)
        for claim in (
            Rule("a, b, d above 2", lambda ours: min(ours[0], ours[1], ours[3]) > 2),
            Rule("c gains least", lambda ours: min(ours) == ours[2]),
            Rule("c from 0.5 to 2", lambda ours: between(0.5, 2).holds(ours[2])),
        ):
            checks.append(Check("F43", what, ours, recorded, claim))
    return checks


def growth_checks(rows: list[dict[str, Any]], quick: bool) -> list[Check]:
    """F45, that the gain grows with the joints: both arms of six joints gain more than the arm of two, and fit."""
    arms = {row["arm"]: row["joints"] for row in rows}
    checks = []
    for chip in EMULATED:
        for kind in dict.fromkeys(row["kind"] for row in rows):
            mine = [row for row in rows if (row["chip"], row["kind"]) == (chip, kind)]
            fits = [row["arm"] for row in mine if row["way"] == "ifs"]
            grows = Rule(
                "grows with the joints",
                lambda ours, fits=fits: fits == list(arms) and min(ours[2:]) > ours[0],
            )
            recorded = near(GROWTH[quick][chip][kind], relative=0.1)
            checks.append(
                Check("F45", f"gain of {kind} terms of {', '.join(fits)} over soft float, {chip}", gains(mine),
                      recorded, grows, "--quick has too few arms" if quick else "")
            )  # fmt: skip
    return checks


def wrong_words(rows: list[dict[str, Any]]) -> int:
    """Return how many words of tables and ifs are off by more than what is proved of them."""
    return sum(row["error"] > row["bound"] + 1e-3 for row in rows if row["bound"] != "")


def main() -> None:
    options = arguments(__doc__)
    require([missing_tools(chip) for chip in EMULATED])
    widths, W, count = (range(6, 7), 6, 40) if options.quick else (range(5, 11), 8, 200)
    arms = ("planar2r", "planar3r_a") if options.quick else ("planar2r", "planar3r_a", "puma560", "ur5")
    with tempfile.TemporaryDirectory(prefix="bddtorque-") as made:
        first = figure_3(widths, count, Path(made))
        second = heaviest_terms(arms, ("gravity",) if options.quick else KINDS, count // 4, Path(made))
    for title, name, rows in (("Fig. 3", "term_times", first), ("The heaviest terms", "term_times_gain", second)):
        shown = [{key: value for key, value in row.items() if key not in ("net", "words")} for row in rows]
        print(f"\n{title}\n")
        show_table(shown)
        write_csv(name, shown)
    counted = [(row, Counter(row["net"].tolist())) for row in first if row["chip"] != "pc"]
    write_csv("term_times_histogram", [
        {key: row[key] for key in ("W", "term", "chip", "way", "form")} | {"cycles": int(cycles), "inputs": times}
        for row, counts in counted for cycles, times in sorted(counts.items())
    ])  # fmt: skip
    draw_figure_3(first, W)
    draw_gains(first, second)
    every = [*first, *second]
    finish(
        [
            *figure_3_checks(first, W, options.quick),
            *growth_checks(second, options.quick),
            Check("ours", "rows of tables and ifs beyond their proved error", wrong_words(every), 0),
            Check("ours", "fixed point and float32 from the truth, units",
                  max(row["error"] for row in every if row["bound"] == ""), at_most(1)),
        ]
    )  # fmt: skip


if __name__ == "__main__":
    main()
