"""Robots from MuJoCo: MJCF files, read by its own compiler, and `mujoco.MjModel` objects.

Bodies become links named after them, the world the root. A body with several joints becomes one link for each, all but
the last mere frames. Damping is viscous friction and `frictionloss` that of Coulomb, armature is inertia of the rotor.
What inverse dynamics of a tree cannot hold is refused by name: equality constraints, tendons, springs, gravity
compensation, a medium, balls and free joints (choose a `base` beyond them).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from bddtorque.base.errors import BddTorqueError, one_line, refusals_in
from bddtorque.base.files import read_whole
from bddtorque.base.plain import Vector, name_of, vector
from bddtorque.robots.frames import Array, Pose, rotation_quaternion, snap_rotation, unit
from bddtorque.robots.joint_kinds import kinds_called
from bddtorque.robots.parts import Link
from bddtorque.robots.robot import Robot
from bddtorque.robots.segments import as_matrix, moved
from bddtorque.robots.tree_robot import TreeOptions, check_options, robot_of_tree, snap_of
from bddtorque.robots.urdf_tree import Tree, UrdfJoint, moved_by
from bddtorque.words.friction import Friction

LARGEST_FILE = 10_000_000
"""Bytes of the file itself; meshes and included files come on top."""
_TYPES = ("floating", "ball", "slide", "hinge")
"""By MuJoCo's number of a joint type; the first is called free there."""
_KINDS = kinds_called("mujoco")
_NAMES = {
    "body": "name_bodyadr", "joint": "name_jntadr", "tendon": "name_tendonadr", "equality": "name_eqadr",
}  # fmt: skip
"""Where MuJoCo keeps the names of things."""
_ACTS_ON_JOINT = (0, 1)
"""MuJoCo's numbers of transmissions to a joint."""


def load_mjcf(path: Path, **options: Unpack[TreeOptions]) -> Robot:
    """Return the robot that an MJCF file describes; options as in `load_urdf`."""
    check_options(options)
    where = one_line(str(path))
    return from_mujoco(mjcf_model(path, where), where, f"MJCF {one_line(path.name)}", **options)


def mjcf_model(path: Path, where: str) -> Any:
    """Return the `MjModel` of a file, or refuse it in one line."""
    read_whole(path, LARGEST_FILE, "a robot file")  # refuses folders, strangers and giants in our words
    try:
        import mujoco  # noqa: PLC0415 - an extra
    except ImportError:
        raise BddTorqueError(f'{where}: reading MJCF needs MuJoCo: pip install "bddtorque[mujoco]"') from None
    told = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(
        lambda text: None
    )  # it would write warnings to a file of its own, in the folder we are in
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except Exception as problem:  # what MuJoCo's compiler says; its kinds of errors have changed over the years
        said = one_line(" ".join(str(problem).split()), 300)
        raise BddTorqueError(f"{where}: MuJoCo does not compile it: {said}") from None
    finally:
        mujoco.set_mju_user_warning(told)


def from_mujoco(model: Any, where: str = "MjModel", source: str = "MjModel", **options: Unpack[TreeOptions]) -> Robot:
    """Return the robot that a `mujoco.MjModel` holds; `where` begins every error, the options as in `load_urdf`."""
    check_options(options)
    with refusals_in(where), np.errstate(all="ignore"):
        tree = mujoco_tree(model, where, snap_of(options, where))
        robot = robot_of_tree(tree, source, options, _gravity(model, where))
        _refuse_forces(model, robot, where)
        return robot


def mujoco_tree(model: Any, where: str, snap: float) -> Tree:
    """Return what a `mujoco.MjModel` holds as a tree of links and joints."""
    return _Reader(model, where, snap).tree()


