"""The speed of compiled words beside float peers: 2R, 3R, PUMA 560, UR5, both targets, 12 bits; the goals.

Peers go from the same words to the same words: customised float64 with libm (L), the same with a polynomial sine-cosine
(P), float32 with a sine table of 4096 entries (T), and float32 on structure of arrays in vector lanes (V). Ratios come
from interleaved rounds on one core. Where a bar is missed, the profile of the plan says what limits it. Run it on a
quiet machine.

    python experiments/bench_words.py [--quick]
"""

from __future__ import annotations

import timeit
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
from matplotlib.patches import Patch
from reporting import TIMED, Check, arguments, at_most, finish, save_figure, show_table, write_csv

import bddtorque as bt
from bddtorque.bench.casadi_code import missing_for_casadi
from bddtorque.bench.contenders import BASELINE, FLOATS, OWN_LOOP, VECTOR_BASELINE
from bddtorque.bench.peers import TILE, vector_peer
from bddtorque.bench.timing import COPIED, BenchReport, Timing, machine, measure
from bddtorque.dynamics.graph import Op
from bddtorque.dynamics.robot_trace import trace_torques
from bddtorque.evaluate.float_code import FloatPool
from bddtorque.model.model import Model
from bddtorque.plan.plan_cost import look_ups
from bddtorque.plan.wires import Add, Fused, Multiply, Output, Product, Sine, Sum
from bddtorque.sweeps.drawing import new_figure
from bddtorque.sweeps.states import random_words

ARMS = ("planar2r", "planar3r_a", "puma560", "ur5")
UNCHECKED = "words, one state, unchecked"
ONE, ROWS, COLUMNS = "words, one state at a time", "words, batch in rows", "words, batch in columns"
LIBM = "float64, libm"
CALL_BARS = {"kernel": 1.3, "torque_words": 2.0, "torque": 3.0}


def profile(model: Model) -> dict[str, Any]:
    """Return what the straight-line code of a plan does for a state, beside the float graph."""
    plan = model.plan
    graph = trace_torques(model.robot)
    if plan.in_floats:
        pool = FloatPool(plan)
        counts = {
            "held in": np.dtype(plan.precision.dtype).name,
            "multiplications": sum(isinstance(wire, Multiply) for wire in plan.wires),
            "additions": sum(isinstance(wire, Add) for wire in plan.wires),
            "fused": sum(isinstance(wire, Fused) for wire in plan.wires),
            "look-ups": sum(isinstance(wire, Sine) and pool.tabled(wire) for wire in plan.wires),
        }
    else:
        sums = [each for each in (*plan.wires, *plan.outputs) if isinstance(each, Sum | Output)]
        counts = {
            "held in": "int64",
            "multiplications": sum(isinstance(wire, Product) for wire in plan.wires)
            + sum(abs(factor) != 1 for each in sums for _, factor in each.parts),
            "additions": sum(len(each.parts) for each in sums),
            "fused": 0,
            "look-ups": sum(look_ups(plan, native=True).values()),
        }
    return {
        **counts,
        "float multiplications": sum(node.op is Op.PRODUCT for node in graph.nodes),
        "float additions": sum(node.op is Op.SUM for node in graph.nodes),
    }


def row(report: BenchReport, model: Model) -> dict[str, object]:
    """Return one line of the table."""
    ratios = {name: report.timing(name) for name in (ONE, ROWS, COLUMNS, LIBM, VECTOR_BASELINE, BASELINE)}
    known = {each.name: f"{each.ratio:.2f}" for each in report.timings}
    latency = report.latency
    assert latency is not None
    return {
        "arm": report.name,
        "target": report.target,
        "source": report.source,
        "proved": round(report.bound, 3),
        "T ns": ratios[BASELINE].nanoseconds,
        "words ns": ratios[ONE].nanoseconds,
        "/ T": ratios[ONE].ratio,
        "L / words": ratios[LIBM].ratio / ratios[ONE].ratio,
        "V ns": ratios[VECTOR_BASELINE].nanoseconds,
        "rows / V": ratios[ROWS].vector_ratio,
        "columns / V": ratios[COLUMNS].vector_ratio,
        "floats / V": report.timing(FLOATS).vector_ratio,
        "own loop / T": known[OWN_LOOP],
        "unchecked / T": known.get(UNCHECKED, ""),
        "tables only / T": known.get("words, tables only", ""),
        **{f"{name} call": report.call(name).ratio for name in CALL_BARS},
        "99.9 % ns": latency.most,
        "slowest state ns": latency.worst_state,
        "cold ns": latency.cold,
        **profile(model),
    }


