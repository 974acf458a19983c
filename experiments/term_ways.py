"""The ways to compute a term that `term_times.py` compares, from words to a word, and how they are timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numba
import numpy as np
from software_arithmetic import software_states, software_steps

from bddtorque.bench.peers import peer
from bddtorque.diagrams.bdd import Diagram
from bddtorque.diagrams.forms import FORMS
from bddtorque.diagrams.forms.bits import Bits, walk_word
from bddtorque.diagrams.forms.multi_terminal import MultiTerminal, walk_terminal
from bddtorque.diagrams.reduction import reduce
from bddtorque.evaluate.machine import run_states
from bddtorque.evaluate.program import assemble
from bddtorque.graph.graph import Graph
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.tabulate import tabulate
from bddtorque.plan.wires import Lookup
from bddtorque.words import Format, Formats, JointFormats

WAYS = {
    "float64": "float64 arithmetic",
    "software": "shifts and additions",
    "bits": "diagrams, bit by bit",
    "multi_terminal": "one walk to the word",
    "dense": "one load",
}
COLOURS = dict(zip(WAYS, ("tab:blue", "tab:cyan", "tab:red", "tab:orange", "tab:green"), strict=True))
REPEATS = 400
Run = Callable[..., Any]


@dataclass(frozen=True)
class Contender:
    """A term from words to its word: run(q, qd, qdd, tau) on arrays (N, n), (N, 1)."""

    way: str
    run: Run


@dataclass(frozen=True)
class OneTorque:
    """The formats of all inputs and of one torque: of a single term."""

    q: JointFormats
    qd: JointFormats
    qdd: JointFormats
    tau: tuple[Format]


def narrowed(formats: Formats, torque: int) -> OneTorque:
    """Return the formats with one torque alone."""
    return OneTorque(formats.q, formats.qd, formats.qdd, (formats.tau[torque],))


def compiled(plan: Plan) -> tuple[tuple[Table, ...], list[Diagram]]:
    tables = tuple(tabulate(block)[0] for block in plan.blocks)
    return tables, [reduce(table).diagram for table in tables]


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
