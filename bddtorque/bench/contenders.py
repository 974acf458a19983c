"""Who is measured: the evaluators of a model, and the float baselines, on the same random states."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.workers import NoProgress, Progress
from bddtorque.bench.casadi_code import casadi_torques
from bddtorque.bench.peers import PEERS, TABLE_BITS, TILE, peer, vector_peer
from bddtorque.bench.table_sizes import Sizes, form_sizes, straight_sizes
from bddtorque.dynamics.batch import inverse_dynamics
from bddtorque.dynamics.graph import Op
from bddtorque.dynamics.robot_trace import trace_torques
from bddtorque.evaluate.float_straight import float_straight
from bddtorque.evaluate.generated import plans_folder
from bddtorque.evaluate.straight import straight
from bddtorque.model.model import Model
from bddtorque.plan.plan import Plan
from bddtorque.plan.reference import run_plan
from bddtorque.robots.parts import Link
from bddtorque.robots.robot import Robot
from bddtorque.sweeps.states import random_words

Words = npt.NDArray[np.int64]

BASELINE = "float32, sine table"
VECTOR_BASELINE = "float32, vector batch"
PEER_NAMES = {"float64": "float64, libm", "polynomial": "float64, polynomial", "float32": BASELINE}
CASADI = "CasADi's C, float64"
OWN_LOOP = "words, a loop of your own"
FLOATS = "torque, batch of floats"
FEW = 16
"""One state in so many is enough for contenders that take microseconds."""
FOR_PYTHON = 64
"""States for what is called from Python one by one."""


@dataclass(frozen=True)
class Contender:
    """One way to have torques."""

    name: str  # as it is shown
    run: Callable[[], Any]  # takes all its states once
    states: int  # how many those are
    proved: bool  # whether what it returns is within a proved bound
    batch: bool = False  # whether it takes many states at once, in vector lanes
    sizes: Sizes | None = None  # of its tables, where it has any
    tau: Words | None = None  # where it writes torque words, (N, n); else it returns them, if they are proved


def contenders(model: Model, states: int, seed: int, progress: Progress | None = None) -> list[Contender]:
    """Return all contenders; every one that is proved returns the same words, which is checked here.

    `states` must be a multiple of 64, the tile of the vector peer.
    """
    if states < TILE or states % TILE:
        raise BddTorqueError(f"states must be a multiple of {TILE}, got {states}")
    words = random_words(model.formats, states, seed)
    found = [*_own(model, words), *_float_peers(model, words)]
    expected, told = _expected(model, words), progress or NoProgress()
    for each in found:
        told.advance(each.name, 1.0, False)
        returned = each.run()  # compiled, and in the cache
        given = returned if each.tau is None else each.tau
        wanted = expected if each.name != FLOATS else model.formats.tau.dequantise(expected)
        if each.proved and not np.array_equal(given, wanted[: each.states]):
            raise BddTorqueError(f"'{each.name}' gives other words than the plan: this is a bug, please report it")
    return found


def _expected(model: Model, words: list[Words]) -> Words:
    """Return the words that every evaluator must give: by dense tables, or by the plain interpreter."""
    if model.plan.made_of_tables:
        return np.asarray(model.evaluator("words", "dense").torque_words(*words))
    columns = [column for given in words for column in given.T]
    inputs = dict(zip(model.formats.words, columns, strict=True))
    return np.stack(run_plan(model.plan, model.tables, inputs), axis=1)


def _own(model: Model, words: list[Words]) -> Iterator[Contender]:
    """Give the model's own evaluators."""
    states, joints = words[0].shape
    evaluator, plan = model.evaluator("words", "straight"), model.plan
    kernel, tau = evaluator.kernel, np.empty((states, joints), dtype=np.int64)
    if plan.in_floats:
        code = float_straight(plan, model.formats, model.tables, plans_folder())
    else:
        code = straight(plan, model.formats, model.tables, plans_folder())
    sizes = straight_sizes(plan, code)
    yield Contender("words, one state at a time", lambda: kernel(*words, tau), states, True, sizes=sizes, tau=tau)
    called = np.empty_like(tau)
    own = partial(own_loop(model.kernel()), *words, called)
    yield Contender(OWN_LOOP, own, states, True, sizes=sizes if plan.in_floats else None, tau=called)
    if code.unchecked is not None:
        bare = np.empty_like(tau)
        trusting = partial(code.unchecked, tuple(words), bare, code.table)
        yield Contender("words, one state, unchecked", trusting, states, True, sizes=sizes, tau=bare)
    torque_words: Callable[..., Words] = evaluator.torque_words
    columns = [np.asfortranarray(each) for each in words]
    for name, given in (("words, batch in rows", words), ("words, batch in columns", columns)):
        run = partial(torque_words, *given, out=np.empty_like(given[0]))
        yield Contender(name, run, states, True, True, sizes)
    floats = [kind.dequantise(each) for kind, each in zip(model.formats.inputs, words, strict=True)]
    yield Contender(FLOATS, partial(evaluator.torque, *floats), states, True, True, sizes)
    if not plan.made_of_tables:
        return
    yield _tables_only(plan, model, words)
    run = partial(model.evaluator("words", "dense").torque_words, *words)
    yield Contender("program, dense tables", run, states, True, sizes=form_sizes(model, "dense"))
    few = [each[: max(1, states // FEW)] for each in words]
    run = partial(model.evaluator("bits").torque_words, *few)
    yield Contender("bits, diagrams walked", run, len(few[0]), True, sizes=form_sizes(model, "lockstep"))


def own_loop(kernel: Any) -> Any:
    """Return the loop that docs/getting-started.md has people write: one compiled call for each row."""

    def loop(q: Words, qd: Words, qdd: Words, tau: Words) -> None:
        for row in range(len(q)):
            kernel(q[row], qd[row], qdd[row], tau[row])

    return numba.njit(loop)


def _tables_only(plan: Plan, model: Model, words: list[Words]) -> Contender:
    """Return straight-line code in which nothing is multiplied: look-ups, sums and shifts alone."""
    states, joints = words[0].shape
    code = straight(plan, model.formats, model.tables, plans_folder(), native=False)
    tau, counts = np.empty((states, joints), dtype=np.int64), np.zeros(3 * joints, dtype=np.int64)
    return Contender(
        "words, tables only",
        lambda: code.states(tuple(words), tau, code.table, counts),
        states,
        True,
        sizes=straight_sizes(plan, code, native=False),
        tau=tau,
    )


def _float_peers(model: Model, words: list[Words]) -> Iterator[Contender]:
    """Give the peers: float code for the one arm, and general float code."""
    states, joints = words[0].shape
    graph = trace_torques(model.robot)
    turned = sum(node.op in (Op.SINE, Op.COSINE) for node in graph.nodes)
    table = Sizes(turned * 4 << TABLE_BITS, turned * 4)
    tau = np.empty((states, joints), dtype=np.int64)
    for kind in PEERS:
        run = partial(peer(graph, model.formats, kind), *words, tau)
        yield Contender(PEER_NAMES[kind], run, states, False, sizes=table if kind == "float32" else None)
    vector, size = vector_peer(graph, model.formats)
    columns, torques = [np.ascontiguousarray(each.T) for each in words], np.empty((joints, states), dtype=np.int64)
    scratch = np.empty(size, dtype=np.float32)
    yield Contender(VECTOR_BASELINE, lambda: vector(*columns, torques, scratch), states, False, batch=True)
    floats = [kind.dequantise(each) for kind, each in zip(model.formats.inputs, words, strict=True)]
    yield Contender("generic Newton-Euler", lambda: inverse_dynamics(model.robot, *floats), states, False)
    yield from _pinocchio(model, floats)
    casadi = casadi_torques(model.robot)
    if casadi is not None:
        rows = [np.ascontiguousarray(each) for each in floats]
        q, qd, qdd = rows
        yield Contender(CASADI, partial(casadi, q, qd, qdd, np.empty_like(q)), states, False)


def _pinocchio(model: Model, floats: list[npt.NDArray[np.float64]]) -> Iterator[Contender]:
    """Give `pinocchio.rnea`, called from Python as people call it, where it is installed."""
    rnea = pinocchio_rnea(model.robot)
    if rnea is None:
        return
    rows = [tuple(each[k] for each in floats) for k in range(min(FOR_PYTHON, len(floats[0])))]

    def run() -> None:
        for q, qd, qdd in rows:
            rnea(q, qd, qdd)

    yield Contender("pinocchio.rnea, from Python", run, len(rows), False)


def pinocchio_rnea(robot: Robot) -> Callable[..., Any] | None:
    """Return rnea(q, qd, qdd) of an arm, torques of floats (n,); None where there is no pinocchio.

    Nor is there one for joints that follow others, which it would take for joints of their own.
    """
    if robot.followers:
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
        kind = pin.JointModelRZ() if joint.kind == "revolute" else pin.JointModelPZ()
        place = pin.SE3(np.array(joint.rotation), np.array(joint.translation))
        parent = model.addJoint(member.parent + 1, kind, place, joint.name)
        model.appendBodyToJoint(parent, inertia(member.link), pin.SE3.Identity())
    if robot.payload is not None:
        tip = pin.SE3(np.array(robot.tip.rotation), np.array(robot.tip.translation))
        model.appendBodyToJoint(robot.tip_member("a payload") + 1, inertia(robot.payload), tip)
    model.armature = np.array([joint.rotor_inertia for joint in robot.joints])
    data, rnea = model.createData(), pin.rnea
    return lambda q, qd, qdd: rnea(model, data, q, qd, qdd)
