"""Every URDF file of example-robot-data: does it compile for floats at 12 bits, and agree with pinocchio?

The root link is fixed, as `pinocchio.buildModelFromUrdf` does it. What pinocchio does not load, and robots without a
joint that moves, are listed and left. Options are given only to those that ask for them: velocities to joints without a
limit, `allow_massless`, `allow_unphysical`, `ignore_friction`. Words of random states are compared with pinocchio's
torques at the very values of the words; joints that mimic others are joints of their own there, and are moved along
here. Damping and friction that a file states are added to pinocchio's torques, which leave them out. Trees of up to
twelve joints are also compiled for a microcontroller with `--integer`. The words are those of the plain interpreter,
which all evaluators equal. With `--prove`, the independent checker proves each compiled robot again.

    python experiments/robot_collection.py [--quick] [--states 10000] [--integer] [--prove] [--write docs/robots.md]
"""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from reporting import Check, at_most, finish, parser, show_table, write_csv

import bddtorque as bt
from bddtorque.independent import check_bytes
from bddtorque.model.model import to_bytes
from bddtorque.plan.reference import run_plan
from bddtorque.robots.robot import Robot

BITS = 12
MAX_JOINTS = 20
VELOCITY = 3.0
"""rad/s or m/s, where neither file nor robot says."""
ASKED = ("allow_massless", "allow_unphysical", "ignore_friction")
QUICK = ("solo12", "panda", "z1")
BEGIN, END = "<!-- experiments/robot_collection.py: begin -->", "<!-- experiments/robot_collection.py: end -->"


@dataclass
class Row:
    """Outcome of one file."""

    file: str
    joints: int = 0
    options: str = ""
    wires: int = 0
    bound: float = float("nan")
    found: float = float("nan")
    seconds: float = float("nan")
    integer: float = float("nan")
    proved: str = ""
    """Seconds of one processor that the independent checker took, or the step at which it stopped."""
    reason: str = ""


def files() -> list[Path]:
    """Return the URDF files of the collection."""
    package = distribution("example-robot-data")
    found = [Path(str(package.locate_file(file))).resolve() for file in package.files or () if file.suffix == ".urdf"]
    return sorted(path for path in found if "example-robot-data" in str(path))


def loaded(path: Path) -> tuple[Robot, dict[str, Any]]:
    """Return the robot of a file, and the options without which it is refused."""
    options: dict[str, Any] = {}
    while True:
        try:
            return bt.load_robot(path, **options), options
        except bt.BddTorqueError as problem:
            asked = [name for name in ASKED if name in str(problem) and name not in options]
            if not asked:
                raise
            options[asked[0]] = True


def pinocchio_torques(model: Any, robot: Robot, rubbed: bool, state: list[np.ndarray]) -> np.ndarray:
    """Return pinocchio's torques, those of joints that mimic others mapped to the joints that lead them."""
    moves = {name: (j, 1.0, 0.0) for j, name in enumerate(robot.joint_names)}
    for each in robot.followers:
        moves[each.joint.name] = robot.joint_names.index(each.leader), each.multiplier, each.offset
    places = [moves[name] for name in list(model.names)[1:]]
    drive, k, c = (np.array(each) for each in zip(*places, strict=True))
    q, qd, qdd = state[0][:, drive] * k + c, state[1][:, drive] * k, state[2][:, drive] * k
    data, tau = model.createData(), np.zeros_like(q)
    for row in range(len(q)):
        own = [
            (np.cos(x), np.sin(x)) if joint.nq == 2 else (x,) for x, joint in zip(q[row], model.joints[1:], strict=True)
        ]
        tau[row] = pin.rnea(model, data, np.array([x for each in own for x in each]), qd[row], qdd[row])
    if rubbed:
        tau += model.damping * qd + model.friction * np.sign(qd)
    torques = np.zeros_like(state[0])
    np.add.at(torques.T, drive, (tau * k).T)
    return torques


def worst(model: bt.Model, robot: Robot, theirs: Any, rubbed: bool, states: int) -> float:
    """Return the largest error found over the bound that is proved."""
    rng = np.random.default_rng(0)
    words = [
        np.stack([rng.integers(word.lowest, word.highest, states, endpoint=True) for word in kind], axis=1)
        for kind in model.formats.inputs
    ]
    state = [kind.dequantise(each) for kind, each in zip(model.formats.inputs, words, strict=True)]
    names = [f"{kind}{j + 1}" for kind in ("q", "qd", "qdd") for j in range(robot.degrees_of_freedom)]
    columns = dict(zip(names, np.concatenate(words, axis=1).T, strict=True))
    words = run_plan(model.plan, model.tables, columns)
    found = np.stack([np.broadcast_to(each, states) for each in words], axis=1)
    torques = pinocchio_torques(theirs, robot, rubbed, state)
    tau = model.formats.tau
    units = np.stack([(word.sign * torques[:, j] - word.centre) / word.lsb for j, word in enumerate(tau)], axis=1)
    error = np.abs(found - np.clip(units, tau.lowest, tau.highest)).max(axis=0)
    return float((error / np.array(model.certificate.bounds)).max())


