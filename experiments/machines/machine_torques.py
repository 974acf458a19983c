"""Every machine of the literature run on the same states: its torques, to be held against Newton-Euler and the tables.

Each runs as it is: vector operations in the order of their schedule, pipelines step by step, the triangular array by
its messages, speculative machines until the data of the state have reached every processor, and Horn and Raibert's
look-up from tables of rounded coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.workers import NoProgress, Progress, step
from bddtorque.dynamics.batch import inverse_dynamics
from bddtorque.dynamics.robot_trace import trace_torques
from bddtorque.evaluate.scheduling import list_schedule
from bddtorque.model.applicability import require
from bddtorque.robots.robot import Robot
from bddtorque.sweeps.states import random_words
from machines.classics.horn_raibert import look_up
from machines.classics.luh_lin import customised_joint_tasks
from machines.comparison import COEFFICIENT_BYTES, expanded_terms, literature
from machines.cost_model import CostModel, Machine
from machines.fijany.inverse_array import array_torques
from machines.hamilton.speculation_equations import LATHROP
from machines.hamilton.speculation_machine import SpeculativeMachine
from machines.hamilton.speculation_methods import BINDER_HERZOG, NEW, Method, iterations_to_exact
from machines.lathrop.lathrop_torques import float_state, lathrop_torques
from machines.lathrop.linear_program import linear_program, program_inputs
from machines.lathrop.logarithmic_program import logarithmic_program
from machines.lathrop.systolic import pipeline, simulate
from machines.lathrop.vector_program import Program, Times, run
from machines.serial_arm import require_serial
from machines.table_machines import table_machines

if TYPE_CHECKING:
    from bddtorque.model.model import Model

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.int64]

CLOSE = 1e-9
"""Of the largest torque: what rounding in float64 explains, and no more."""
STREAM = 8
"""States that are fed to a pipeline, one after another."""


@dataclass(frozen=True)
class Finding:
    """Torques of a machine on random states."""

    machine: Machine  # in a cost model
    # the largest difference of its torques from Newton-Euler's, of each joint's largest torque; None if it cannot run
    # the arm
    error: float | None
    # the largest difference from the compiled words, in units of the last bit, torques clamped to their words
    units: float | None
    # whether that is what it must be: of exact machines no error beyond rounding, and no more units than the
    # certificate allows; of the tables the model's own words; None of machines that only approximate
    agrees: bool | None

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**asdict(self.machine), "error": self.error, "units": self.units, "agrees": self.agrees}


def run_machines(
    model: Model, costs: CostModel, states: int, seed: int = 0, progress: Progress | None = None
) -> list[Finding]:
    """Return every machine of the literature and the model itself on its arm, each run on the same random words.

    Bit by bit and word by word the model must give the same words.
    """
    require(model, "torque calls")
    robot, formats = model.robot, model.formats
    if robot.has_friction:
        raise BddTorqueError(f"robot '{robot.name}' has friction, which no machine of the literature computes")
    told = progress or NoProgress()
    given = random_words(formats, states, seed)
    motion = [kind.dequantise(each) for kind, each in zip(formats.inputs, given, strict=True)]
    truth = _Truth(model, inverse_dynamics(robot, *motion), model.torque_words(*given))
    runs = torque_runs(robot, max(formats.q.bits))
    done: dict[str, tuple[float, float, bool]] = {}
    findings = []
    machines = literature(robot, costs, expanded_terms(robot))
    with step(told, f"running {robot.name} on the machines", len(machines)):
        for machine in machines:
            told.advance(machine.name, 1.0, False)
            if machine.time is None:
                findings.append(Finding(machine, None, None, None))
                continue
            name = machine.name if machine.name in runs else machine.name.split(",")[0]
            if name not in done:
                done[name] = truth.compare(runs[name](*motion))
            error, units, inside = done[name]
            rounds = name == "Horn-Raibert"
            findings.append(Finding(machine, error, units, None if rounds else error <= CLOSE and inside))
    error, _, _ = truth.compare(formats.tau.dequantise(truth.words))
    _, units, inside = truth.compare(truth.torques)
    same = {
        way: inside and np.array_equal(model.evaluator(way, form).torque_words(*given), truth.words)
        for way, form in (("bits", "bits"), ("words", "dense"))
    }
    tables = table_machines(model, costs)
    return findings + [Finding(each, error, units, same[each.name.split(",")[0].split()[-1]]) for each in tables]


@dataclass(frozen=True)
class _Truth:
    """References of torques (N, n): Newton-Euler's and the compiled words."""

    model: Model
    torques: Floats
    words: Words

    def compare(self, torques: Floats) -> tuple[float, float, bool]:
        """Return the error, the units from the words, and whether those are within the certificate; (K, n), K <= N."""
        true, words = self.torques[: len(torques)], self.words[: len(torques)]
        largest = np.abs(self.torques).max(axis=0)
        tau = self.model.formats.tau
        units = np.stack([(each.sign * torques[:, j] - each.centre) / each.lsb for j, each in enumerate(tau)], axis=1)
        apart = np.abs(np.clip(units, tau.lowest, tau.highest) - words)
        error = np.abs(torques - true) / np.where(largest > 0, largest, 1.0)
        inside = apart <= np.array(self.model.certificate.bounds) * (1 + CLOSE)
        return float(error.max()), float(apart.max()), bool(inside.all())