class _Reader:
    """Reads bodies and joints."""

    def __init__(self, model: Any, where: str, snap: float) -> None:
        self.model, self.where, self.snap = model, where, snap
        self.links: dict[str, Link | None] = {}
        self.joints: dict[str, UrdfJoint] = {}
        self.frames: set[str] = set()
        self.placed: list[tuple[str, Array]] = []
        """For each body: its link, and the body's origin in that link's frame, whose axes are the body's."""

    def tree(self) -> Tree:
        """Return all bodies and joints."""
        for body in range(self.model.nbody):
            self._read_body(body, _name(self.model, "body", body) if body else "world")
        return Tree(_model_name(self.model), self.links, self.joints, self.where, frozenset(self.frames))

    def _read_body(self, body: int, name: str) -> None:
        model = self.model
        if name in self.links:
            raise BddTorqueError(f"{self.where}: body '{name}' occurs twice; names must differ")
        if body == 0:
            self.links[name] = None
            self.placed.append((name, np.zeros(3)))
            return
        carrier, origin = self.placed[int(model.body_parentid[body])]
        pose = Pose(_rotation(model.body_quat[body], self.snap), origin + model.body_pos[body])
        joints = range(int(model.body_jntadr[body]), int(model.body_jntadr[body]) + int(model.body_jntnum[body]))
        anchor = np.zeros(3)
        for place, joint in enumerate(joints):
            last = place == len(joints) - 1
            link = name if last else f"{name}/{_name(model, 'joint', joint)}"
            here = np.array(model.jnt_pos[joint], dtype=float)
            step = Pose(np.eye(3), here - anchor)
            self._read_joint(joint, carrier, link, pose @ step)
            carrier, anchor, pose = link, here, Pose(np.eye(3), np.zeros(3))
            if not last:
                self.links[link] = None
                self.frames.add(link)
        if not joints:
            self.joints[f"{name} fixed"] = UrdfJoint(f"{name} fixed", "fixed", carrier, name, pose, None, {})
        self.links[name] = self._link(body, name, anchor)
        self.placed.append((name, -anchor))

    def _link(self, body: int, name: str, anchor: Array) -> Link | None:
        """Return the body in the frame of its link, whose origin is where its last joint turns."""
        model = self.model
        mass = float(model.body_mass[body])
        moments = np.diag(np.array(model.body_inertia[body], dtype=float))
        if mass == 0.0 and not moments.any():
            return None
        own = Link(name, mass, inertia=as_matrix(moments, f"body '{name}'"))
        return moved(own, Pose(_rotation(model.body_iquat[body], 0.0), np.array(model.body_ipos[body]) - anchor))

    def _read_joint(self, joint: int, carrier: str, link: str, pose: Pose) -> None:
        model, name = self.model, _name(self.model, "joint", joint)
        if name in self.joints:
            raise BddTorqueError(f"{self.where}: joint '{name}' occurs twice; names must differ")
        kind = _TYPES[int(model.jnt_type[joint])]
        if kind not in _KINDS:
            self.joints[name] = UrdfJoint(name, kind, carrier, link, pose, None, {})
            return
        motion, axis = _KINDS[kind](), unit(np.array(model.jnt_axis[joint], dtype=float), self.snap)
        if axis is None:
            raise BddTorqueError(f"{self.where}, joint '{name}': axis must have a direction")
        reference = float(model.qpos0[model.jnt_qposadr[joint]])  # where it stands in the pose that the file shows
        if reference:
            pose = moved_by(pose, motion, axis, -reference)
        dof = int(model.jnt_dofadr[joint])
        damping, dry = float(model.dof_damping[dof]), float(model.dof_frictionloss[dof])
        friction: Friction | str | None = Friction(damping, dry) if damping or dry else None
        for array in ("dof_dampingpoly",):
            if hasattr(model, array) and np.any(getattr(model, array)[dof]):
                friction = f"damping must be a number, got a polynomial ({array}); ignore_friction=True leaves it out"
        self.joints[name] = UrdfJoint(
            name, motion.name, carrier, link, pose, axis, self._limits(joint), friction=friction,
            rotor_inertia=float(model.dof_armature[dof]), motion=motion,
        )  # fmt: skip

    def _limits(self, joint: int) -> dict[str, float]:
        """Return the range of positions, and the largest torque that actuators give through their gears."""
        model, limits = self.model, dict[str, float]()
        low, high = (float(end) for end in model.jnt_range[joint])
        if model.jnt_limited[joint] and low < high:
            limits |= {"lower": low, "upper": high}
        efforts = [_largest_force(model, k) for k in range(model.nu) if _acts_on(model, k, joint)]
        if hasattr(model, "jnt_actfrclimited") and model.jnt_actfrclimited[joint]:
            efforts = [*efforts, float(np.abs(model.jnt_actfrcrange[joint]).max())]
        if efforts and 0 < min(efforts) < inf:
            limits["effort"] = min(efforts)
        return limits


