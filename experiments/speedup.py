"""Speed-up against the number of processors: Boolean tables beside the parallel machines of the literature.

The Boolean/BDD paper claims a speed-up proportional to the number of processors "without theoretical limit" and no
scheduling problem, where other schemes end at one processor a joint. Here each arm's compiled plan (8 bits) is spread
over P processors, an operation being one walk or one addition, up to one processor for every output bit; the schedules
are data, and tests carry them out. Beside it, on the same arm: Newton-Euler with every operation scheduled, Luh and
Lin's one processor a joint, Binder and Herzog's and Hamilton's old data, Lathrop's linear and logarithmic machines
(whose processors are matrix-vector ones, six multipliers and three adders each); all priced as in `comparison.py`.

Two cost models. Word steps: a test, an addition and a multiplication are one step each. Bit steps: a test is one, an
addition of b bits b, a multiplication b² steps, b being the median word of the arm's recursive plan. Sines and cosines
are free to the recursions, as in the papers; to the tables they are walks like any other.

    python experiments/speedup.py [--quick]
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import matplotlib
import numpy as np
from reporting import Check, Rule, above, arguments, finish, near, save_figure, show_table, write_csv

import bddtorque as bt
from bddtorque.base.system import usable_processors
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.dynamics.robot_trace import trace_torques
from bddtorque.evaluate.operations import BIT_SERIAL, WORD_STEPS, StepCosts, operations_of, output_owner
from bddtorque.evaluate.scheduling import TimedTask, list_schedule, longest_path
from bddtorque.evaluate.spreading import Spreading, delayed, spread_bits, spread_terms
from bddtorque.spec.spec_files import spec_and_robot
from machines.comparison import lathrop, luh_lin, newton_euler, speculative
from machines.cost_model import CostModel, bit_steps, word_steps
from machines.gantt import draw_gantt
from machines.graph_tasks import tasks_of_graph

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ARMS = ("planar2r", "planar3r_a", "puma560", "ur5")
BITS = 8
LATENCY = 5.0
"""Steps of a message, in the column that has messages cost anything."""
RECORDED = {
    "planar2r": (3.991, 0.2739, 128, 63.0, 9.484),
    "planar3r_a": (3.999, 0.2657, 1024, 301.3, 15.15),
    "puma560": (4.0, 0.253, 4096, 1866, 27.40),
    "ur5": (4.0, 0.2479, 4096, 1800, 28.05),
}
"""Speed-up of 4, efficiency of the most processors, where it bends, its limit; the most speed-up of another machine."""
BEND = 0.5
"""Efficiency at which we say that the curve has bent."""
STATES = 100_000
STYLES = {
    "serial Newton-Euler": ("k", "s"),
    "Luh-Lin": ("tab:brown", "v"),
    "Binder/Herzog": ("tab:pink", "<"),
    "Hamilton new": ("tab:purple", ">"),
    "Lathrop linear": ("tab:olive", "D"),
    "Lathrop logarithmic": ("tab:green", "P"),
}


@dataclass(frozen=True)
class Point:
    """A machine with so many processors: its time, and what one processor would take for the same operations."""

    machine: str
    processors: int
    time: float
    serial: float

    @property
    def speed_up(self) -> float:
        return self.serial / self.time


def literature(robot: bt.Robot, costs: CostModel) -> list[Point]:
    """Return the machines of the literature on an arm as `comparison` prices them, sines and cosines free.

    Lathrop's do whole vectors, zeros too, and so does their peer on one processor; that of the others knows the arm.
    """
    general, customised, *_ = newton_euler(robot, costs)
    points = [Point("serial Newton-Euler", 1, customised.time, customised.time)]
    for machine in (luh_lin(robot, costs), *speculative(robot, costs)):
        points.append(Point(machine.name, machine.processors, machine.time, customised.time))
    for machine in lathrop(robot, costs):
        if "systolic" not in machine.name:
            points.append(Point(machine.name, machine.processors, machine.time, general.time))
    return points


def cost_models(b: int) -> tuple[tuple[str, StepCosts, CostModel], ...]:
    """Return word steps and bit steps: of tables, and of recursions, to which table loads are free."""
    free = {"load": 0.0, "load_bit": 0.0}
    return (
        ("word", WORD_STEPS, replace(word_steps(BITS), **free)),
        ("bit", BIT_SERIAL, replace(bit_steps(BITS, b), **free)),
    )


def scheduled_recursion(robot: bt.Robot, costs: CostModel, counts: list[int]) -> list[Point]:
    """Return Newton-Euler, customised, with every scalar operation scheduled."""
    tasks: list[TimedTask] = tasks_of_graph(trace_torques(robot), costs.of_graph())
    serial = sum(task.duration for task in tasks)
    return [Point("Newton-Euler, scheduled", P, list_schedule(tasks, P).makespan, serial) for P in counts]


def powers(most: int, base: int = 2) -> list[int]:
    """Return 1, base, base², ... and `most` itself."""
    found = [1]
    while found[-1] * base < most:
        found.append(found[-1] * base)
    return [*found, most] if most > 1 else found


def word_bits(arm: str) -> int:
    """Return the median word of the arm's recursive plan: what a multiplier for this accuracy must take."""
    spec, robot, _ = spec_and_robot(arm, {"bits": BITS, "source": "recursive"})
    plan = draft_of_robot(spec, robot).plan
    return int(median(plan.bits_of(k) for k in range(len(plan.wires))))


