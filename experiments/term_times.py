"""The Boolean/BDD paper's Fig. 3: time of single terms, by arithmetic and by diagrams; then the heaviest terms of arms.

Fig. 3 shows hi-lo bars over inputs for four terms of the 2R arm (a: −5 S2 q̇2², b: 6.75 g C1, c: 9 q̈2, d: 5 S2 q̇1²) on
an 8086 without floating-point unit: a, b and d much faster as diagrams, c about the same (F43). Here each term is one
table of W = 10 bits a word and goes from words to a word. It is computed by float64 arithmetic, by arithmetic as that
processor had to do it (shifts, additions, CORDIC), by walking the diagram of every output bit (the paper's way), by one
walk to a whole word, and by one load. Times are of compiled loops, interleaved; over 64 inputs each has lowest, median
and highest.

Then the paper's expectation that the gain grows with the joints (F45): the heaviest inertial, Coriolis and gravity
terms of the 2R, the 3R, the PUMA 560 and the UR5 at 8 bits, planned as cascades within 20 input bits a table and run as
programs. Steps are counted beside: tests and additions of diagrams, additions and shifts of software arithmetic.

    python experiments/term_times.py [--quick]
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import matplotlib
import numpy as np
from reporting import TIMED, Check, Rule, arguments, at_most, finish, near, save_figure, show_table, write_csv
from term_ways import (
    COLOURS,
    WAYS,
    agreement,
    arithmetic,
    cascade,
    compiled,
    faster_arithmetic,
    one_table,
    random_words,
    steps,
    timed,
)

import bddtorque as bt
from bddtorque.diagrams.forms.bits import Bits
from bddtorque.dynamics.chain import chain_of
from bddtorque.dynamics.matrices import weightless
from bddtorque.dynamics.newton_euler import WRENCH, newton_euler
from bddtorque.dynamics.term_trace import shortened, trace_terms
from bddtorque.dynamics.terms import Term, Terms, terms_of
from bddtorque.graph.graph import Graph, kept
from bddtorque.graph.tracer import Tracer, traced_inputs
from bddtorque.model.source import RobotSource
from bddtorque.planner.budget import plan_network
from bddtorque.planner.builder import Target
from bddtorque.planner.cover import Choices, cover
from bddtorque.schedule import operations_of, spread_bits
from bddtorque.spec import load_spec

matplotlib.use("Agg")
import matplotlib.pyplot as plt

STYLES = {"float64": "-", "software": ":"}
KINDS = ("inertial", "coriolis", "gravity")
GRAVITY = 9.81
COUNTED_TERMS = {False: (4.31, 2.08, 1.65, 3.28), True: (12.08, 4.23, 4.01, 10.0)}
"""Steps of software arithmetic over tests of diagrams, terms a to d, by `--quick`."""
COUNTED_ARMS: dict[bool, dict[str, tuple[float, ...]]] = {
    False: {
        "inertial": (1.617, 0.620, 1.006, 1.040),
        "coriolis": (0.4168, 0.5194, 1.642, 0.920),
        "gravity": (1.504, 2.452, 3.327, 1.999),
    },
    True: {"gravity": (2.57, 4.60)},
}
"""The same of the heaviest terms, arm by arm."""


def paper_terms() -> dict[str, tuple[Graph, int]]:
    """Return the graphs of a, b, c, d, and the torque whose unit their words have."""
    tracer = Tracer()
    q1, q2, qd1, qd2, qdd2 = (tracer.input(name) for name in ("q1", "q2", "qd1", "qd2", "qdd2"))
    sine: Any = tracer.sin(q2)
    cosine: Any = tracer.cos(q1)
    made = {
        "a: −5 S2 q̇2²": (-5.0 * sine * qd2 * qd2, 0),
        "b: 6.75 g C1": (6.75 * GRAVITY * cosine, 0),
        "c: 9 q̈2": (9.0 * qdd2, 1),
        "d: 5 S2 q̇1²": (5.0 * sine * qd1 * qd1, 1),
    }
    return {name: (tracer.graph([value], ["tau1"]), torque) for name, (value, torque) in made.items()}


def figure_3(W: int, inputs: int, rounds: int) -> list[dict[str, Any]]:
    """Return a row for every term and way of the 2R arm."""
    robot, spec = bt.load_robot("planar2r"), load_spec("planar2r").with_options(bits=W)
    formats = spec.formats(robot)
    arguments = RobotSource(robot, spec, formats).arguments
    rows = []
    for name, (graph, torque) in paper_terms().items():
        word = formats.tau[torque]
        target = Target("tau1", Fraction(word.lsb), word.lowest, word.highest)
        plan = cover(graph, arguments, [target], Choices((0,), 0), 2 * W)
        (table,), (diagram,) = compiled(plan)
        made = [*arithmetic(graph, formats, torque), *one_table(plan, table, diagram)]
        words = random_words(formats, 4000)
        apart, same = agreement(made, words)
        times = timed(made, words, inputs, rounds)
        tests = Bits.from_diagram(diagram).count_tests(np.arange(len(table.values)))
        counts, counted = graph.counts(), steps(graph, formats, torque, words)
        for way, figures in times.items():
            rows.append(
                {
                    "term": name,
                    "way": way,
                    **{f"{key} ns": round(value, 1) for key, value in figures.items()},
                    "operations": f"{counts['products']}m {counts['sums']}a {counts['sine_cosines']}sin",
                    "software steps": round(counted, 1),
                    "tests, mean": round(float(tests.sum(axis=1).mean()), 1),
                    "most": int(tests.sum(axis=1).max()),
                    "units apart": apart,
                    "forms agree": same,
                }
            )
    return rows


def heaviest(terms: Terms, kind: str) -> Term | None:
    """Return the term of a kind with the most harmonics."""
    return max((term for term in terms.terms if term.kind == kind), key=lambda term: len(term.expansion), default=None)


def term_graphs(terms: Terms, term: Term) -> list[Graph]:
    """Return the formulas of a term: its harmonics, and the recursion with everything else at rest."""
    n = terms.robot.degrees_of_freedom
    whole = trace_terms(replace(terms, terms=(term,)))
    made = [kept(whole.nodes, [whole.outputs[term.joint]], ["tau1"])]
    chain, tracer = chain_of(terms.robot), Tracer()
    q = traced_inputs(tracer, "q", n)
    sine, cosine = (np.array([turn(angle) for angle in q], dtype=object) for turn in (tracer.sin, tracer.cos))

    def torque(which: Any, qd: dict[int, Any], qdd: dict[int, Any]) -> Any:
        motion = [np.array([moved.get(j, 0.0) for j in range(n)], dtype=object) for moved in (qd, qdd)]
        tau = np.zeros(n, dtype=object)
        newton_euler(which, sine, cosine, np.array(q, dtype=object), *motion, tau, np.zeros((n, WRENCH), dtype=object))
        return tau[term.joint]

    if term.kind == "gravity":
        value = torque(chain, {}, {})
    elif term.kind == "inertial":
        (j,) = term.motion
        value = torque(weightless(chain), {}, {j: tracer.input(f"qdd{j + 1}")})
    else:  # C q̇j q̇k is half of what τ(q̇j, q̇k) differs from τ(q̇j, −q̇k)
        j, k = term.motion
        qdj, qdk = tracer.input(f"qd{j + 1}"), tracer.input(f"qd{k + 1}")
        floating = weightless(chain)
        value = 0.5 * (torque(floating, {j: qdj, k: qdk}, {}) - torque(floating, {j: qdj, k: -qdk}, {}))
    return [*made, tracer.graph([value], ["tau1"])]


def heaviest_terms(
    arms: tuple[str, ...], kinds: tuple[str, ...], bits: int, inputs: int, rounds: int
) -> list[dict[str, Any]]:
    """Return a row for every arm, kind of term and way."""
    rows = []
    for arm in arms:
        robot = bt.load_robot(arm)
        terms = shortened(terms_of(robot))
        spec = load_spec(arm).with_options(bits=bits).resolve(robot)
        formats = spec.formats(robot)
        arguments = RobotSource(robot, spec, formats).arguments
        for kind in kinds:
            term = heaviest(terms, kind)
            if term is None:
                continue
            graphs, word = term_graphs(terms, term), formats.tau[term.joint]
            target = Target("tau1", Fraction(word.lsb), word.lowest, word.highest, Fraction(word.centre), word.sign)
            plan = plan_network(graphs[0], arguments, [target], 1.0, 20, "terms")
            tables, diagrams = compiled(plan)
            words = random_words(formats, 4000)
            made = [*faster_arithmetic(graphs, formats, term.joint, words), *cascade(plan, tables, diagrams, formats)]
            apart, same = agreement(made, words)
            spread = spread_bits(operations_of(plan, diagrams), 1)
            counted, graph = min(
                ((steps(each, formats, term.joint, words), each) for each in graphs), key=lambda one: one[0]
            )
            counts = graph.counts()
            names = set(graphs[0].input_names)
            for way, figures in timed(made, words, inputs, rounds).items():
                rows.append(
                    {
                        "arm": arm,
                        "joints": robot.degrees_of_freedom,
                        "term": f"{kind} {term.name}",
                        "words": len(names),
                        "direct bits": len(names) * bits,
                        "harmonics": len(term.expansion),
                        "operations": f"{counts['products']}m {counts['sums']}a {counts['sine_cosines']}sin",
                        "software steps": round(counted, 1),
                        "tests and additions": int(spread.serial),
                        "longest path": int(spread.longest),
                        "way": way,
                        **{f"{key} ns": round(value, 1) for key, value in figures.items()},
                        "units apart": apart,
                        "forms agree": same,
                    }
                )
    return rows


def gains(rows: list[dict[str, Any]], keys: tuple[str, ...], over: str) -> dict[tuple[Any, ...], float]:
    """Return the time of arithmetic over that of diagrams walked bit by bit, median over inputs, for each term."""
    times = {(tuple(row[key] for key in keys), row["way"]): row["median ns"] for row in rows}
    return {term: times[term, over] / times[term, "bits"] for term, way in times if way == "bits"}


def counted_gains(rows: list[dict[str, Any]], keys: tuple[str, ...], steps_of: str) -> dict[tuple[Any, ...], float]:
    """Return steps of software arithmetic over steps of diagrams, for each term: the same on every machine."""
    return {
        tuple(row[key] for key in keys): row["software steps"] / row[steps_of] for row in rows if row["way"] == "bits"
    }


def draw_figure_3(rows: list[dict[str, Any]], W: int) -> None:
    terms = list(dict.fromkeys(row["term"] for row in rows))
    figure, axis = plt.subplots(figsize=(10, 5), layout="constrained")
    for k, (way, label) in enumerate(WAYS.items()):
        mine = [next(row for row in rows if (row["term"], row["way"]) == (term, way)) for term in terms]
        place = np.arange(len(terms)) + (k - 2) * 0.16
        low, high = (np.array([row[f"{end} ns"] for row in mine]) for end in ("low", "high"))
        axis.bar(place, high - low, 0.13, bottom=low, color=COLOURS[way], label=f"{label}, lowest to highest")
        middles = [row["median ns"] for row in mine]
        axis.plot(place, middles, "k_", ms=10)
        axis.plot(place, [row["random ns"] for row in mine], "kx", ms=5)
    axis.plot([], [], "k_", ms=10, label="median over inputs, each repeated")
    axis.plot([], [], "kx", ms=5, label="random inputs in turn")
    axis.set_yscale("log")
    axis.set_xticks(range(len(terms)), terms)
    axis.set_ylabel("one term, ns")
    axis.grid(alpha=0.3, axis="y", which="both")
    axis.set_title(f"Fig. 3 of the Boolean/BDD paper on this machine: terms of the 2R arm, W = {W} bits, over inputs")
    axis.legend(fontsize=8, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.08))
    save_figure("term_times", figure)


def draw_gains(rows: list[dict[str, Any]]) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(14, 6), layout="constrained")
    arms = list(dict.fromkeys(row["arm"] for row in rows))
    kinds = dict.fromkeys(row["term"].split()[0] for row in rows)
    marks = {kind: mark for kind, mark in zip(KINDS, ("o", "s", "^"), strict=True) if kind in kinds}
    cases = [(gains(rows, ("arm", "term"), over), WAYS[over], style, COLOURS[over]) for over, style in STYLES.items()]
    counted = counted_gains(rows, ("arm", "term"), "tests and additions")
    for found, label, style, colour in [*cases, (counted, "counted: software steps", "--", "k")]:
        for kind, mark in marks.items():
            mine = [(arms.index(arm), gain) for (arm, term), gain in found.items() if term.startswith(kind)]
            axes[0].semilogy(*zip(*mine, strict=True), f"{mark}{style}", color=colour, label=f"{kind}, {label}")
    axes[0].axhline(1.0, color="k", lw=0.8)
    axes[0].set_title("gain: arithmetic over diagrams bit by bit (above 1: diagrams win)")
    for kind, mark in marks.items():
        mine = [row for row in rows if row["term"].startswith(kind) and row["way"] == "bits"]
        place = [arms.index(row["arm"]) for row in mine]
        axes[1].semilogy(
            place, [row["tests and additions"] for row in mine], f"{mark}-", color="tab:red", label=f"{kind}, all"
        )
        axes[1].semilogy(
            place, [row["longest path"] for row in mine], f"{mark}--", color="tab:gray", label=f"{kind}, longest path"
        )
    axes[1].set_title("diagrams: tests and additions of the cascade")
    for axis in axes:
        axis.set_xticks(range(len(arms)), arms)
        axis.grid(alpha=0.3, which="both")
        axis.legend(fontsize=8, ncols=3 if axis is axes[0] else 2, loc="upper center", bbox_to_anchor=(0.5, -0.08))
    figure.suptitle("The heaviest term of each kind: does the gain grow with the joints (F45)?")
    save_figure("term_times_gain", figure)


def figure_3_checks(rows: list[dict[str, Any]], quick: bool) -> list[Check]:
    """F43: a, b and d gain, c the least; counted, and in time on this machine."""
    cases = {"counted steps": counted_gains(rows, ("term",), "tests, mean")}
    cases |= {f"time, over {WAYS[over]}": gains(rows, ("term",), over) for over in ("software", "float64")}
    least = Rule("c gains least", lambda ours: min(ours) == ours[2])
    more = Rule("a, b, d above 1", lambda ours: min(ours[0], ours[1], ours[3]) > 1)
    checks = []
    for measure, found in cases.items():
        ours = list(found.values())
        recorded = near(COUNTED_TERMS[quick], absolute=0.005) if measure == "counted steps" else TIMED
        checks += [Check("F43", f"gain of a, b, c, d in {measure}", ours, recorded, claim) for claim in (least, more)]
    return checks


def growth(rows: list[dict[str, Any]], quick: bool) -> list[Check]:
    """F45, the paper's claim that the gain grows with the joints: every measure and kind of term.

    It counts as confirmed where every arm of the most joints gains more than any arm of the fewest.
    """
    joints = {row["arm"]: row["joints"] for row in rows}
    few, many = min(joints.values()), max(joints.values())
    measures = {f"time, over {WAYS[over]}": gains(rows, ("arm", "term"), over) for over in ("software", "float64")}
    measures["counted steps"] = counted_gains(rows, ("arm", "term"), "tests and additions")
    checks = []
    for measure, by_term in measures.items():
        for kind in dict.fromkeys(row["term"].split()[0] for row in rows):
            mine = {arm: gain for (arm, term), gain in by_term.items() if term.startswith(kind)}
            grows = Rule(
                "grows with the joints",
                lambda ours, joints=[joints[arm] for arm in mine]: (
                    min(gain for gain, n in zip(ours, joints, strict=True) if n == many)
                    > max(gain for gain, n in zip(ours, joints, strict=True) if n == few)
                ),
            )
            recorded = near(COUNTED_ARMS[quick][kind], relative=0.005) if measure == "counted steps" else TIMED
            checks.append(
                Check("F45", f"gain of {kind} terms of {', '.join(mine)} in {measure}", list(mine.values()), recorded,
                      grows, "--quick has too few arms" if quick else "")
            )  # fmt: skip
    return checks


def main() -> None:
    options = arguments(__doc__)
    W, inputs, rounds = (7, 16, 3) if options.quick else (10, 64, 5)
    arms = ("planar2r", "planar3r_a") if options.quick else ("planar2r", "planar3r_a", "puma560", "ur5")
    first = figure_3(W, inputs, rounds)
    print(f"Fig. 3: terms of the 2R arm, W = {W}\n")
    show_table(first)
    kinds = ("gravity",) if options.quick else KINDS
    second = heaviest_terms(arms, kinds, 6 if options.quick else 8, inputs // 4, rounds)
    print("\nThe heaviest terms\n")
    show_table(second)
    write_csv("term_times", first)
    write_csv("term_times_gain", second)
    draw_figure_3(first, W)
    draw_gains(second)
    every = [*first, *second]
    finish(
        [
            *figure_3_checks(first, options.quick),
            *growth(second, options.quick),
            Check("ours", "rows whose forms of the diagrams differ", sum(not row["forms agree"] for row in every), 0),
            Check("ours", "arithmetic and diagrams apart, units", max(row["units apart"] for row in every), at_most(1)),
        ]
    )


if __name__ == "__main__":
    main()
