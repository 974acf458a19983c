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

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import median
from types import SimpleNamespace
from typing import Any

import matplotlib
import numba
import numpy as np
from reporting import Verdicts, arguments, save_figure, show_table, write_csv
from software_arithmetic import software_states, software_steps

import bddtorque as bt
from bddtorque.bench.peers import peer
from bddtorque.compiler import input_arguments
from bddtorque.diagrams.bdd import Diagram
from bddtorque.diagrams.forms import FORMS
from bddtorque.diagrams.forms.bits import Bits, walk_word
from bddtorque.diagrams.forms.multi_terminal import MultiTerminal, walk_terminal
from bddtorque.diagrams.reduction import reduce_reported
from bddtorque.diagrams.table import Table
from bddtorque.dynamics.chain import chain_of
from bddtorque.dynamics.matrices import weightless
from bddtorque.dynamics.newton_euler import WRENCH, newton_euler
from bddtorque.dynamics.terms import Term, Terms, terms_of
from bddtorque.evaluate.machine import run_states
from bddtorque.evaluate.program import assemble
from bddtorque.plan.budget import plan_network
from bddtorque.plan.cover import Choices, Target, cover
from bddtorque.plan.plan import Lookup, Plan
from bddtorque.plan.tabulate import tabulate
from bddtorque.processors import operations_of, spread_bits
from bddtorque.spec import load_spec
from bddtorque.trace.graph import Graph, kept
from bddtorque.trace.terms import shortened, trace_terms
from bddtorque.trace.tracer import Tracer, traced_inputs

matplotlib.use("Agg")
import matplotlib.pyplot as plt

WAYS = {
    "float64": "float64 arithmetic",
    "software": "shifts and additions",
    "bits": "diagrams, bit by bit",
    "multi_terminal": "one walk to the word",
    "dense": "one load",
}
COLOURS = dict(zip(WAYS, ("tab:blue", "tab:cyan", "tab:red", "tab:orange", "tab:green"), strict=True))
STYLES = {"float64": "-", "software": ":"}
REPEATS = 400
GRAVITY = 9.81
Run = Callable[..., Any]


@dataclass(frozen=True)
class Contender:
    """A term from words to its word: run(q, qd, qdd, tau) on arrays (N, n), (N, 1)."""

    way: str
    run: Run


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


def narrowed(formats: Any, torque: int) -> Any:
    """Return the formats with one torque alone: what a single term gives."""
    return SimpleNamespace(q=formats.q, qd=formats.qd, qdd=formats.qdd, tau=[formats.tau[torque]])


def compiled(plan: Plan) -> tuple[tuple[Table, ...], list[Diagram]]:
    tables = tuple(tabulate(block)[0] for block in plan.blocks)
    return tables, [reduce_reported(table).diagram for table in tables]


def arithmetic(graph: Graph, formats: Any, torque: int) -> list[Contender]:
    own = narrowed(formats, torque)
    return [Contender("float64", peer(graph, own, "float64")), Contender("software", software_states(graph, own))]


def faster_arithmetic(graphs: list[Graph], formats: Any, torque: int, words: list[Any]) -> list[Contender]:
    """Return, for each way of arithmetic, the faster formula on random states, so that none loses by its formula."""
    found = []
    for pair in zip(*(arithmetic(graph, formats, torque) for graph in graphs), strict=True):
        best = [np.inf] * len(pair)
        for _ in range(6):  # the first compiles
            for k, each in enumerate(pair):
                begun = time.perf_counter()
                each.run(*words, np.zeros((len(words[0]), 1), dtype=np.int64))
                best[k] = min(best[k], time.perf_counter() - begun)
        found.append(pair[int(np.argmin(best))])
    return found


def steps(graph: Graph, formats: Any, torque: int, words: list[Any]) -> float:
    """Return the additions and shifts of software arithmetic, mean over states."""
    counted, tau = np.zeros(len(words[0]), dtype=np.int64), np.zeros((len(words[0]), 1), dtype=np.int64)
    software_steps(graph, narrowed(formats, torque))(*words, tau, counted)
    return float(counted.mean())


@numba.njit(nogil=True)
def _index(words: Any, state: int, wires: Any) -> int:
    place = 0
    for k in range(len(wires)):
        given = words[wires[k, 0]][state, wires[k, 1]]
        place = (place << wires[k, 2]) | (given & ((1 << wires[k, 2]) - 1))
    return place


@numba.njit(nogil=True)
def _bits(
    words: Any, wires: Any, sign: int, tau: Any, roots: Any, positions: Any, successors: Any, signed: int
) -> None:
    for state in range(len(words[0])):
        tau[state, 0] = sign * walk_word(_index(words, state, wires), roots, positions, successors, signed)


