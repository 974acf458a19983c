"""The contenders: the evaluators of a model, and the float baselines, on the same random states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.workers import NoProgress, Progress
from bddtorque.bench.bench_options import TILE
from bddtorque.bench.casadi_code import casadi_torques
from bddtorque.bench.kernel_loops import by_word, own_loop, random_states
from bddtorque.bench.peers import PEERS, TABLE_BITS, peer, vector_peer
from bddtorque.compiler.origin import true_graph
from bddtorque.dynamics.graph import Op
from bddtorque.evaluate.code_writer import Straight, plans_folder
from bddtorque.evaluate.float_code import FloatPool
from bddtorque.evaluate.float_straight import float_straight
from bddtorque.evaluate.straight import straight
from bddtorque.model.applicability import applies
from bddtorque.model.model import Model
from bddtorque.plan.plan import Plan
from bddtorque.plan.plan_cost import look_ups
from bddtorque.plan.reference import run_plan
from bddtorque.plan.wires import Lookup, Sine
from bddtorque.robots.parts import Link
from bddtorque.robots.robot import Robot
from bddtorque.targets.tables.cost import lower_blocks

Words = npt.NDArray[np.int64]

BASELINE = "float32, sine table"
VECTOR_BASELINE = "float32, vector batch"
PEER_NAMES = {"float64": "float64, libm", "polynomial": "float64, polynomial", "float32": BASELINE}
CASADI = "CasADi's C, float64"
OWN_LOOP = "words, a loop of your own"
ONE = "words, one state at a time"
FLOATS = "values, batch of floats"
GENERAL = "general float64 code"
FEW = 16
"""One state in so many is enough for contenders that take microseconds."""
FOR_PYTHON = 64
"""States for what is called from Python one by one."""
LOAD = 4
"""Bytes of one load from a form of a block: words and places to go on at have 32 bits."""


@dataclass(frozen=True)
class Sizes:
    """Bytes of all tables, and bytes of them that one state reads, at most."""

    tables: int
    touched: int


@dataclass(frozen=True)
class Contender:
    """One way to have the outputs of a model."""

    name: str  # as it is shown
    run: Callable[[], Any]  # takes all its states once
    states: int  # how many those are
    proved: bool  # whether what it returns is within a proved bound
    batch: bool = False  # whether it takes many states at once, in vector lanes
    sizes: Sizes | None = None  # of its tables, where it has any
    out: Words | None = None  # where it writes output words, (N, outputs); else it returns them, if they are proved


def contenders(model: Model, states: int, seed: int, progress: Progress | None = None) -> list[Contender]:
    """Return all contenders; every one that is proved returns the same words, which is checked here.

    `states` must be a multiple of 64, the tile of the vector peer.
    """
    if states < TILE or states % TILE:
        raise BddTorqueError(f"states must be a multiple of {TILE}, got {states}")
    words = random_states(model, states, seed)
    runners = [*_own(model, words), *_float_peers(model, words)]
    expected, told = _expected(model, words), progress or NoProgress()
    outputs = model.formats.results.values()
    values = np.stack([word.dequantise(expected[:, k]) for k, word in enumerate(outputs)], axis=1)
    for runner in runners:
        told.advance(runner.name, 1.0, False)
        returned = runner.run()  # compiled, and in the cache
        result = returned if runner.out is None else runner.out
        wanted = values if runner.name == FLOATS else expected
        if runner.proved and not np.array_equal(result, wanted[: runner.states]):
            raise BddTorqueError(f"'{runner.name}' gives other words than the plan: this is a bug, please report it")
    return runners


def _expected(model: Model, words: Mapping[str, Words]) -> Words:
    """Return the words that every evaluator must give: by dense tables, or by the plain interpreter."""
    if model.plan.made_of_tables:
        return np.asarray(model.evaluator("words", "dense").output_words(**words))
    return np.stack(run_plan(model.plan, model.tables, by_word(model, words)), axis=1)


def _own(model: Model, words: Mapping[str, Words]) -> Iterator[Contender]:
    """Give the model's own evaluators."""
    inputs, plan = list(words.values()), model.plan
    states, outputs = len(inputs[0]), len(model.formats.results)
    evaluator = model.evaluator("words", "straight")
    sizes = straight_sizes(plan, straight_code(model))

    def looped(name: str, run: Callable[..., Any], sizes: Sizes | None = sizes) -> Contender:
        out = np.empty((states, outputs), dtype=np.int64)
        return Contender(name, partial(run, *inputs, out), states, True, sizes=sizes, out=out)

    loops_itself = applies(model, "torque calls")  # that kernel takes many states too
    yield looped(ONE, evaluator.kernel if loops_itself else own_loop(model, evaluator.kernel))
    yield looped(OWN_LOOP, own_loop(model, model.kernel()), sizes if plan.in_floats else None)
    if plan.in_floats:
        bare = evaluator.make_kernel(checked=False)
        yield looped("words, one state, unchecked", bare if loops_itself else own_loop(model, bare))
    columns = {name: np.asfortranarray(rows) for name, rows in words.items()}
    for name, arrays in (("words, batch in rows", words), ("words, batch in columns", columns)):
        run: Callable[[], Words] = partial(evaluator.output_words, **arrays)
        if loops_itself:
            run = partial(evaluator.torque_words, **arrays, out=np.empty_like(arrays["q"]))
        yield Contender(name, run, states, True, True, sizes)
    floats = {
        array.name: array.dequantise(words[array.name].reshape(states, -1)).reshape(words[array.name].shape)
        for array in model.formats.inputs
    }
    yield Contender(FLOATS, partial(evaluator.output_values, **floats), states, True, True, sizes)
    if not plan.made_of_tables:
        return
    if loops_itself:
        yield _tables_only(model, inputs)
    few = {name: rows[: max(1, states // FEW)] for name, rows in words.items()}
    run = partial(model.evaluator("bits").output_words, **few)
    yield Contender("bits, diagrams walked", run, max(1, states // FEW), True, sizes=form_sizes(model, "lockstep"))


def straight_code(model: Model, native: bool = True) -> Straight:
    """Return the straight-line code of a model: where it is not `native`, nothing is multiplied."""
    if model.plan.in_floats:
        return float_straight(model.plan, model.formats, model.tables, plans_folder())
    return straight(model.plan, model.formats, model.tables, plans_folder(), native=native)


def _tables_only(model: Model, words: list[Words]) -> Contender:
    """Return straight-line code in which nothing is multiplied: look-ups, sums and shifts alone."""
    states, joints = words[0].shape
    code = straight_code(model, native=False)
    tau, counts = np.empty((states, joints), dtype=np.int64), np.zeros(3 * joints, dtype=np.int64)
    return Contender(
        "words, tables only",
        lambda: code.states(tuple(words), tau, code.table, counts),
        states,
        True,
        sizes=straight_sizes(model.plan, code, native=False),
        out=tau,
    )


def _float_peers(model: Model, words: Mapping[str, Words]) -> Iterator[Contender]:
    """Give the peers: float code for the one function, and general float code."""
    states, outputs = len(next(iter(words.values()))), len(model.formats.results)
    columns = by_word(model, words)
    baseline = true_graph(model, laws_alone=False)
    if baseline is not None:
        graph, laws = baseline.graph, baseline.laws
        turned = sum(node.op in (Op.SINE, Op.COSINE) for node in graph.nodes)
        table = Sizes(turned * 4 << TABLE_BITS, turned * 4)
        rows = [array.reshape(states, -1) for array in words.values()]
        out = np.empty((states, outputs), dtype=np.int64)
        for kind in PEERS:
            run = partial(peer(graph, model.formats, kind, laws), *rows, out)
            yield Contender(PEER_NAMES[kind], run, states, False, sizes=table if kind == "float32" else None)
        vector, size = vector_peer(graph, model.formats, laws)
        lanes = [*(np.ascontiguousarray(array.T) for array in rows), np.empty((outputs, states), np.int64)]
        scratch = np.empty(size, dtype=np.float32)
        yield Contender(VECTOR_BASELINE, partial(vector, *lanes, scratch), states, False, batch=True)
    if applies(model, "sweeps"):  # its true values are known
        yield Contender(GENERAL, partial(model.true_values, columns), states, False, batch=True)
    if applies(model, "torque calls") and baseline is not None and not baseline.laws:  # these know of no friction
        floats = [array.dequantise(own) for array, own in zip(model.formats.inputs, words.values(), strict=True)]
        yield from _pinocchio(model, floats)
        casadi = casadi_torques(model.robot)
        if casadi is not None:
            q, qd, qdd = map(np.ascontiguousarray, floats)
            yield Contender(CASADI, partial(casadi, q, qd, qdd, np.empty_like(q)), states, False)


def _pinocchio(model: Model, floats: list[npt.NDArray[np.float64]]) -> Iterator[Contender]:
    """Give `pinocchio.rnea`, called from Python as people call it, where it is installed."""
    rnea = pinocchio_rnea(model.robot)
    if rnea is None:
        return
    rows = list(zip(*(values[:FOR_PYTHON] for values in floats), strict=True))

    def run() -> None:
        for q, qd, qdd in rows:
            rnea(q, qd, qdd)

    yield Contender("pinocchio.rnea, from Python", run, len(rows), False)


def pinocchio_rnea(robot: Robot) -> Callable[..., Any] | None:
    """Return rnea(q, qd, qdd) of an arm, torques of floats (n,); None where there is no pinocchio.

    Nor is there one where one position moves several joints, which it would take for joints of their own.
    """
    if robot.coupled:
        return None
    try:
        pin = import_module("pinocchio")
    except ImportError:
        return None

    def inertia(body: Link) -> Any:
        return pin.Inertia(body.mass, np.array(body.centre_of_mass), np.array(body.inertia))

    model = pin.Model()
    model.gravity = pin.Motion(np.array(robot.gravity), np.zeros(3))
    for member in robot.members:
        joint = member.joint
        kind = pin.JointModelRZ() if member.turns else pin.JointModelPZ()
        place = pin.SE3(np.array(joint.rotation), np.array(joint.translation))
        parent = model.addJoint(member.parent + 1, kind, place, joint.name)
        model.appendBodyToJoint(parent, inertia(member.link), pin.SE3.Identity())
    if robot.payload is not None:
        tip = pin.SE3(np.array(robot.tip.rotation), np.array(robot.tip.translation))
        model.appendBodyToJoint(robot.tip_member("a payload") + 1, inertia(robot.payload), tip)
    model.armature = np.array([joint.rotor_inertia for joint in robot.joints])
    data, rnea = model.createData(), pin.rnea
    return lambda q, qd, qdd: rnea(model, data, q, qd, qdd)


def straight_sizes(plan: Plan, code: Straight, native: bool = True) -> Sizes:
    """Return the sizes of straight-line code, `native` or not: dense tables, one word of which a look-up reads."""
    if plan.in_floats:
        pool = FloatPool(plan)
        reads = sum(isinstance(each, Lookup) or (isinstance(each, Sine) and pool.tabled(each)) for each in plan.wires)
    else:
        reads = sum(look_ups(plan, native).values())
    return Sizes(code.table.nbytes, reads * code.table.itemsize)


def form_sizes(model: Model, form: str) -> Sizes:
    """Return the sizes of a program whose blocks are in a form (``"chosen"``: each in its own)."""
    forms = lower_blocks(form, model.tables, model.diagrams, model.memory)
    counts = look_ups(model.plan, native=False)
    touched = sum(count * forms[block].loads * LOAD for block, count in counts.items())
    return Sizes(sum(each.bytes for each in forms), touched)
