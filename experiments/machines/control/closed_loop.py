"""A robot under computed-torque control, simulated sample by sample: the plant, the task, the control law.

    u = q̈_d + K_v (q̇_d − q̇) + K_p (q_d − q)          τ = the method's inverse dynamics at (q, q̇, u)

The torque is held over a sample and applied `latency` samples after the one it was computed from. The plant is the
robot's own forward dynamics, integrated by Runge-Kutta (fourth order) in sub-steps of at most a millisecond. All of it
is compiled: what is set up here in Python is data only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.jit import jitable, njit
from bddtorque.dynamics.chain import Chain
from bddtorque.dynamics.matrices import weightless
from bddtorque.dynamics.newton_euler import WRENCH, newton_euler
from bddtorque.robots.robot import Robot
from machines.hamilton.hamilton_equations import HAMILTON
from machines.hamilton.speculation_equations import Recursion
from machines.hamilton.speculation_machine import Scratch, control_iteration, scratch_for, store_for
from machines.hamilton.speculation_methods import SERIAL, Method
from machines.hamilton.speculation_program import (
    Arm,
    Floats,
    Integers,
    RecursionProgram,
    arm_of,
    program_of,
    readings_of,
)
from machines.serial_arm import serial_chain_of

LONGEST_SUBSTEP = 1e-3
"""s, of the integration of the plant."""


@dataclass(frozen=True)
class Sinusoid:
    """The desired motion q_d = amplitude · sin(frequency · t): rad or m per joint, rad/s."""

    amplitude: tuple[float, ...]
    frequency: float = 1.0


SLOW = Sinusoid((0.5, 0.4, 0.3))
"""The slow task."""
FAST = Sinusoid((0.2, 0.2, 0.2), 10.0)
"""The fast task."""


@dataclass(frozen=True)
class Experiment:
    """Settings of a closed-loop run."""

    task: Sinusoid = SLOW
    # stiffness, damping: K_p in 1/s² and K_v in 1/s, the same for all joints
    stiffness: float = 100.0
    damping: float = 20.0
    duration: float = 6.0  # in s
    switch: float = 1.57  # s; the serial recursion runs before, the method from then on
    latency: int = 0  # samples between computing a torque and applying it
    too_far: float = 1.0  # rad; a run has diverged when any joint is further from its desired position


@dataclass(frozen=True)
class Run:
    """A simulated run, sample by sample, up to its end or its divergence."""

    period: float  # in s
    time: Floats  # (K,), s
    # q, desired: (K, n), rad or m
    q: Floats
    desired: Floats
    tau: Floats  # (K, n), computed at each sample, N·m or N
    diverged: float | None  # s, when a joint was too far for the first time; None where that did not happen
    switch: float = field(default=1.57)  # in s

    @property
    def error(self) -> Floats:
        """Desired minus actual positions, (K, n)."""
        return self.desired - self.q

    def rms(self) -> Floats:
        """Return the root mean square of each joint's error after the switch, (n,), rad or m."""
        rms: Floats = np.sqrt((self.error[self.time >= self.switch] ** 2).mean(axis=0))
        return rms

    def rms_norm(self) -> float:
        """Return the root mean square of the length of the error after the switch."""
        return float(np.linalg.norm(self.rms()))

    @property
    def tracks(self) -> bool:
        """Tell if the run ended without divergence."""
        return self.diverged is None


class Plant(NamedTuple):
    """A robot as the integrator wants it: its chain, the same without gravity, and the number of sub-steps a sample."""

    chain: Chain
    floating: Chain
    substeps: int


class Loop(NamedTuple):
    """The settings of a run as numbers; see `Experiment`."""

    amplitude: Floats
    frequency: float
    stiffness: float
    damping: float
    period: float
    switch: float
    latency: int
    too_far: float


@jitable
def desired_motion(loop: Loop, t: float, q: Floats, qd: Floats, qdd: Floats) -> None:
    """Write desired positions, rates and accelerations at time t."""
    s, c, w = np.sin(loop.frequency * t), np.cos(loop.frequency * t), loop.frequency
    for i in range(len(q)):
        q[i] = loop.amplitude[i] * s
        qd[i] = loop.amplitude[i] * w * c
        qdd[i] = -loop.amplitude[i] * w * w * s


@jitable
def solve_in_place(A: Floats, b: Floats) -> None:
    """Solve A x = b for a symmetric positive A (destroyed); x replaces b."""
    n = len(b)
    for k in range(n):
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            for j in range(k, n):
                A[i, j] -= factor * A[k, j]
            b[i] -= factor * b[k]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= A[i, j] * b[j]
        b[i] /= A[i, i]


@jitable
def accelerations(plant: Plant, q: Floats, qd: Floats, tau: Floats, qdd: Floats) -> None:
    """Write the accelerations that torques give: J⁻¹ (tau − bias), columns of J by unit accelerations."""
    n = len(q)
    sine, cosine, wrench = np.sin(q), np.cos(q), np.zeros((n, WRENCH))
    rest, unit, column, J = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros((n, n))
    newton_euler(plant.chain, sine, cosine, q, qd, rest, column, wrench)
    for i in range(n):
        qdd[i] = tau[i] - column[i]
    for j in range(n):
        unit[j] = 1.0
        newton_euler(plant.floating, sine, cosine, q, rest, unit, column, wrench)
        unit[j] = 0.0
        for i in range(n):
            J[i, j] = column[i]
    solve_in_place(J, qdd)