def proved(model: bt.Model) -> str:
    """Return how many seconds of one processor the independent checker takes to prove a model, or where it stops."""
    began = time.process_time()
    last = check_bytes(to_bytes(model))[-1]
    return f"{time.process_time() - began:.1f}" if last.passed else f"not proved: {last.name}"


def tried(path: Path, states: int, integer: bool, prove: bool) -> Row:
    """Load, compile and compare one file."""
    row = Row(f"{path.parts[path.parts.index('robots') + 1]}/{path.name}")
    began = time.process_time()
    try:
        theirs = pin.buildModelFromUrdf(str(path))
    except (ValueError, RuntimeError) as problem:
        row.reason = f"pinocchio does not load it: {str(problem).splitlines()[0].replace(str(path), path.name)}"
        return row
    row.joints = theirs.nv
    if theirs.nv == 0:
        row.reason = "no joint moves"
        return row
    try:
        robot, options = loaded(path)
        missing = any(not np.isfinite(joint.velocity) for joint in robot.joints)
        ranges = {"velocity": VELOCITY} if missing else {}
        row.joints = robot.degrees_of_freedom
        row.options = " ".join(
            [*(f"--{name.replace('_', '-')}" for name in options), *(f"--{k} {v:g}" for k, v in ranges.items())]
        )
        rubbed = robot.has_friction
        quiet: dict[str, Any] = {"bits": BITS, "cache": None, "workers": 1, **ranges}
        model = bt.compile(robot, target="float", **quiet)
        row.wires, row.bound = len(model.plan.wires), max(model.certificate.bounds)
        row.found = worst(model, robot, theirs, rubbed, states)
        row.proved = proved(model) if prove else ""
        if integer and not robot.serial and robot.degrees_of_freedom <= 12:
            row.integer = worst(bt.compile(robot, target="integer", **quiet), robot, theirs, rubbed, states)
    except bt.BddTorqueError as problem:
        row.reason = str(problem).replace(str(path), path.name)
    row.seconds = time.process_time() - began
    return row


def table(rows: list[Row]) -> str:
    """Return the rows as a table of docs/robots.md."""
    lines = ["| file | joints | options | bound, units | found / bound | checker, s | refused |", "|-|-|-|-|-|-|-|"]
    for row in rows:
        figures = (f"{row.bound:.4f}", f"{row.found:.4f}") if row.bound == row.bound else ("", "")
        options = f"`{row.options}`" if row.options else ""
        cells = (row.file, str(row.joints or ""), options, *figures, row.proved, row.reason.replace("|", "/"))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    line = parser(__doc__)
    line.add_argument("--states", type=int)
    line.add_argument("--integer", action="store_true")
    line.add_argument("--prove", action="store_true")
    line.add_argument("--write", type=Path)
    options = line.parse_args()
    states = options.states or (500 if options.quick else 10_000)
    chosen = [path for path in files() if not options.quick or path.stem in QUICK]
    with ProcessPoolExecutor(2) as pool:
        rows = list(pool.map(partial(tried, states=states, integer=options.integer, prove=options.prove), chosen))
    rows.sort(key=lambda row: (bool(row.reason), row.file))
    plain = [vars(row) for row in rows]
    show_table(plain)
    write_csv("robot_collection", plain)
    if options.write:
        text = options.write.read_text(encoding="utf-8")
        before, after = text.split(BEGIN)[0], text.split(END)[1]
        options.write.write_text(f"{before}{BEGIN}\n{table(rows)}\n{END}{after}", encoding="utf-8")
    done = [row for row in rows if not row.reason]
    checks = [
        Check("ours", "largest error found / proved", max(row.found for row in done), at_most(1.0)),
        Check(
            "ours",
            "robots of up to 20 joints that are refused",
            sum(bool(row.reason) and 1 <= row.joints <= MAX_JOINTS for row in rows),
            0,
        ),
    ]
    finish(checks)


if __name__ == "__main__":
    main()