def judge(report: BenchReport, checks: list[Check]) -> list[str]:
    """Add the speed goals of a model, and return the names of those it misses."""
    one, own = report.timing(ONE), report.timing(OWN_LOOP)
    batch = min(report.timing(name).vector_ratio for name in (ROWS, COLUMNS))
    bars = []
    if report.target == "float":
        bars.append(("words one by one / T", 1.10, one.ratio))
        bars.append(("a loop of one's own / T", 1.3 if report.name.startswith("planar") else 1.15, own.ratio))
        bars.append(("unchecked / T", 1.05, report.timing(UNCHECKED).ratio))
        bars.append(("words one by one / L", 1 / 3.3, one.ratio / report.timing(LIBM).ratio))
        bars.append(("batch / V", 1.05, batch))
        bars += [(f"{name} from Python / empty call", bar, report.call(name).ratio) for name, bar in CALL_BARS.items()]
        contiguous = report.call("torque").nanoseconds
        bars += [
            (f"torque of {name} / torque", 3.0, report.call(f"torque of {name}").nanoseconds / contiguous)
            for name in COPIED
        ]
    else:
        bars.append(("words one by one / T", 3.0 if report.name.startswith("planar") else 8.0, one.ratio))
    missed = []
    for what, bar, found in bars:
        checks.append(Check("ours", f"{report.name} {report.target}: {what}", found, TIMED, goal=at_most(bar)))
        missed += [what] if found > bar else []
    return missed


def explain(missed: Sequence[str], report: BenchReport, found: dict[str, Any]) -> str:
    """Say what a plan that misses a bar asks for, beside the time it takes."""
    operations = found["multiplications"] + found["additions"] + found["fused"]
    peer = found["float multiplications"] + found["float additions"]
    one = report.timing(ONE).nanoseconds
    return (
        f"{report.name}, {report.target}, misses {'; '.join(missed)}: {operations} operations a state in "
        f"{found['held in']} ({found['multiplications']} multiplications, {found['additions']} additions, "
        f"{found['fused']} of both fused), {found['look-ups']} look-ups in "
        f"{report.timing(ONE).sizes.tables:,} bytes, where the float peers do {peer} in float32: "
        f"{one / max(operations, 1):.2f} ns an operation one by one, "
        f"{report.timing(ROWS).nanoseconds / max(operations, 1):.2f} in vectors; float "
        f"{report.timing(BASELINE).nanoseconds / peer:.2f} and "
        f"{report.timing(VECTOR_BASELINE).nanoseconds / peer:.2f}"
    )


def main() -> None:
    quick = arguments(__doc__).quick
    print(", ".join(f"{key} {value}" for key, value in machine().items()), "\n")
    if lacking := missing_for_casadi():
        print(f"skipped: {lacking}\n")
    checks, rows, reports, profiles = [], [], [], []
    for arm in ARMS[:1] if quick else ARMS:
        for target in ("float", "tables"):
            model = bt.compile(arm, target=target)
            report = measure(model, states=25_600, rounds=5 if quick else 15, with_latency=True)
            reports.append(report)
            rows.append(row(report, model))
            missed = judge(report, checks)
            if missed:
                profiles.append(explain(missed, report, profile(model)))
    keys = list(rows[0])
    for part in (keys[:14], [*keys[:2], *keys[14:]]):
        show_table([{key: each[key] for key in part} for each in rows])
        print()
    write_csv("bench_words", rows)
    every = [{"arm": each.name, "target": each.target, **flat(timing)} for each in reports for timing in each.timings]
    write_csv("bench_contenders", every)
    save_figure("bench_words", bench_figure(reports))
    save_figure("bench_words_float", bench_figure([each for each in reports if each.target == "float"]))
    for line in profiles:
        print(f"\n{line}")
    print("\nFloats on two cores:")
    arm, sizes = ("planar2r", (25_600,)) if quick else ("ur5", (25_600, 1_000_000))
    rates = [row for size in sizes for row in two_cores(arm, size, 3 if quick else 9)]
    show_table(rates)
    write_csv("bench_two_cores", rates)
    finish(checks)