def spread(model: bt.Model, costs: StepCosts) -> dict[str, list[Spreading]]:
    """Return both ways of spreading, for P up to one processor an output bit, and up to one a summand."""
    operations = operations_of(model.plan, model.diagrams, costs)
    walks = sum(each.kind == "walk" for each in operations)
    summands = len({wire for output in model.plan.outputs for wire, _ in output.parts})
    return {
        "bits": [spread_bits(operations, P, costs) for P in powers(walks, 2 if walks < 2000 else 4)],
        "terms": [spread_terms(model.plan, model.diagrams, P, costs) for P in powers(summands, 4)],
    }


def row(arm: str, model: str, way: str, each: Spreading) -> dict[str, Any]:
    return {
        "arm": arm,
        "cost model": model,
        "machine": f"tables, {way}",
        "processors": each.processors,
        "steps": each.time,
        "speed-up": round(each.speed_up, 2),
        "efficiency": round(each.efficiency, 3),
        "messages": each.messages,
        f"steps, latency {LATENCY:g}": delayed(each, LATENCY).makespan if model == "word" else "",
        "recomputed": each.recomputed,
    }


def point_row(arm: str, model: str, each: Point) -> dict[str, Any]:
    shown = {"arm": arm, "cost model": model, "machine": each.machine, "processors": each.processors}
    figures = {
        "steps": each.time,
        "speed-up": round(each.speed_up, 2),
        "efficiency": round(each.speed_up / each.processors, 3),
    }
    return {**shown, **figures, "messages": "", f"steps, latency {LATENCY:g}": "", "recomputed": ""}


def bend(curve: list[Spreading]) -> Spreading:
    """Return the first point at which less than half of the processors' time is used; the last if there is none."""
    return next((each for each in curve if each.efficiency < BEND), curve[-1])