@numba.njit(nogil=True)
def _one_walk(
    words: Any, wires: Any, sign: int, tau: Any, root: int, positions: Any, successors: Any, values: Any
) -> None:
    for state in range(len(words[0])):
        tau[state, 0] = sign * values[walk_terminal(root, _index(words, state, wires), positions, successors)]


@numba.njit(nogil=True)
def _load(words: Any, wires: Any, sign: int, tau: Any, values: Any) -> None:
    for state in range(len(words[0])):
        tau[state, 0] = sign * values[_index(words, state, wires)]


def one_table(plan: Plan, table: Table, diagram: Diagram) -> list[Contender]:
    """Return the ways to look one table up, in loops of their own: the paper's terms."""
    (read,) = (wire for wire in plan.wires if isinstance(wire, Lookup))
    ((_, sign),) = plan.outputs[0].parts  # a table and its negative are one
    names = [plan.wires[wire].name for wire in read.wires]
    kinds = ("q", "qd", "qdd")
    wires = np.array(
        [
            (kinds.index(name.rstrip("12")), int(name[-1]) - 1, width)
            for name, width in zip(names, table.input_widths, strict=True)
        ]
    )
    bits, walk = Bits.from_diagram(diagram), MultiTerminal.from_table(table, diagram.order)
    packed = (bits.roots, bits.positions, bits.successors, int(bits.signed))
    walked = (walk.root, walk.positions, walk.successors, walk.words.astype(np.int64))
    values = table.values.astype(np.int64)
    return [
        Contender("bits", lambda q, qd, qdd, tau: _bits((q, qd, qdd), wires, sign, tau, *packed)),
        Contender("multi_terminal", lambda q, qd, qdd, tau: _one_walk((q, qd, qdd), wires, sign, tau, *walked)),
        Contender("dense", lambda q, qd, qdd, tau: _load((q, qd, qdd), wires, sign, tau, values)),
    ]


def cascade(plan: Plan, tables: tuple[Table, ...], diagrams: list[Diagram], formats: Any) -> list[Contender]:
    """Return the ways to run a cascade, each as a program under the one kernel."""
    made = []
    for way in ("bits", "multi_terminal", "dense"):
        forms = [FORMS[way].from_table(table, each.order) for table, each in zip(tables, diagrams, strict=True)]
        program, registers = assemble(plan, formats, forms, way == "bits"), np.zeros(len(plan.wires), dtype=np.int64)
        counts = np.zeros((3, len(formats.q)), dtype=np.int64)

        def run(q: Any, qd: Any, qdd: Any, tau: Any, p: Any = program, r: Any = registers, c: Any = counts) -> None:
            run_states(p, q, qd, qdd, tau, r, c)

        made.append(Contender(way, run))
    return made


