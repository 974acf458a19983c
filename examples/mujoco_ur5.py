"""The UR5 in MuJoCo, tracking a motion with compiled torques beside float ones.

MuJoCo simulates the arm (its model is written from the robot's own parameters, so that both mean the same arm), and
four controllers drive it by computed torque: float Newton-Euler; float torques of positions, velocities and commands
as their words say them, which shows what words of the inputs cost; the compiled tables, with torque words over the full
range of the motors; and the same with torque words over what the arm can need. No window is opened. Needs the extras
`mujoco` and `plots`.

    python examples/mujoco_ur5.py [--bits 12] [--duration 4] [--picture out/mujoco_ur5.png]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import mujoco
import numpy as np
import numpy.typing as npt

import bddtorque as bt

Floats = npt.NDArray[np.float64]
Torque = Callable[[Floats, Floats, Floats], Floats]

PERIOD, SUBSTEPS = 0.002, 2
"""s, of the controllers; MuJoCo's steps within it."""
STIFFNESS, DAMPING = 100.0, 20.0
"""K_p in 1/s² and K_v in 1/s."""
MIDDLE = np.array([0.3, -1.2, 1.4, -0.8, -1.2, 0.4])
AMPLITUDE = np.array([0.6, 0.4, 0.5, 0.5, 0.6, 0.8])
RATE = np.array([1.2, 1.5, 1.4, 1.9, 1.6, 1.8])
"""Of the desired motion: rad, rad, rad/s, from base to tip."""
NEEDED = [120.0, 145.0, 60.0, 15.0, 16.0, 5.0]
"""N·m: no state within the ranges of the words needs more, as the certificate of either model proves. The motors have
150, 150, 150, 28, 28 and 28 N·m."""


def mjcf(robot: bt.Robot, timestep: float) -> str:
    """Return a MuJoCo model (MJCF) of a robot: its frames, inertias, rotor inertias and gravity, motors without limits.

    Every joint of a `Robot` moves about or along the z axis of its own frame, which MuJoCo can say as well. Bodies have
    no shape, hence no contacts; limits of positions are left out. MuJoCo wants principal moments above zero.
    """
    opened = []
    for joint, link in zip(robot.joints, robot.bodies, strict=True):
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, np.array(joint.rotation).ravel())
        I = np.array(link.inertia)  # noqa: E741 - the inertia's name
        upper = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        kind = "hinge" if joint.kind.turns else "slide"
        opened.append(
            f'<body name={quoteattr(link.name)} pos="{_text(joint.translation)}" quat="{_text(quaternion)}">'
            f'<joint name={quoteattr(joint.name)} type="{kind}" axis="0 0 1" armature="{joint.rotor_inertia!r}"/>'
            f'<inertial mass="{link.mass!r}" pos="{_text(link.centre_of_mass)}" fullinertia="{_text(upper)}"/>'
        )
    motors = "".join(f"<motor joint={quoteattr(name)}/>" for name in robot.joint_names)
    return (
        f"<mujoco model={quoteattr(robot.name)}>"
        '<compiler angle="radian" autolimits="true"/>'
        f'<option integrator="RK4" timestep="{timestep!r}" gravity="{_text(robot.gravity)}"/>'
        f"<worldbody>{''.join(opened)}{'</body>' * len(opened)}</worldbody>"
        f"<actuator>{motors}</actuator></mujoco>"
    )


def _text(numbers: Any) -> str:
    return " ".join(repr(float(x)) for x in numbers)


def desired_motion(time: float) -> tuple[Floats, Floats, Floats]:
    """Return q, q̇ and q̈ wanted at a time (s)."""
    phase = RATE * time
    return (
        MIDDLE + AMPLITUDE * np.sin(phase),
        AMPLITUDE * RATE * np.cos(phase),
        -AMPLITUDE * RATE**2 * np.sin(phase),
    )


@dataclass(frozen=True)
class Tracking:
    """A run: time (K,) in s; error (desired minus actual, rad) and torque (N·m), (K, n)."""

    time: Floats
    error: Floats
    torque: Floats

    @property
    def rms(self) -> Floats:
        """Root mean square of the error of each joint, (n,), rad."""
        return np.sqrt((self.error**2).mean(axis=0))


def track(arm: Any, torque: Torque, sense: Callable[[Any, Floats], Floats], formats: Any, duration: float) -> Tracking:
    """Simulate `arm` (a MuJoCo model) under computed torque; `sense(format, values)` is what a controller sees."""
    data = mujoco.MjData(arm)
    data.qpos[:], data.qvel[:], _ = desired_motion(0.0)
    rows = []
    for sample in range(round(duration / PERIOD)):
        time = sample * PERIOD
        q_d, qd_d, qdd_d = desired_motion(time)
        q, qd = sense(formats.q, data.qpos.copy()), sense(formats.qd, data.qvel.copy())
        command = qdd_d + DAMPING * (qd_d - qd) + STIFFNESS * (q_d - q)
        data.ctrl[:] = torque(q, qd, sense(formats.qdd, command))
        rows.append((time, q_d - data.qpos, data.ctrl.copy()))
        mujoco.mj_step(arm, data, nstep=SUBSTEPS)
    return Tracking(*(np.array(column) for column in zip(*rows, strict=True)))