def _acts_on(model: Any, actuator: int, joint: int) -> bool:
    acts = int(model.actuator_trntype[actuator]) in _ACTS_ON_JOINT
    return acts and int(model.actuator_trnid[actuator][0]) == joint


def _largest_force(model: Any, actuator: int) -> float:
    """Return the largest torque that an actuator gives at its joint: its force range times its gear."""
    if not model.actuator_forcelimited[actuator]:
        return inf
    gear = abs(float(model.actuator_gear[actuator][0]))
    return gear * float(np.abs(model.actuator_forcerange[actuator]).max())


def _rotation(quaternion: Any, snap: float) -> Array:
    """Return the rotation of a quaternion (w, x, y, z), which MuJoCo keeps at length one."""
    w, x, y, z = (float(each) for each in quaternion)
    rotation = rotation_quaternion(w, x, y, z) if w or x or y or z else np.eye(3)
    return snap_rotation(rotation, snap)


def _gravity(model: Any, where: str) -> Vector:
    off = int(model.opt.disableflags) & _flag("mjDSBL_GRAVITY")
    return vector([0.0] * 3 if off else [float(each) + 0.0 for each in model.opt.gravity], f"{where}: gravity")


def _flag(name: str) -> int:
    import mujoco  # noqa: PLC0415 - whoever has a model has it

    return int(getattr(mujoco.mjtDisableBit, name))


def _name(model: Any, kind: str, place: int) -> str:
    """Return the name of a body, joint, tendon or constraint, or what MuJoCo's messages call one without."""
    name = _text(model, int(getattr(model, _NAMES[kind])[place]))
    return name_of(name, f"{kind} name") if name else f"{kind}{place}"


def _model_name(model: Any) -> str:
    return name_of(_text(model, 0).strip() or "mujoco", "model name")


def _text(model: Any, first: int) -> str:
    """Return the text at a place of the model's names; bytes that are no UTF-8 are nothing that a name may hold."""
    names = model.names
    return str(names[first : names.index(0, first)], "utf-8", "surrogateescape")


def _refuse_forces(model: Any, robot: Robot, where: str) -> None:
    """Refuse what acts on joints that move, and that torques of a tree do not hold."""
    moving = {member.joint.name for member in robot.members}
    for what, joints in _forces(model):
        if joints is None or moving & set(joints):
            raise BddTorqueError(f"{where}: {what} is not modelled; remove it, or lock the joints it acts on")


def _forces(model: Any) -> Iterator[tuple[str, list[str] | None]]:
    """Yield what else acts, and on which joints; None: on who knows which."""
    joint_equality = 2
    for k in range(model.neq):
        if model.eq_active0[k]:
            ends = [int(model.eq_obj1id[k]), int(model.eq_obj2id[k])]
            of_joints = int(model.eq_type[k]) == joint_equality
            names = [_name(model, "joint", end) for end in ends if end >= 0] if of_joints else None
            yield f"equality constraint '{_name(model, 'equality', k)}'", names
    for k in range(model.ntendon):
        first = int(model.tendon_adr[k])
        wraps = range(first, first + int(model.tendon_num[k]))
        fixed = all(int(model.wrap_type[w]) == 1 for w in wraps)  # a sum of joint positions, not a string in space
        names = [_name(model, "joint", int(model.wrap_objid[w])) for w in wraps] if fixed else None
        yield f"tendon '{_name(model, 'tendon', k)}'", names
    for k in range(model.njnt):
        name = _name(model, "joint", k)
        springs = [array for array in ("jnt_stiffness", "jnt_stiffnesspoly") if hasattr(model, array)]
        if any(np.any(getattr(model, array)[k]) for array in springs):
            yield f"the spring (stiffness) of joint '{name}'", [name]
    if np.any(model.body_gravcomp):
        yield "gravity compensation (gravcomp)", None
    if model.opt.density or model.opt.viscosity:
        yield "a medium (density, viscosity)", None
    if getattr(model, "nflex", 0):
        yield "a flexible body (flex)", None