def random_words(formats: Any, count: int, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [
        np.stack([rng.integers(word.lowest, word.highest, count, endpoint=True) for word in kind], axis=1)
        for kind in (formats.q, formats.qd, formats.qdd)
    ]


def timed(made: list[Contender], words: list[Any], inputs: int, rounds: int) -> dict[str, dict[str, float]]:
    """Return ns of every way: lowest, median and highest over single inputs repeated, and of random ones in turn."""
    batches = [[np.repeat(each[k : k + 1], REPEATS, axis=0) for each in words] for k in range(inputs)]
    taken = {each.way: np.full((rounds, inputs + 1), np.inf) for each in made}
    for each in made:
        each.run(*words, np.zeros((len(words[0]), 1), dtype=np.int64))  # compiled now
    tau = np.zeros((max(REPEATS, len(words[0])), 1), dtype=np.int64)
    for number in range(rounds):
        for k, batch in enumerate([*batches, words]):
            for each in made:
                begun = time.perf_counter()
                each.run(*batch, tau)
                taken[each.way][number, k] = (time.perf_counter() - begun) / len(batch[0]) * 1e9
    found = {}
    for way, times in taken.items():
        best = times.min(axis=0)
        single = best[:-1]
        found[way] = {"low": single.min(), "median": median(single), "high": single.max(), "random": best[-1]}
    return found


def agreement(made: list[Contender], words: list[Any]) -> tuple[int, bool]:
    """Return how many units arithmetic is from the diagrams at most, and whether all forms of diagrams agree."""
    results = {}
    for each in made:
        results[each.way] = np.zeros((len(words[0]), 1), dtype=np.int64)
        each.run(*words, results[each.way])
    same = all(np.array_equal(results["bits"], results[way]) for way in ("multi_terminal", "dense"))
    return max(int(np.abs(results[way] - results["bits"]).max()) for way in ("float64", "software")), same


def figure_3(W: int, inputs: int, rounds: int) -> list[dict[str, Any]]:
    """Return a row for every term and way of the 2R arm."""
    formats = load_spec("planar2r").with_options(bits=W).formats(bt.load_robot("planar2r"))
    rows = []
    for name, (graph, torque) in paper_terms().items():
        word = formats.tau[torque]
        target = Target("tau1", Fraction(word.lsb), word.lowest, word.highest)
        plan = cover(graph, input_arguments(formats), [target], Choices((0,), 0), 2 * W)
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


def heaviest_terms(arms: tuple[str, ...], bits: int, inputs: int, rounds: int) -> list[dict[str, Any]]:
    """Return a row for every arm, kind of term and way."""
    rows = []
    for arm in arms:
        robot = bt.load_robot(arm)
        terms = shortened(terms_of(robot))
        formats = load_spec(arm).with_options(bits=bits).resolve(robot).formats(robot)
        for kind in ("inertial", "coriolis", "gravity"):
            term = heaviest(terms, kind)
            if term is None:
                continue
            graphs, word = term_graphs(terms, term), formats.tau[term.joint]
            target = Target("tau1", Fraction(word.lsb), word.lowest, word.highest, Fraction(word.centre), word.sign)
            plan = plan_network(graphs[0], input_arguments(formats), [target], 1.0, 20, "terms")
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
    marks = dict(zip(("inertial", "coriolis", "gravity"), ("o", "s", "^"), strict=True))
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


def judge_figure_3(rows: list[dict[str, Any]], verdicts: Verdicts) -> None:
    """F43: a, b and d gain, c the least; counted, and in time on this machine."""
    cases = {"counted steps": counted_gains(rows, ("term",), "tests, mean")}
    cases |= {f"time, over {WAYS[over]}": gains(rows, ("term",), over) for over in ("software", "float64")}
    for what, found in cases.items():
        shown = {term[0]: gain for (term,), gain in found.items()}
        text = ", ".join(f"{name} {gain:.2f}" for name, gain in shown.items())
        note = "c gains least" if max(shown.values()) > 1 else "c gains least, but arithmetic is faster here"
        verdicts.add("F43", f"gain, {what}", "a, b, d > c", text, min(shown, key=lambda name: shown[name]) == "c", note)


def growth(rows: list[dict[str, Any]], arms: tuple[str, ...]) -> list[dict[str, Any]]:
    """F45, the paper's claim that the gain grows with the joints: every measure and kind of term, confirmed or not.

    No verdict of ours: nothing but the claim was there to expect. It counts as confirmed where every arm of the most
    joints gains more than the arm of the fewest.
    """
    joints = {row["arm"]: row["joints"] for row in rows}
    few, many = min(joints.values()), max(joints.values())
    measures = {f"time, over {WAYS[over]}": gains(rows, ("arm", "term"), over) for over in ("software", "float64")}
    measures["counted steps"] = counted_gains(rows, ("arm", "term"), "tests and additions")
    found = []
    for measure, by_term in measures.items():
        for kind in ("inertial", "coriolis", "gravity"):
            mine = {arm: gain for (arm, term), gain in by_term.items() if term.startswith(kind)}
            least = max(gain for arm, gain in mine.items() if joints[arm] == few)
            confirmed = all(gain > least for arm, gain in mine.items() if joints[arm] == many)
            shown = {arm: round(mine[arm], 3) for arm in arms}
            found.append({"gain": measure, "terms": kind, **shown, "claim confirmed": "yes" if confirmed else "no"})
    return found


def main() -> None:
    options = arguments(__doc__)
    W, inputs, rounds = (7, 16, 3) if options.quick else (10, 64, 5)
    arms = ("planar2r", "planar3r_a") if options.quick else ("planar2r", "planar3r_a", "puma560", "ur5")
    verdicts = Verdicts()
    first = figure_3(W, inputs, rounds)
    print(f"Fig. 3: terms of the 2R arm, W = {W}\n")
    show_table(first)
    second = heaviest_terms(arms, 6 if options.quick else 8, inputs // 4, rounds)
    print("\nThe heaviest terms\n")
    show_table(second)
    print()
    judge_figure_3(first, verdicts)
    claimed = growth(second, arms)
    print("F45, the claim that the gain grows with the joints (arithmetic over diagrams bit by bit)\n")
    show_table(claimed)
    confirmed = sum(row["claim confirmed"] == "yes" for row in claimed)
    print(f"\nconfirmed in {confirmed} of {len(claimed)} cases\n")
    agree = all(row["forms agree"] for row in [*first, *second])
    verdicts.add("", "all forms of the diagrams give the same words", True, agree, agree)
    near = max(row["units apart"] for row in [*first, *second])
    verdicts.add("", "arithmetic and diagrams apart, units", "<= 1", near, near <= 1)
    verdicts.show()
    write_csv("term_times", first)
    write_csv("term_times_gain", second)
    write_csv("term_times_growth", claimed)
    draw_figure_3(first, W)
    draw_gains(second)
    verdicts.exit()


if __name__ == "__main__":
    main()