def draw(found: dict[tuple[str, str], Any], arms: tuple[str, ...]) -> None:
    """Draw speed-up and time against P for each arm."""
    figure, axes = plt.subplots(3, len(arms), figsize=(4.3 * len(arms), 11.5), layout="constrained", squeeze=False)
    for column, arm in enumerate(arms):
        for line, (model, quantity) in enumerate((("word", "speed-up"), ("word", "steps"), ("bit", "steps"))):
            axis, (curves, recursion, points) = axes[line][column], found[arm, model]
            value = (lambda each: each.speed_up) if quantity == "speed-up" else (lambda each: each.time)
            for way, colour, marker in (("bits", "tab:red", "o"), ("terms", "tab:orange", ".")):
                label = {"bits": "tables: output bits apart", "terms": "tables: terms apart"}[way]
                P = [each.processors for each in curves[way]]
                axis.loglog(P, [value(each) for each in curves[way]], color=colour, marker=marker, ms=4, label=label)
            P = [each.processors for each in recursion]
            axis.loglog(
                P,
                [value(each) for each in recursion],
                "tab:blue",
                marker=".",
                label="Newton-Euler, every operation scheduled",
            )
            for each in points:
                colour, marker = STYLES[each.machine]
                axis.loglog(each.processors, value(each), color=colour, marker=marker, ls="", ms=7, label=each.machine)
            if quantity == "speed-up":
                ends = np.array([1, max(each.processors for each in curves["bits"])])
                axis.loglog(ends, ends, "k:", lw=1, label="proportional, as claimed")
                axis.set_title(f"{arm}: speed-up")
            else:
                axis.set_title(f"{arm}: time in {model} steps")
            axis.set_xlabel("processors")
            axis.set_ylabel("times faster than on one processor" if quantity == "speed-up" else f"{model} steps")
            axis.grid(alpha=0.3)
    handles, names = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=5)
    figure.suptitle(f"One state on P processors: Boolean tables of {BITS} bits beside the machines of the literature")
    save_figure("speedup", figure)


def draw_schedules(model: bt.Model) -> None:
    """Draw the 2R arm on eight processors, both ways, and with one processor for every output bit."""
    operations = operations_of(model.plan, model.diagrams)
    walks = sum(each.kind == "walk" and each.tests > 0 for each in operations)
    sums = {output_owner(place) for place in range(len(model.plan.outputs))}
    cases = [
        ("terms apart, 4 processors: nothing crosses but partial sums", spread_terms(model.plan, model.diagrams, 4)),
        ("output bits apart, 8 processors", spread_bits(operations, 8)),
        (f"one processor an output bit: {walks}", spread_bits(operations, walks)),
    ]
    figure, axes = plt.subplots(3, 1, figsize=(12, 13), layout="constrained", height_ratios=[1, 1.6, 3])
    for axis, (title, each) in zip(axes, cases, strict=True):
        kinds = {op.name: op for op in each.operations}

        def colour(name: str, kinds: Any = kinds) -> str:
            if kinds[name].owner in sums:
                return "tab:green"
            return "tab:blue" if kinds[name].kind == "walk" else "tab:orange"

        draw_gantt(axis, each.schedule, label=lambda _: "", colour=colour)
        if each.processors > 10:
            axis.set_yticks(range(0, each.processors, 10), [str(k + 1) for k in range(0, each.processors, 10)])
            axis.set_ylabel("processor")
        axis.set_xlabel("steps (a test or an addition each)")
        axis.set_title(f"{title}; {each.time:g} steps, speed-up {each.speed_up:.1f}, {each.messages} messages")
    handles = [plt.Rectangle((0, 0), 1, 1, color=c) for c in ("tab:blue", "tab:orange", "tab:green")]
    names = ["walk of an output bit", "addition inside a term", "sum of a torque"]
    figure.legend(handles, names, loc="outside lower center", ncols=3)
    figure.suptitle(f"The 2R arm at {BITS} bits on counted processors")
    save_figure("speedup_schedules", figure)