def torque_runs(robot: Robot, position_bits: int) -> Mapping[str, Callable[[Floats, Floats, Floats], Floats]]:
    """Return what runs each machine on states (N, n), by its name or the first part of it."""
    require_serial(robot, "a comparison of machines")
    revolute = [joint.kind.turns for joint in robot.joints]
    linear, logarithmic = (
        linear_program(revolute, end_to_end=True),
        logarithmic_program(revolute, end_to_end=True),
    )
    graph = trace_torques(robot)

    def customised(q: Floats, qd: Floats, qdd: Floats) -> Floats:
        columns = {
            f"{kind}{j + 1}": column
            for kind, each in (("q", q), ("qd", qd), ("qdd", qdd))
            for j, column in enumerate(each.T)
        }
        return np.stack([np.broadcast_to(each, len(q)) for each in graph.evaluate(columns)], axis=1)

    def by_program(program: Program) -> Callable[[Floats, Floats, Floats], Floats]:
        return lambda q, qd, qdd: _with_drives(robot, run(program, program_inputs(float_state(robot, q, qd, qdd))), qdd)

    def luh_lin(q: Floats, qd: Floats, qdd: Floats) -> Floats:
        """Run the variables in the order in which the joints' processors start them."""
        tasks = customised_joint_tasks(robot, Times())
        placed = list_schedule(tasks, len(revolute)).placements
        turn = {each.task: k for k, each in enumerate(sorted(placed, key=lambda each: (each.start, each.end)))}
        ordered = tuple(sorted(linear, key=lambda each: turn[f"{each.group}[{each.link}]"]))
        return by_program(ordered)(q, qd, qdd)

    def systolic(program: Program) -> Callable[[Floats, Floats, Floats], Floats]:
        def piped(q: Floats, qd: Floats, qdd: Floats) -> Floats:
            machine = pipeline(program, Times())
            some = [each[:STREAM] for each in (q, qd, qdd)]
            stream = [program_inputs(float_state(robot, *state)) for state in zip(*some, strict=True)]
            outputs = [each.result for each in program if each.step == "tau"]
            ran = simulate(machine, stream, outputs, machine.smallest_interval())
            return np.concatenate(
                [_with_drives(robot, each, row[None]) for each, row in zip(ran.values, some[2], strict=True)]
            )

        return piped

    def speculative(method: Method) -> Callable[[Floats, Floats, Floats], Floats]:
        loops = iterations_to_exact(LATHROP, method, [joint.kind.name for joint in robot.joints])

        def settled(q: Floats, qd: Floats, qdd: Floats) -> Floats:
            """Hold every state for as many loops as old data live; what is read first is of the state before."""
            machine = SpeculativeMachine(robot, method, LATHROP)
            return machine.step(*(np.repeat(each, loops, axis=0) for each in (q, qd, qdd)))[loops - 1 :: loops]

        return settled

    return {
        "Newton-Euler general": lambda q, qd, qdd: lathrop_torques(robot, q, qd, qdd),
        "Newton-Euler": customised,
        "Luh-Lin": luh_lin,
        "Binder/Herzog": speculative(BINDER_HERZOG),
        "Hamilton new": speculative(NEW),
        "Lathrop linear": by_program(linear),
        "Lathrop linear, systolic": systolic(linear),
        "Lathrop logarithmic": by_program(logarithmic),
        "Lathrop logarithmic, systolic": systolic(logarithmic),
        "Fijany array": lambda q, qd, qdd: array_torques(robot, q, qd, qdd).torques,
        "Horn-Raibert": lambda q, qd, qdd: look_up(robot, position_bits, 8 * COEFFICIENT_BYTES).inverse_dynamics(
            q, qd, qdd
        ),
    }


def _with_drives(robot: Robot, values: Mapping[str, Any], qdd: Floats) -> Floats:
    """Return the torques (N, n) of a program's values, with what the rotors take."""
    n = robot.degrees_of_freedom
    tau = np.stack([np.broadcast_to(values[f"tau[{i + 1}]"], len(qdd)) for i in range(n)], axis=1)
    rotors: Floats = np.array([joint.rotor_inertia for joint in robot.joints])
    return tau + rotors * qdd
