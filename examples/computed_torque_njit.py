"""A controller without floating point: encoder words in, torque words out, inside one compiled loop.

`model.kernel("words")` is an njit function on word arrays that allocates nothing; here it is called from a control law
that works in integers as well: differences of words, two gains as fractions of 2¹⁶, a shift. Floats appear only in
the simulated arm (the closed form of a two-joint arm with point masses), which stands for the world outside. It starts
off the desired motion, and carries a mass that the controller does not know of.

    python examples/computed_torque_njit.py [--bits 12]
"""

from __future__ import annotations

import argparse
import math
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

import bddtorque as bt

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.int64]

PERIOD, SUBSTEPS = 0.001, 4
"""s, of the controller; steps of the simulated arm within it."""
STIFFNESS, DAMPING = 100.0, 20.0
"""K_p in 1/s² and K_v in 1/s."""
FRACTION_BITS = 16
"""Of the gains, which are integer multiples of 2^-16."""
UNKNOWN_MASS, START_ERROR, SETTLED = 0.25, 0.005, 1.0
"""kg at the tip; rad, of both joints; s, from when on errors are taken."""


class Arm(NamedTuple):
    """The two-joint arm as its equations have it: masses (kg), lengths (m), inertias of drives (kg·m²), g (m/s²)."""

    m1: float
    m2: float
    r1: float
    r2: float
    J1: float
    J2: float
    g: float


def arm_of(robot: bt.Robot) -> Arm:
    """Return the numbers of planar2r, whose masses are points at the ends of the links."""
    (link1, link2), (joint1, joint2) = robot.links, robot.joints
    r1 = math.hypot(*joint2.translation)
    r2 = math.hypot(*link2.centre_of_mass)
    return Arm(link1.mass, link2.mass, r1, r2, joint1.rotor_inertia, joint2.rotor_inertia, -robot.gravity[1])


@numba.njit
def accelerations(arm: Arm, q: Floats, qd: Floats, tau: Floats) -> tuple[float, float]:
    """Return q̈ of both joints, rad/s²: J(q) q̈ = τ − C(q, q̇) − G(q), solved by Cramer's rule."""
    m1, m2, r1, r2, J1, J2, g = arm
    mixed = m2 * r1 * r2
    J11 = (m1 + m2) * r1**2 + m2 * r2**2 + J1 + 2 * mixed * math.cos(q[1])
    J12 = m2 * r2**2 + mixed * math.cos(q[1])
    J22 = m2 * r2**2 + J2
    whirl = mixed * math.sin(q[1])
    gravity2 = m2 * g * r2 * math.cos(q[0] + q[1])
    left1 = tau[0] + whirl * (2 * qd[0] * qd[1] + qd[1] ** 2) - (m1 + m2) * g * r1 * math.cos(q[0]) - gravity2
    left2 = tau[1] - whirl * qd[0] ** 2 - gravity2
    determinant = J11 * J22 - J12 * J12
    return (J22 * left1 - J12 * left2) / determinant, (J11 * left2 - J12 * left1) / determinant


@numba.njit
def move(arm: Arm, q: Floats, qd: Floats, tau: Floats) -> None:
    """Move the arm by one period under a constant torque, in place (midpoint rule)."""
    step = PERIOD / SUBSTEPS
    for _ in range(SUBSTEPS):
        a1, a2 = accelerations(arm, q, qd, tau)
        middle_q, middle_qd = q + step / 2 * qd, qd + step / 2 * np.array([a1, a2])
        b1, b2 = accelerations(arm, middle_q, middle_qd, tau)
        q += step * middle_qd
        qd += step * np.array([b1, b2])


def reference_words(model: bt.Model, duration: float) -> tuple[Floats, Words, Words, Words]:
    """Return desired positions (K, 2) in rad, and the words of positions, velocities and accelerations, (K, 2) each."""
    time = np.arange(round(duration / PERIOD))[:, None] * PERIOD
    amplitude, rate, middle = np.array([0.4, 0.3]), np.array([1.2, 1.5]), np.array([-1.2, 0.6])
    q = middle + amplitude * np.sin(rate * time)
    formats = model.formats
    return (
        q,
        formats.q.quantise(q),
        formats.qd.quantise(amplitude * rate * np.cos(rate * time)),
        formats.qdd.quantise(-amplitude * rate**2 * np.sin(rate * time)),
    )


