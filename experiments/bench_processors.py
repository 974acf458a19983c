"""One state on several cores: how much faster it is than on one, measured beside the counted model.

The Boolean/BDD paper claims a speed-up proportional to the number of processors. `speedup.py` counts it; here the same
schedules run, `model.evaluator("parallel", form, processors=P, spread=...)`: single states at 8 bits, one bit at a time
and all bits of a block side by side, terms apart and everything apart, interleaved with the evaluator ``"bits"`` of the
same form, which uses one core. Run it on a machine that does nothing else: a thread that loses its core for a moment
stops all others. Threads that go before all others (`chrt -f 50`), as those of a controller do, show what schedules
are worth. Three columns say whether two cores were there at all: *cores got*, processor time over time; *cores give*,
how many times as many states as one core they compute at the same time, each on its own, with no meeting; and
*ns apart*, the time from the end of an addition on one core to the end of the next on the other, which depends on where
a host runs its virtual cores. Where they are far apart, whole terms, which meet seldom, are faster than everything
apart.

    chrt -f 50 python experiments/bench_processors.py [--quick] [--rounds 21]
"""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Any

import matplotlib
import numpy as np
from reporting import TIMED, Check, Rule, finish, near, parser, save_figure, show_table, write_csv

import bddtorque as bt
from bddtorque.base.system import usable_processors
from bddtorque.evaluate.operations import WORD_STEPS, Operation, WordView
from bddtorque.evaluate.runners import SharedStateRunner, choose_spreading
from bddtorque.evaluate.scheduling import Placement, Schedule
from bddtorque.evaluate.spreading import Spreading, delayed, schedule_model

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ARMS = ("planar3r_a", "puma560", "ur5")
BITS = 8
FORMS = {"bits": "one bit at a time", "lockstep": "bits side by side"}
WAYS = ("bits", "terms")
GOALS = {"bits": 0.8, "lockstep": 0.65}
"""Efficiency of two processors on arms of six joints, with everything apart."""
STATES = 40
ROUND = 0.03
"""Seconds that one processor computes in a round: the system counts processor time in steps of some milliseconds."""
CHAIN = 2000
"""Additions that each wait for the other processor."""
RECORDED = {
    "planar2r": ((0.974, 0.905), (4, 2)),
    "planar3r_a": ((0.985, 0.912), (10, 2)),
    "puma560": ((0.999, 0.83), (50, 6)),
    "ur5": ((1.0, 0.868), (32, 6)),
}
"""Of two processors, one bit at a time, everything apart and terms apart: efficiency in steps, and meetings."""


def states_of(model: bt.Model) -> list[list[Any]]:
    """Return random states, the words of each as arrays (n,)."""
    rng = np.random.default_rng(0)
    return [
        [rng.integers(kind.lowest, kind.highest, len(kind), endpoint=True) for kind in model.formats.inputs]
        for _ in range(STATES)
    ]


def timed(evaluator: Any, states: list[list[Any]], passes: int) -> tuple[float, float]:
    """Return microseconds of one state, and the cores that the process had meanwhile; first wake what sleeps."""
    for state in states:
        evaluator.torque_words(*state)
    used, begun = time.process_time(), time.perf_counter()
    for _ in range(passes):
        for q, qd, qdd in states:
            evaluator.torque_words(q, qd, qdd)
    took = time.perf_counter() - begun
    return took / len(states) / passes * 1e6, (time.process_time() - used) / took


class OnTheirOwn:
    """Batches of states on one core, and on several at the same time, one evaluator each."""

    def __init__(self, model: bt.Model, form: str, states: list[list[Any]], copies: int, cores: int) -> None:
        self._batch = [np.concatenate([[state[kind] for state in states]] * copies) for kind in range(3)]
        self._evaluators = [model.evaluator("bits", form) for _ in range(cores)]
        self._pool = ThreadPoolExecutor(cores)
        list(self._pool.map(self._timed, self._evaluators))

    def _timed(self, evaluator: Any) -> tuple[float, float]:
        begun = time.perf_counter()
        evaluator.torque_words(*self._batch)
        return begun, time.perf_counter()

    def worth(self) -> float:
        """Return how many times as many states as one core all cores compute."""
        begun, ended = self._timed(self._evaluators[0])
        spans = list(self._pool.map(self._timed, self._evaluators))
        together = max(end for _, end in spans) - min(begin for begin, _ in spans)
        return len(spans) * (ended - begun) / together