def two_cores(arm: str, states: int, rounds: int) -> list[dict[str, object]]:
    """Return how many million states a second two threads compute, in rows, in columns, and by V: the best of three."""
    model = bt.compile(arm, target="float")
    evaluator = model.evaluator("parallel", processors=2)
    words = random_words(model.formats, states, 0)
    vector, size = vector_peer(trace_torques(model.robot), model.formats)
    half = states // 2 // TILE * TILE
    peers = [
        (*(np.ascontiguousarray(each[k * half : (k + 1) * half].T) for each in words),
         np.empty((words[0].shape[1], half), dtype=np.int64), np.empty(size, dtype=np.float32))
        for k in range(2)
    ]  # fmt: skip
    with ThreadPoolExecutor(1) as pool:

        def peer() -> None:
            other = pool.submit(vector, *peers[1])
            vector(*peers[0])
            other.result()

        runs: dict[str, Callable[[], Any]] = {}
        for name, given in (("rows", words), ("columns", [np.asfortranarray(each) for each in words])):
            runs[name] = partial(evaluator.torque_words, *given, out=np.empty_like(given[0]))
        runs["V"] = peer
        rates: dict[str, list[float]] = {name: [] for name in runs}
        for run in runs.values():
            run()
        for _ in range(rounds):
            for name, run in runs.items():
                rates[name].append(states / min(timeit.repeat(run, number=1, repeat=3)) / 1e6)
    medians = {name: round(float(np.median(each))) for name, each in rates.items()}
    return [{"arm": arm, "states": states, "million a second": rate, "of": name} for name, rate in medians.items()]


def flat(timing: Timing) -> dict[str, object]:
    """Return a timing without nesting, for the CSV."""
    plain = asdict(timing)
    sizes = plain.pop("sizes") or {"tables": "", "touched": ""}
    return {**plain, "table_bytes": sizes["tables"], "touched_bytes": sizes["touched"]}


PROVED, FLOAT = "#1b6ca8", "#c9c9c9"
"""Colours of what is proved and of the peers."""


def bench_figure(reports: Sequence[BenchReport]) -> Any:
    """Return one panel a report, bars for contenders, whiskers over eight rounds of ten, a logarithmic axis."""
    columns = min(2, len(reports))
    rows = -(-len(reports) // columns)
    tallest = max(len(each.timings) for each in reports)
    figure = new_figure(6.6 * columns, rows * (0.29 * tallest + 1.0) + 0.6)
    panels = figure.subplots(rows, columns, squeeze=False)
    for axes, report in zip(panels.flat, reports, strict=False):
        _panel(axes, report)
    for axes in list(panels.flat)[len(reports) :]:
        axes.set_axis_off()
    figure.suptitle(
        f"Time of one state as a multiple of {reports[0].baseline} (logarithmic; whiskers hold 80 % of rounds)",
        fontsize=11,
    )
    marks = [Patch(color=PROVED, label="words, proved"), Patch(color=FLOAT, label="float, nothing proved")]
    figure.legend(handles=marks, loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return figure


def _panel(axes: Any, report: BenchReport) -> None:
    timings = sorted(report.timings, key=lambda each: each.ratio, reverse=True)
    ratios = [each.ratio for each in timings]
    whiskers = [
        [max(each.ratio - each.lowest, 0.0) for each in timings],
        [max(each.highest - each.ratio, 0.0) for each in timings],
    ]
    colours = [PROVED if each.proved else FLOAT for each in timings]
    axes.barh(range(len(timings)), ratios, color=colours, xerr=whiskers, error_kw={"lw": 0.8, "ecolor": "#555555"})
    axes.set_xscale("log")
    axes.set_yticks(range(len(timings)), [each.name for each in timings], fontsize=8)
    axes.axvline(1.0, color="#888888", lw=0.8, ls=":")
    most = max(each.highest for each in timings)
    axes.set_xlim(min(each.lowest for each in timings) / 1.5, most * 12)
    for place, each in enumerate(timings):
        label = f"{each.ratio:.2f} ×, {_shown(each.nanoseconds)}"
        axes.text(each.highest * 1.15, place, label, va="center", fontsize=7.5)
    bits = "/".join(map(str, dict.fromkeys(report.bits)))
    axes.set_title(f"{report.name}, {bits} bits, target {report.target} ({report.source})", fontsize=10)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _shown(nanoseconds: float) -> str:
    return f"{nanoseconds:.1f} ns" if nanoseconds < 1000 else f"{nanoseconds / 1000:.1f} µs"


if __name__ == "__main__":
    main()