@njit
def move_plant(plant: Plant, period: float, q: Floats, qd: Floats, tau: Floats) -> None:
    """Advance positions and rates by one sample under constant torques."""
    n, h = len(q), period / plant.substeps
    slopes_q, slopes_qd, at = np.zeros((4, n)), np.zeros((4, n)), np.zeros(n)
    for _ in range(plant.substeps):
        for stage in range(4):
            reach = 0.0 if stage == 0 else (h if stage == 3 else h / 2)
            before = max(stage - 1, 0)
            for i in range(n):
                at[i] = q[i] + reach * slopes_q[before, i]
                slopes_q[stage, i] = qd[i] + reach * slopes_qd[before, i]
            accelerations(plant, at, slopes_q[stage], tau, slopes_qd[stage])
        for i in range(n):
            q[i] += h / 6 * (slopes_q[0, i] + 2 * slopes_q[1, i] + 2 * slopes_q[2, i] + slopes_q[3, i])
            qd[i] += h / 6 * (slopes_qd[0, i] + 2 * slopes_qd[1, i] + 2 * slopes_qd[2, i] + slopes_qd[3, i])


@njit
def run_method(
    plant: Plant, loop: Loop, arm: Arm, program: RecursionProgram, serial: Integers, readings: Integers,
    output_prediction: bool, one_step_ahead: bool, store: Floats, scratch: Scratch,
    history: Floats, wanted: Floats, torques: Floats,
) -> int:  # fmt: skip
    """Run a speculative method; write positions, desired positions and torques (K, n); return how many samples ran."""
    # loops, not array expressions: Numba takes seconds to compile those, and the messages of their shape checks
    samples, n = history.shape
    q, qd, u, tau, before = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    q_d, qd_d, qdd_d, model_q = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    ahead, unused, error = np.zeros(n), np.zeros(n), np.zeros(n)
    desired_motion(loop, 0.0, q, qd, u)
    for k in range(samples):
        t = k * loop.period
        desired_motion(loop, t, q_d, qd_d, qdd_d)
        lost = False
        for i in range(n):
            history[k, i], wanted[k, i] = q[i], q_d[i]
            lost |= not abs(q_d[i] - q[i]) <= loop.too_far  # NaN too
        if lost:
            return k + 1
        speculating = t >= loop.switch
        if speculating and one_step_ahead:
            desired_motion(loop, t + loop.period, ahead, unused, unused)
        for i in range(n):
            u[i] = qdd_d[i] + loop.damping * (qd_d[i] - qd[i]) + loop.stiffness * (q_d[i] - q[i])
            model_q[i] = ahead[i] - error[i] if speculating and one_step_ahead else q[i]  # q̂ = q_d(k+1) − e(k−1)
            error[i] = q_d[i] - q[i]
        ages = readings if speculating else serial
        control_iteration(arm, program, ages, store, scratch, model_q, qd, u, tau)
        for i in range(n):
            torques[k, i] = 2 * tau[i] - before[i] if speculating and output_prediction else tau[i]
            before[i] = tau[i]
        move_plant(plant, loop.period, q, qd, torques[max(k - loop.latency, 0)])
    return int(samples)


def plant_of(robot: Robot, period: float) -> Plant:
    """Return a robot for the integrator, with sub-steps of at most a millisecond."""
    chain = serial_chain_of(robot)
    return Plant(chain, weightless(chain), max(1, int(np.ceil(period / LONGEST_SUBSTEP - 1e-9))))


def loop_of(robot: Robot, experiment: Experiment, period: float) -> Loop:
    """Return the settings of a run as numbers."""
    task, n = experiment.task, robot.degrees_of_freedom
    if len(task.amplitude) != n:
        raise BddTorqueError(f"task: robot '{robot.name}' needs {n} amplitudes, got {len(task.amplitude)}")
    if not period > 0:
        raise BddTorqueError(f"closed loop: the period must be above 0 s, got {period}")
    return Loop(
        np.array(task.amplitude, dtype=np.float64),
        float(task.frequency),
        float(experiment.stiffness),
        float(experiment.damping),
        float(period),
        float(experiment.switch),
        int(experiment.latency),
        float(experiment.too_far),
    )


def collect(
    robot: Robot, experiment: Experiment, period: float, run: Callable[[Plant, Loop, Any, Any, Any], int]
) -> Run:
    """Return a run: `run` is given plant and settings and fills positions, desired positions and torques (K, n)."""
    plant, loop = plant_of(robot, period), loop_of(robot, experiment, period)
    samples = round(experiment.duration / period) + 1
    q, desired, tau = (np.zeros((samples, robot.degrees_of_freedom)) for _ in range(3))
    done = run(plant, loop, q, desired, tau)
    time: Floats = np.arange(done, dtype=np.float64) * period
    far = not np.abs(desired[done - 1] - q[done - 1]).max() <= experiment.too_far
    return Run(period, time, q[:done], desired[:done], tau[:done], float(time[-1]) if far else None, experiment.switch)


def simulate(
    robot: Robot,
    method: Method = SERIAL,
    period: float = 1e-3,
    experiment: Experiment | None = None,
    recursion: Recursion = HAMILTON,
    model: Robot | None = None,
) -> Run:
    """Simulate the robot under a method with the given sampling period (s).

    The controller's own robot is `model` where given (another gravity, say), else the robot itself.
    """
    experiment = experiment or Experiment()
    arm, program = arm_of(model or robot), program_of(recursion)
    serial, readings = readings_of(recursion, SERIAL), readings_of(recursion, method)
    store, scratch = store_for(arm, program), scratch_for(program, robot.degrees_of_freedom)

    def run(plant: Plant, loop: Loop, q: Any, desired: Any, tau: Any) -> int:
        return run_method(
            plant, loop, arm, program, serial, readings, method.output_prediction, method.one_step_ahead,
            store, scratch, q, desired, tau,
        )  # fmt: skip

    return collect(robot, experiment, period, run)