def gains(model: bt.Model) -> tuple[Words, Words]:
    """Return K_p and K_v as integers: units of acceleration per unit of position and of velocity, times 2^16."""
    formats = model.formats
    scale = (1 << FRACTION_BITS) / formats.qdd.lsb
    return (
        np.round(STIFFNESS * formats.q.lsb * scale).astype(np.int64),
        np.round(DAMPING * formats.qd.lsb * scale).astype(np.int64),
    )


def control_loop(model: bt.Model) -> Any:
    """Return the compiled loop of controller and arm; the model's own kernel is compiled into it."""
    kernel = model.kernel("words")
    half_turn = np.array([1 << (bits - 1) for bits in model.formats.q.bits])
    q_lsb, qd_lsb, tau_lsb = (each.lsb for each in (model.formats.q, model.formats.qd, model.formats.tau))

    @numba.njit
    def run(
        arm: Arm, q_ref: Words, qd_ref: Words, qdd_ref: Words, kp: Words, kv: Words, q: Floats, qd: Floats,
        positions: Floats, words: Words,
    ) -> None:  # fmt: skip
        for sample in range(len(q_ref)):
            q_word, qd_word, command, torque = (
                words[sample, 0], words[sample, 1], words[sample, 2], words[sample, 3],
            )  # fmt: skip
            positions[sample] = q
            for i in range(2):  # what encoders would give
                q_word[i] = math.floor(q[i] / q_lsb[i] + 0.5)
                qd_word[i] = math.floor(qd[i] / qd_lsb[i] + 0.5)
            for i in range(2):  # the controller: integers only
                apart = (q_ref[sample, i] - q_word[i] + half_turn[i]) % (2 * half_turn[i]) - half_turn[i]
                feedback = kp[i] * apart + kv[i] * (qd_ref[sample, i] - qd_word[i])
                command[i] = qdd_ref[sample, i] + ((feedback + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS)
            kernel(q_word, qd_word, command, torque)  # masks angles, clamps the rest
            move(arm, q, qd, torque * tau_lsb)  # the drive

    return run


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    """Run the loop, print what was seen, and return it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=12, help="word length of torques and inputs (12)")
    parser.add_argument("--duration", type=float, default=10.0, help="s (10)")
    given = parser.parse_args(arguments)
    model = bt.compile("planar2r", bits=given.bits)
    desired, q_ref, qd_ref, qdd_ref = reference_words(model, given.duration)
    positions, words = np.empty_like(desired), np.zeros((len(desired), 4, 2), dtype=np.int64)
    q, qd = desired[0] + START_ERROR, model.formats.qd.dequantise(qd_ref[0])
    arm = arm_of(model.robot)
    arm = arm._replace(m2=arm.m2 + UNKNOWN_MASS)
    control_loop(model)(arm, q_ref, qd_ref, qdd_ref, *gains(model), q, qd, positions, words)

    # every torque word of the run, against float Newton-Euler at the values of its input words
    held = [form.held(words[:, k]) for k, form in enumerate(model.formats.inputs)]
    true = bt.inverse_dynamics(
        model.robot, *(form.dequantise(w) for form, w in zip(model.formats.inputs, held, strict=True))
    )
    found = np.abs(words[:, 3] - true / model.formats.tau.lsb).max(axis=0)
    error = np.abs(desired - positions)[round(SETTLED / PERIOD) :]
    print(f"{model!r}, {len(desired):,} samples of {1e3 * PERIOD:g} ms in one compiled loop\n")
    print(f"{'':34}{'shoulder':>12}{'elbow':>12}")
    for name, row in {
        "rms tracking error, mrad": 1e3 * np.sqrt((error**2).mean(axis=0)),
        "largest tracking error, mrad": 1e3 * error.max(axis=0),
        "one unit of a position word, mrad": 1e3 * model.formats.q.lsb,
        "torque error found, units": found,
        "torque error proved, units": model.certificate.bounds,
    }.items():
        print(f"{name:34}" + "".join(f"{x:12.4f}" for x in row))
    within = "every" if (found <= model.certificate.bounds).all() else "NOT EVERY"
    print(
        "\nThe controller used only integers. With a mass that it does not know of it is, once settled, at most\n"
        f"{error.max() / model.formats.q[0].lsb:.2g} units of its position words from the desired motion, and {within} "
        "torque word of the run lies within\nthe proved bound."
    )
    return {"model": model, "error": error, "found": found, "words": words}


if __name__ == "__main__":
    main()
