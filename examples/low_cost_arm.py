"""A low-cost arm (SO-100 class) in MuJoCo that picks up a load: guided by hand, and tracking a motion.

The arm (`so100_class.xml`) has 12-bit encoders, like the servos of such arms. Two models are compiled once, in integers
for a microcontroller: the gravity torques, and the inverse dynamics with the friction of the gears. Both take the
payload as input words, and are proved for every payload in the box.

Guided by hand: a hand pulls at the gripper for half a second and lets go; later the gripper picks up 0.2 kg. With
gravity compensation the arm moves as it is pulled and comes to rest where it is left. If the controller is told of the
load, the arm stays there; if not, it sinks.

Computed torque: the arm follows a motion and picks up the same load on the way. There are three controllers: floats
that know of the load, compiled words that are told of it, and compiled words that are not.

No window is opened. Needs the extras `mujoco` and `plots`.

    python examples/low_cost_arm.py [--bits 12] [--picture out/low_cost_arm.png]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

import bddtorque as bt

Floats = npt.NDArray[np.float64]
FILE = Path(__file__).with_name("so100_class.xml")
LOAD, PLACE = 0.2, (0.0, 0.0, 0.09)
"""kg, and m in the frame of the gripper: what the arm picks up."""
BOX = {"mass": [0, 0.3], "com": [[-0.02, 0.02], [-0.02, 0.02], [0.0, 0.12]], "runtime": True}
PERIOD, SUBSTEPS = 0.002, 2
"""s, of the controllers; steps of MuJoCo within it."""
START = np.array([0.3, -0.5, 1.0, 0.4, 0.0])
PULL, PULLED = np.array([0.3, 0.15, -0.5]), (0.2, 0.7)
"""N, of a hand at the gripper, and from when to when (s)."""
LOADED, GUIDED, TRACKED = 2.2, 2.6, 3.6
"""s: when the load is picked up, and how long each run takes."""
STIFFNESS, DAMPING = 100.0, 20.0
"""K_p in 1/s² and K_v in 1/s, of computed torque."""
AMPLITUDE, RATE = np.array([0.7, 0.45, 0.5, 0.5, 0.8]), np.array([1.7, 2.1, 1.9, 2.6, 2.3])


class Arm:
    """The arm in MuJoCo, with a load that it can pick up."""

    def __init__(self) -> None:
        load = f'<body name="load" pos="{" ".join(map(str, PLACE))}"><inertial mass="1e-9" pos="0 0 0" '
        text = FILE.read_text(encoding="utf-8").replace("<!-- load -->", load + 'diaginertia="1e-9 1e-9 1e-9"/></body>')
        self.model: Any = mujoco.MjModel.from_xml_string(text)
        self.data: Any = mujoco.MjData(self.model)
        self.load, self.gripper = self.model.body("load").id, self.model.body("gripper").id

    def pick_up(self, mass: float) -> None:
        """Have the gripper hold a point mass from now on."""
        self.model.body_mass[self.load] = mass
        mujoco.mj_setConst(self.model, mujoco.MjData(self.model))  # it would move the arm's own data

    def step(self, torque: Floats, force: Floats | None = None) -> None:
        """Go on by one period under torques (n,), and a force (3,) at the gripper."""
        self.data.ctrl[:] = torque
        self.data.xfrc_applied[self.gripper, :3] = 0.0 if force is None else force
        mujoco.mj_step(self.model, self.data, nstep=SUBSTEPS)

    def sticks(self) -> Floats:
        """Return the corners of the arm as a stick figure, from the base to the load, (K, 3), m."""
        return np.vstack([np.zeros(3), self.data.xpos[1:]])


@dataclass(frozen=True)
class Run:
    """A run: time (K,) in s, positions (K, n) in rad, what was wanted (K, n), and the poses that are drawn."""

    time: Floats
    q: Floats
    wanted: Floats
    poses: tuple[Floats, ...]

    @property
    def error(self) -> Floats:
        """Wanted minus actual position, (K, n), rad."""
        return self.wanted - self.q


def guide(torque: Callable[[Floats, bool], Floats]) -> Run:
    """Pull the arm by hand, let go, and load it. `torque` takes the positions, and whether the arm carries the load."""
    arm, rows, poses = Arm(), [], []
    arm.data.qpos[:] = START
    for sample in range(round(GUIDED / PERIOD)):
        time = sample * PERIOD
        if sample == round(LOADED / PERIOD):
            arm.pick_up(LOAD)
        if sample in [round(moment / PERIOD) for moment in (0.0, LOADED)]:
            mujoco.mj_kinematics(arm.model, arm.data)
            poses.append(arm.sticks())
        rows.append((time, arm.data.qpos.copy(), START))
        hand = PULL if PULLED[0] <= time < PULLED[1] else None
        arm.step(torque(arm.data.qpos.copy(), time >= LOADED), hand)
    return Run(*(np.array(column) for column in zip(*rows, strict=True)), (*poses, arm.sticks()))


def desired(time: float) -> tuple[Floats, Floats, Floats]:
    """Return q, q̇ and q̈ wanted at a time (s)."""
    phase = RATE * time
    return START + AMPLITUDE * np.sin(phase), AMPLITUDE * RATE * np.cos(phase), -AMPLITUDE * RATE**2 * np.sin(phase)


def track(torque: Callable[[Floats, Floats, Floats, bool], Floats]) -> Run:
    """Follow the motion by computed torque, and pick up the load on the way."""
    arm, rows = Arm(), []
    arm.data.qpos[:], arm.data.qvel[:], _ = desired(0.0)
    for sample in range(round(TRACKED / PERIOD)):
        time = sample * PERIOD
        if sample == round(LOADED / PERIOD):
            arm.pick_up(LOAD)
        q_d, qd_d, qdd_d = desired(time)
        q, qd = arm.data.qpos.copy(), arm.data.qvel.copy()
        rows.append((time, q, q_d))
        command = qdd_d + DAMPING * (qd_d - qd) + STIFFNESS * (q_d - q)
        arm.step(torque(q, qd, command, time >= LOADED))
    return Run(*(np.array(column) for column in zip(*rows, strict=True)), ())


def guided_runs(gravity: bt.Model) -> dict[str, Run]:
    """Guide the arm by hand: told of the load, and not."""
    empty, loaded = gravity.payload(0.0), gravity.payload(LOAD, PLACE)
    return {
        "told of the load": guide(lambda q, carries: gravity.value(q, payload=loaded if carries else empty)),
        "not told": guide(lambda q, _: gravity.value(q, payload=empty)),
    }


def tracking_runs(robot: bt.Robot, dynamics: bt.Model) -> dict[str, Run]:
    """Track with floats, and with compiled words that are told of the load or not."""
    robots = robot, robot.with_payload(LOAD, PLACE)
    empty, loaded = dynamics.payload(0.0), dynamics.payload(LOAD, PLACE)
    value = dynamics.value
    return {
        "floats, told": track(lambda q, qd, qdd, carries: bt.inverse_dynamics(robots[carries], q, qd, qdd)),
        "words, told": track(lambda q, qd, qdd, carries: value(q, qd, qdd, payload=loaded if carries else empty)),
        "words, not told": track(lambda q, qd, qdd, _: value(q, qd, qdd, payload=empty)),
    }


def draw(guided: dict[str, Run], tracked: dict[str, Run], path: Path) -> None:
    """Draw poses and drift of the guided arm, and tracking errors of two joints."""
    import matplotlib as mpl  # noqa: PLC0415 - only where there is something to draw

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained")
    poses = guided["told of the load"].poses
    shown = [("start", poses[0], "0.7"), ("where the hand left it", poses[1], "tab:blue")]
    shown += [("told of the load", poses[2], "tab:green"), ("not told", guided["not told"].poses[2], "tab:red")]
    for (name, points, colour), style in zip(shown, ("-", "-", "--", "-"), strict=True):
        reach = np.hypot(points[:, 0], points[:, 1]) * np.sign(points[:, 0] + 1e-9)
        axes[0].plot(1e3 * reach, 1e3 * points[:, 2], style, marker="o", ms=4, lw=3, color=colour, label=name)
    axes[0].set(title="Guided by hand, from the side", xlabel="distance from the axis, mm", ylabel="height, mm")
    axes[0].set(aspect="equal", adjustable="datalim")
    for (name, run), colour in zip(guided.items(), ("tab:green", "tab:red"), strict=True):
        axes[1].plot(run.time, np.rad2deg(run.q[:, 1]), color=colour, label=name)
    axes[1].axvspan(*PULLED, color="0.9", label="a hand pulls")
    axes[1].set(title="Guided by hand: the lift joint", xlabel="time, s", ylabel="position, degrees")
    for (name, run), colour in zip(tracked.items(), ("black", "tab:green", "tab:red"), strict=True):
        axes[2].plot(run.time, 1e3 * run.error[:, 1], color=colour, label=name, lw=1)
    axes[2].set(title="Computed torque: error of the lift joint", xlabel="time, s", ylabel="mrad")
    for axis in axes[1:]:
        axis.axvline(LOADED, color="tab:orange", ls=":", label=f"{LOAD} kg picked up")
    for axis in axes:
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Compile, run, print, draw, and return all runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=12, help="word length of torques and inputs (12)")
    parser.add_argument("--picture", type=Path, default=Path("out/low_cost_arm.png"), help="the picture to write")
    given = parser.parse_args(arguments)
    robot = bt.load_robot(FILE)
    how: dict[str, Any] = {"bits": given.bits, "payload": BOX, "target": "integer"}
    gravity = bt.compile(robot, quantity="gravity", **how)
    dynamics = bt.compile(robot, velocity=4.0, acceleration=40.0, **how)
    for name, model in (("gravity", gravity), ("inverse dynamics", dynamics)):
        print(f"{name}: proved within {max(model.certificate.bounds):.3f} units of the last bit, for every payload")
    guided, tracked = guided_runs(gravity), tracking_runs(robot, dynamics)
    left = guided["told of the load"].q[round(LOADED / PERIOD)]
    print(f"\nA hand moves the arm by {np.rad2deg(np.abs(left - START).max()):.0f} degrees.")
    print(f"In the {GUIDED - LOADED:.1f} s after it picks up {LOAD} kg, it moves by")
    for name, run in guided.items():
        print(f"  {np.rad2deg(np.abs(run.q[-1] - left).max()):6.2f} degrees, {name}")
    print("\nLargest tracking error, mrad, before and after the load")
    half = round(LOADED / PERIOD)
    for name, run in tracked.items():
        print(f"  {name:16} {1e3 * np.abs(run.error[:half]).max():7.2f} {1e3 * np.abs(run.error[half:]).max():7.2f}")
    draw(guided, tracked, given.picture)
    print(f"\nwrote {given.picture}")
    return {"gravity": gravity, "dynamics": dynamics, "guided": guided, "tracked": tracked}


if __name__ == "__main__":
    main()
