"""The speed of compiled words beside float peers: 2R, 3R, PUMA 560, UR5, both targets, 12 bits; the goals.

Peers go from the same words to the same words: customised float64 with libm (L), the same with a polynomial sine-cosine
(P), float32 with a sine table of 4096 entries (T), and float32 on structure of arrays in vector lanes (V). Ratios come
from interleaved rounds on one core. Where a bar is missed, the profile of the plan says what limits it. Run it on a
quiet machine.

    python experiments/bench_words.py [--quick]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bddtorque.evaluate.float_code import FloatCode, held_in_floats
from reporting import TIMED, Check, arguments, at_most, finish, save_figure, show_table, write_csv

import bddtorque as bt
from bddtorque.bench.bench_figure import bench_figure
from bddtorque.bench.contenders import BASELINE, VECTOR_BASELINE
from bddtorque.bench.table_sizes import look_ups
from bddtorque.bench.timing import Report, Timing, machine, measure
from bddtorque.dynamics.robot_trace import trace_torques
from bddtorque.evaluate.integer_code import integer_statements
from bddtorque.evaluate.straight import input_words
from bddtorque.evaluate.table_pool import Pool, blocks_read
from bddtorque.graph.graph import Op
from bddtorque.model.model import Model
from bddtorque.plan.wires import Product, Sum

ARMS = ("planar2r", "planar3r_a", "puma560", "ur5")
ONE, ROWS, COLUMNS = "words, one state at a time", "words, batch in rows", "words, batch in columns"
LIBM = "float64, libm"
CALL_BARS = {"kernel": 1.3, "torque_words": 2.0, "torque": 3.0}


def profile(model: Model) -> dict[str, Any]:
    """Return what the straight-line code of a plan does for a state, counted in its source, beside the float graph."""
    plan = model.plan
    code = FloatCode(plan) if held_in_floats(plan) else None
    if code:
        body = "\n".join(code.body)
    else:
        pool = Pool(plan, blocks_read(plan, native=True))
        body = "\n".join(integer_statements(plan, pool, input_words(plan, model.formats), native=True))
    rounded = [each for each in plan.wires if isinstance(each, Product | Sum) and each.shift]
    graph = trace_torques(model.robot)
    return {
        "held in": "float64" if code else "int64",
        "multiplications": body.count(" * "),
        "additions": body.count(" + ") + body.count(" - "),
        "roundings": len(rounded) + len(plan.outputs),
        "look-ups": sum(look_ups(plan, native=True).values()),
        "float multiplications": sum(node.op is Op.PRODUCT for node in graph.nodes),
        "float additions": sum(node.op is Op.SUM for node in graph.nodes),
    }


def row(report: Report, model: Model) -> dict[str, object]:
    """Return one line of the table."""
    ratios = {name: report.timing(name) for name in (ONE, ROWS, COLUMNS, LIBM, VECTOR_BASELINE, BASELINE)}
    only = next((each for each in report.timings if each.name == "words, tables only"), None)
    latency = report.latency
    assert latency is not None
    return {
        "arm": report.robot,
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
        "tables only / T": "" if only is None else f"{only.ratio:.2f}",
        **{f"{name} call": report.call(name).ratio for name in CALL_BARS},
        "99.9 % ns": latency.most,
        "slowest state ns": latency.worst_state,
        "cold ns": latency.cold,
        **profile(model),
    }


def judge(report: Report, checks: list[Check]) -> list[str]:
    """Add the speed goals of a model, and return the names of those it misses."""
    one = report.timing(ONE)
    batch = min(report.timing(name).vector_ratio for name in (ROWS, COLUMNS))
    bars = []
    if report.target == "host":
        bars.append(("words one by one / T", 1.0, one.ratio))
        bars.append(("words one by one / L", 1 / 3.5, one.ratio / report.timing(LIBM).ratio))
        bars.append(("batch / V", 2.0, batch))
        bars += [(f"{name} from Python / empty call", bar, report.call(name).ratio) for name, bar in CALL_BARS.items()]
    elif report.robot.startswith("planar"):
        bars.append(("words one by one / T", 2.0, one.ratio))
    missed = []
    for what, bar, found in bars:
        checks.append(Check("ours", f"{report.robot} {report.target}: {what}", found, TIMED, goal=at_most(bar)))
        missed += [what] if found > bar else []
    return missed


def explain(missed: Sequence[str], report: Report, found: dict[str, Any]) -> str:
    """Say what a plan that misses a bar asks for, beside the time it takes."""
    operations = found["multiplications"] + found["additions"]
    peer = found["float multiplications"] + found["float additions"]
    one = report.timing(ONE).nanoseconds
    return (
        f"{report.robot}, {report.target}, misses {'; '.join(missed)}: {operations} operations a state in "
        f"{found['held in']} ({found['multiplications']} multiplications, {found['additions']} additions, "
        f"{found['roundings']} roundings among them), {found['look-ups']} look-ups in "
        f"{report.timing(ONE).sizes.tables:,} bytes, where the float peers do {peer} in float32: "
        f"{one / max(operations, 1):.2f} ns an operation one by one, "
        f"{report.timing(ROWS).nanoseconds / max(operations, 1):.2f} in vectors; float "
        f"{report.timing(BASELINE).nanoseconds / peer:.2f} and "
        f"{report.timing(VECTOR_BASELINE).nanoseconds / peer:.2f}"
    )


def main() -> None:
    quick = arguments(__doc__).quick
    print(", ".join(f"{key} {value}" for key, value in machine().items()), "\n")
    checks, rows, reports, profiles = [], [], [], []
    for arm in ARMS[:1] if quick else ARMS:
        for target in ("host", "tables"):
            model = bt.compile(arm, target=target)
            report = measure(model, states=25_600, rounds=5 if quick else 15, with_latency=True)
            reports.append(report)
            rows.append(row(report, model))
            missed = judge(report, checks)
            if missed:
                profiles.append(explain(missed, report, profile(model)))
    keys = list(rows[0])
    for part in (keys[:12], [*keys[:2], *keys[12:]]):
        show_table([{key: each[key] for key in part} for each in rows])
        print()
    write_csv("bench_words", rows)
    every = [{"arm": each.robot, "target": each.target, **flat(timing)} for each in reports for timing in each.timings]
    write_csv("bench_contenders", every)
    save_figure("bench_words", bench_figure(reports))
    save_figure("bench_host", bench_figure([each for each in reports if each.target == "host"]))
    for line in profiles:
        print(f"\n{line}")
    finish(checks)


def flat(timing: Timing) -> dict[str, object]:
    """Return a timing without nesting, for the CSV."""
    plain = asdict(timing)
    sizes = plain.pop("sizes") or {"tables": "", "touched": ""}
    return {**plain, "table_bytes": sizes["tables"], "touched_bytes": sizes["touched"]}


if __name__ == "__main__":
    main()