def measured(model: bt.Model, form: str, counts: list[int], rounds: int, to_and_fro: ToAndFro) -> list[dict[str, Any]]:
    """Return a row for every way and number of processors, each interleaved with one processor."""
    states, cores = states_of(model), usable_processors()
    alone = model.evaluator("bits", form)
    expected = [alone.torque_words(*state) for state in states]
    passes = math.ceil(ROUND * 1e6 / STATES / min(timed(alone, states, 5)[0] for _ in range(5)))
    rows = []
    for way in WAYS:
        for P in counts:
            team = model.evaluator("parallel", form, processors=P, spread=way)
            assert all(np.array_equal(team.torque_words(*s), tau) for s, tau in zip(states, expected, strict=True))
            apart = OnTheirOwn(model, form, states, passes, min(P, cores))
            runs, worth, meeting = [], [], []
            for _ in range(rounds):
                runs.append((timed(alone, states, passes), timed(team, states, passes)))
                worth.append(apart.worth())
                meeting.append(to_and_fro.cost())
            ratios = sorted(one / many for (one, _), (many, _) in runs)
            few = rounds // 10
            spreading = choose_spreading(model, form, way, P)
            rows.append(
                {
                    "arm": model.robot.name,
                    "form": FORMS[form],
                    "apart": way,
                    "processors": P,
                    "µs on one": round(median(one for (one, _), _ in runs), 1),
                    "µs": round(median(many for _, (many, _) in runs), 1),
                    "speed-up": round(median(ratios), 2),
                    "eight of ten": f"{ratios[few]:.2f} to {ratios[-1 - few]:.2f}",
                    "efficiency": round(median(ratios) / P, 2),
                    "counted": round(counted(spreading), 3),
                    "meetings": meetings(model, form, spreading),
                    "messages": spreading.messages,
                    "cores got": f"{median(got for _, (_, got) in runs):.2f} of {min(P, cores)}",
                    "cores give": round(median(worth), 2),
                    "ns apart": round(median(meeting), 0),
                }
            )
    return rows


def counted(spreading: Spreading) -> float:
    """Return the efficiency in steps where what is sent comes at once; the schedule itself leaves time for it."""
    return spreading.serial / spreading.processors / delayed(spreading, 0.0).makespan


def meetings(model: bt.Model, form: str, spreading: Spreading) -> int:
    """Return how often a processor waits for another in one state."""
    return len(SharedStateRunner(model, form, spreading, 1).lists.waits)


def chain(processors: int, length: int) -> Spreading:
    """Return additions of 1, each on the processor after the one before; the last two are the torques of a 2R arm."""
    one = WordView(constant=1, low=1, high=1)
    operations, placements, word = [], [], one
    for k in range(length):
        name = f"step{k}"
        before = word.sources
        operations.append(
            Operation(name, name, name, "add", (word, one), before, (1, 1), bits=32, low=1, high=length + 1)
        )
        placements.append(Placement(name, k % processors, float(k), k + 1.0))
        word = WordView((name,), low=1, high=length + 1)
    for k in range(2):
        name = f"tau{k + 1}"
        operations.append(Operation(name, name, name, "clamp", (word,), word.sources, low=-128, high=127, output=k))
        placements.append(Placement(name, 0, length + k, length + k + 1.0))
    return Spreading(tuple(operations), Schedule(tuple(placements), processors), WORD_STEPS, length, length, 0)


class ToAndFro:
    """A chain of additions, each on the other processor."""

    def __init__(self) -> None:
        model = bt.compile("planar2r", bits=4)
        self._team = SharedStateRunner(model, "bits", chain(2, CHAIN), 2)
        self._given = np.zeros((1, 2), dtype=np.int64)
        self._given.flags.writeable = False

    def cost(self) -> float:
        """Return nanoseconds from the end of an addition on one processor to the end of the next on another."""
        tau, counts = np.empty((1, 2), dtype=np.int64), np.zeros(6, dtype=np.int64)
        self._team.run([self._given] * 3, tau, counts)
        time.sleep(0.0005)
        begun = time.perf_counter()
        self._team.run([self._given] * 3, tau, counts)
        took = time.perf_counter() - begun
        assert (tau == 127).all()
        return took / CHAIN * 1e9