def as_it_is(_: Any, values: Floats) -> Floats:
    """Sense values without words."""
    return values


def through_words(form: Any, values: Floats) -> Floats:
    """Sense values as their nearest words say them."""
    return form.dequantise(form.quantise(values))


def all_controllers(wide: bt.Model, narrow: bt.Model, arm: Any, duration: float) -> dict[str, Tracking]:
    """Run float, float on words, and compiled with torque words over two ranges."""

    def float_torque(q: Floats, qd: Floats, qdd: Floats) -> Floats:
        return bt.inverse_dynamics(wide.robot, q, qd, qdd)

    return {
        "float": track(arm, float_torque, as_it_is, wide.formats, duration),
        "float on words": track(arm, float_torque, through_words, wide.formats, duration),
        "compiled, motor ranges": track(arm, wide.torque, through_words, wide.formats, duration),
        "compiled, needed ranges": track(arm, narrow.torque, through_words, narrow.formats, duration),
    }


def draw(model: bt.Model, runs: dict[str, Tracking], path: Path) -> None:
    """Draw errors over time, joint by joint, with one unit of the position words as a scale."""
    import matplotlib as mpl  # noqa: PLC0415 - only where there is something to draw

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(2, 3, figsize=(13, 6.5), layout="constrained", sharex=True)
    colours = dict(zip(runs, ("black", "tab:orange", "tab:red", "tab:blue"), strict=True))
    for joint, axis in enumerate(axes.flat):
        half_unit = 1e3 * model.formats.q[joint].lsb / 2
        axis.axhspan(-half_unit, half_unit, color="0.92", label="half a unit of the position word")
        for name, run in runs.items():
            axis.plot(run.time, 1e3 * run.error[:, joint], color=colours[name], lw=0.9, label=name)
        axis.set_title(model.robot.joint_names[joint].replace("_", " "))
        axis.grid(alpha=0.3)
    for axis in axes[-1]:
        axis.set_xlabel("time, s")
    for axis in axes[:, 0]:
        axis.set_ylabel("tracking error, mrad")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    bits = model.formats.tau[0].bits
    figure.suptitle(f"UR5 in MuJoCo under computed torque, words of {bits} bits beside floats")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def say(wide: bt.Model, narrow: bt.Model, runs: dict[str, Tracking]) -> None:
    """Print the errors and what they show."""
    print(f"{wide!r}\n\nrms tracking error, mrad, and one unit of the torque words, N·m")
    print(f"{'':20}" + "".join(f"{name:>25}" for name in runs))
    for joint, name in enumerate(wide.robot.joint_names):
        cells = [f"{1e3 * run.rms[joint]:.3f}" for run in runs.values()]
        for place, model in ((2, wide), (3, narrow)):
            cells[place] += f"  ({model.formats.tau[joint].lsb:.4f})"
        print(f"{name:20}" + "".join(f"{cell:>25}" for cell in cells))
    plain, sensed, full, needed = (1e3 * float(run.rms.max()) for run in runs.values())
    print(
        f"\nWorst joint: {plain:.2g} mrad with floats, {sensed:.2g} with only the inputs in words, {full:.2g} "
        f"with tables over the\nmotors' ranges, {needed:.2g} over the ranges needed. A word is as fine as its range "
        "allows: a light joint\nbehind a strong motor wants its torque range narrowed."
    )


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    """Run all four controllers, print, draw, and return what was made."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=12, help="word length of torques and inputs (12)")
    parser.add_argument("--duration", type=float, default=4.0, help="s, of the motion (4)")
    parser.add_argument("--picture", type=Path, default=Path("out/mujoco_ur5.png"), help="the picture to write")
    given = parser.parse_args(arguments)
    wide, narrow = bt.compile("ur5", bits=given.bits), bt.compile("ur5", bits=given.bits, torque=NEEDED)
    arm = mujoco.MjModel.from_xml_string(mjcf(wide.robot, PERIOD / SUBSTEPS))
    runs = all_controllers(wide, narrow, arm, given.duration)
    say(wide, narrow, runs)
    draw(wide, runs, given.picture)
    print(f"\nwrote {given.picture}")
    return {"wide": wide, "narrow": narrow, "runs": runs}


if __name__ == "__main__":
    main()