def threads(model: bt.Model, forms: tuple[str, ...], rounds: int) -> list[dict[str, Any]]:
    """Return how much faster batches are on the cores there are, interleaved with one thread.

    Other work on the machine takes cores away: what a run got (its processor time over its time) is stated beside it.
    """
    rng = np.random.default_rng(0)
    given = [
        np.stack([rng.integers(word.lowest, word.highest, STATES, endpoint=True) for word in kind], axis=1)
        for kind in model.formats.inputs
    ]
    cores, rows = usable_processors(), []
    for form in forms:
        pair = [model.evaluator("parallel", form, processors=P) for P in (1, cores)]
        words = [each[: STATES // 10] if form == "bits" else each for each in given]
        runs = [[_timed(evaluator, words) for evaluator in pair] for _ in range(rounds + 1)][1:]  # the first compiles
        one, many = (min(each[k] for each in runs) for k in range(2))  # the run that was disturbed least
        rows.append(
            {
                "arm": model.robot.name,
                "form": form,
                "threads": cores,
                "speed-up, best of each": round(one[0] / many[0], 2),
                "cores one got": round(one[1] / one[0], 2),
                "cores many got": round(many[1] / many[0], 2),
                "processor time, many over one": round(median(each[1][1] / each[0][1] for each in runs), 2),
            }
        )
    return rows


def _timed(evaluator: Any, words: list[Any]) -> tuple[float, float]:
    """Return the time and the processor time of a batch, s."""
    begun, used = time.perf_counter(), time.process_time()
    evaluator.torque_words(*words)
    return time.perf_counter() - begun, time.process_time() - used


def checks_of(found: dict[tuple[str, str], Any], arms: tuple[str, ...]) -> list[Check]:
    checks = []
    for arm in arms:
        curves, _, points = found[arm, "word"]
        bits, recorded = curves["bits"], RECORDED[arm]
        four = next(each for each in bits if each.processors == 4)
        bent, last = bend(bits), bits[-1]
        n = min(point.processors for point in points if point.machine == "Luh-Lin")
        best = max(points, key=lambda point: point.speed_up)
        checks += [
            Check("BDD2R", f"{arm}: speed-up of 4 processors", four.speed_up, near(recorded[0], absolute=0.005),
                  Rule("proportional, 4", above(3.6).holds)),
            Check("BDD2R", f"{arm}: efficiency of {last.processors} processors", last.efficiency,
                  near(recorded[1], relative=0.005), Rule("proportional without limit", above(0.9).holds)),
            Check("ours", f"{arm}: processors at which efficiency falls below {BEND}; most speed-up of any number",
                  (bent.processors, last.serial / last.longest), near(recorded[2:4], relative=0.005)),
            Check("BDD2R", f"{arm}: most speed-up of another machine ({best.machine})", best.speed_up,
                  near(recorded[4], relative=0.005), Rule(f"at most n = {n}", lambda ours, n=n: ours <= n)),
        ]  # fmt: skip
    return checks


def main() -> None:
    options = arguments(__doc__)
    arms = ARMS[:2] if options.quick else ARMS
    rows, found, why = [], {}, []
    for arm in arms:
        model = bt.compile(arm, bits=BITS, source="terms")
        robot, b = model.robot, word_bits(arm)
        for name, costs, prices in cost_models(b):
            curves = spread(model, costs)
            recursion = scheduled_recursion(robot, prices, powers(64))
            points = literature(robot, prices)
            found[arm, name] = (curves, recursion, points)
            rows += [row(arm, name, way, each) for way, curve in curves.items() for each in curve]
            rows += [point_row(arm, name, each) for each in [*recursion, *points]]
        operations = found[arm, "word"][0]["bits"][-1].operations
        last = found[arm, "word"][0]["bits"][-1]
        why.append(
            {
                "arm": arm,
                "source": model.plan.source,
                "walks": sum(each.kind == "walk" for each in operations),
                "additions": sum(each.kind != "walk" for each in operations),
                "stages": int(
                    longest_path(
                        [TimedTask(each.name, float(each.tests > 0), each.predecessors) for each in operations]
                    )
                ),
                "serial steps": last.serial,
                "longest path": last.longest,
                "most tests": max(each.tests for each in operations),
                "limit of speed-up": round(last.serial / last.longest, 1),
                "bit width b": b,
            }
        )
    some = [
        each
        for each in rows
        if each["processors"] in (1, 4, 16, 64, 256, 1024, 4096) or "tables" not in each["machine"]
    ]
    show_table(
        [each for each in some if each["machine"] != "Newton-Euler, scheduled" or each["processors"] in (1, 4, 16, 64)]
    )
    print("\nWhere the curves end: the longest path is tests and adder trees, stage after stage\n")
    show_table(why)
    print("\nBatches in threads (real time, as ratios of interleaved runs)\n")
    forms, rounds = (("dense",), 3) if options.quick else (("dense", "straight", "bits"), 9)
    show_table(threads(bt.compile(arms[-1], bits=BITS, source="terms"), forms, rounds))
    print()
    write_csv("speedup", rows)
    draw(found, arms)
    draw_schedules(bt.compile("planar2r", bits=BITS))
    finish(checks_of(found, arms))


if __name__ == "__main__":
    main()