def draw(rows: list[dict[str, Any]], arms: tuple[str, ...], cores: int) -> None:
    """Draw the measured speed-up beside the counted curve of each arm."""
    figure, axes = plt.subplots(1, len(arms), figsize=(4.6 * len(arms), 4.6), layout="constrained", squeeze=False)
    for axis, arm in zip(axes[0], arms, strict=True):
        model = bt.compile(arm, bits=BITS, source="terms")
        P = sorted({1, 2, 3, 4, 6, 8, cores})
        for way, colour in (("bits", "tab:red"), ("terms", "tab:orange")):
            counted = [schedule_model(model, count, way).speed_up for count in P]
            axis.plot(P, counted, color=colour, lw=1, label=f"counted, {way} apart")
            for form, marker in (("bits", "o"), ("lockstep", "s")):
                mine = [each for each in rows if (each["arm"], each["form"], each["apart"]) == (arm, FORMS[form], way)]
                points = [(1, 1.0), *((each["processors"], each["speed-up"]) for each in mine)]
                label = f"measured, {way} apart, {FORMS[form]}"
                axis.plot(*zip(*points, strict=True), color=colour, marker=marker, ls=":", mfc="none", label=label)
        axis.plot(P, P, "k:", lw=0.8, label="proportional, as claimed")
        axis.set_title(arm)
        axis.set_xlabel("processors")
        axis.set_ylabel("times faster than on one processor")
        axis.grid(alpha=0.3)
    handles, names = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3)
    figure.suptitle(f"One state of {BITS} bits on several processors: measured on {cores} cores, and counted")
    save_figure("bench_processors", figure)


def checks_of(rows: list[dict[str, Any]], arms: tuple[str, ...]) -> list[Check]:
    checks = [Check("ours", "ns from one processor to another", median(each["ns apart"] for each in rows), TIMED)]
    for arm in arms:
        two = {(each["form"], each["apart"]): each for each in rows if each["arm"] == arm and each["processors"] == 2}
        ways = [two[FORMS["bits"], way] for way in WAYS]
        efficiency, met = RECORDED[arm]
        checks += [
            Check("ours", f"{arm}: counted efficiency of 2 processors, everything and terms apart",
                  [each["counted"] for each in ways], near(efficiency, absolute=0.002)),
            Check("ours", f"{arm}: meetings of 2 processors", [each["meetings"] for each in ways], list(met)),
        ]  # fmt: skip
        for form, name in FORMS.items():
            goal = GOALS[form] if arm in ("puma560", "ur5") else None
            rule = None if goal is None else Rule(f"at least {goal}", lambda ours, goal=goal: ours >= goal)
            best = max((two[name, way] for way in WAYS), key=lambda each: each["efficiency"])
            note = f"{best['apart']} apart: {best['µs on one']} and {best['µs']} µs; {best['cores got']} cores, which "
            note += f"give {best['cores give']} and are {best['ns apart']} ns apart"
            what = f"{arm}, {name}: efficiency of 2 processors, the better way"
            checks.append(Check("BDD2R", what, best["efficiency"], TIMED, goal=rule, note=note))
    return checks


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--rounds", type=int, default=21)
    options = made.parse_args()
    arms = ("planar2r",) if options.quick else ARMS
    rounds = 3 if options.quick else options.rounds
    cores = max(2, usable_processors())
    counts = sorted({2, min(4, cores), cores})
    to_and_fro = ToAndFro()
    rows: list[dict[str, Any]] = []
    for arm in arms:
        model = bt.compile(arm, bits=BITS, source="terms")
        for form in FORMS:
            rows += measured(model, form, counts, rounds, to_and_fro)
    show_table(rows)
    print(
        "\nA state of T µs on one processor gains from two only if its meetings, one after another on the longest way,"
    )
    print("take less than T/2: see docs/parallel.md\n")
    write_csv("bench_processors", rows)
    draw(rows, arms, cores)
    finish(checks_of(rows, arms))


if __name__ == "__main__":
    main()
