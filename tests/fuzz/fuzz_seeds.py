"""Seeds of mutations: good files of every kind that bddtorque reads, small ones, made once into a folder."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

import bddtorque as bt
from bddtorque.base.caching import encode
from bddtorque.model.model import to_bytes
from bddtorque.robots import builtin_names, from_urdf
from bddtorque.spec.spec_files import tables_directory

JOINTS = ("shoulder", "elbow")
STATES = ",".join(f"{kind}:{joint}" for kind in ("q", "qd", "qdd") for joint in JOINTS)
URDF = """<?xml version="1.0" encoding="utf-8"?>
<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.2 0 0" rpy="0 1.5707963 0"/><mass value="2"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.03"/></inertial><visual/></link>
  <link name="finger"><inertial><mass value="0.1"/>
    <inertia ixx="1e-5" ixy="0" ixz="0" iyy="1e-5" iyz="0" izz="1e-5"/></inertial></link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="3" effort="20" acceleration="5"/>
    <dynamics damping="0.1" friction="0.2"/></joint>
  <joint name="finger_joint" type="prismatic"><parent link="upper"/><child link="finger"/><origin xyz="0.4 0 0"/>
    <axis xyz="1 0 0"/><limit lower="0" upper="0.04" velocity="0.2" effort="20"/></joint>
  <joint name="flange" type="fixed"><parent link="finger"/><child link="tool"/>
    <origin xyz="0 0 .1" rpy="0 0 0.5"/></joint>
</robot>
"""
BRANCH = """  <link name="thumb"><inertial><mass value="0.1"/>
    <inertia ixx="1e-5" ixy="0" ixz="0" iyy="1e-5" iyz="0" izz="1e-5"/></inertial></link>
  <joint name="thumb_joint" type="prismatic"><parent link="upper"/><child link="thumb"/>
    <axis xyz="0 1 0"/><mimic joint="finger_joint" multiplier="-1" offset="0.01"/></joint>
"""
TREE = URDF.replace("</robot>", f"{BRANCH}</robot>")
MJCF = """<mujoco model="arm"><worldbody><body name="upper" pos="0 0 0.1">
<inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.02"/>
<joint name="shoulder" type="hinge" axis="0 1 0" damping="0.1" armature="0.2" range="-90 90"/>
<body name="lower" pos="0.3 0 0" quat="1 0 0 0"><geom type="sphere" size="0.05"/>
<joint name="elbow" type="slide" axis="1 0 0" frictionloss="0.1"/></body></body></worldbody>
<actuator><motor joint="elbow" gear="5"/></actuator></mujoco>
"""
XACRO = URDF.replace(
    '<robot name="arm">',
    """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="mass" value="0.1"/>""",
).replace('mass value="0.1"', 'mass value="${mass}"')
SPECS = (
    """robot = "planar2r"
bits = [6, 5]
accuracy = 0.9
memory = "1 GiB"
block_bits = 16
[input_bits]
position = 6
velocity = [5, 6]
[ranges]
position = 3.0
velocity = [[-1.0, 2.0], 1.0]
acceleration = 1.0
torque = [[-200, 200], 100]
""",
    """robot = "planar2r"
bits = 5
gravity = [0.0, -9.81, 0.0]
payload = [1.5, 0.0, 0.0, 0.1]
[ranges]
velocity = 1.0
acceleration = 1.0
[[joint]]
name = 'shoulder'
torque = 200.0
offset = 0.1
sign = -1
friction = { viscous = 0.1, coulomb = 0.2 }
[[joint]]
name = "elbow"
torque = [-100.0, 90.0]
""",
    """robot = "arm.urdf"
base = "base"
tip = "tool"
lock = { finger_joint = 0.01 }
snap = 1e-9
ignore_friction = true
allow_massless = true
allow_unphysical = true
bits = 6
[payload]
mass = 1.0
centre_of_mass = [0, 0, 0.1]
inertia = [0.1, 0.1, 0.1]
[ranges]
acceleration = 2.0
""",
)
RANGES = {"bits": 3, "velocity": 1.0, "acceleration": 1.0, "torque": 200.0, "workers": 1, "cache": None}
SAMPLES = (
    "velocity,torque\n-1.0,-0.5\n-0.5,-0.4\n0,0\n0.5,0.4\n1.0,0.5\n",
    "x,y,z\n0,0,1\n0,1,2\n1,0,3\n1,1,4\n",
    '"a b",value\r\n1e-3,1\r\n2e-3,2\r\n',
)


def make_seeds(folder: Path) -> None:
    """Write the seeds to folders of a folder, one a kind of file."""
    arm = bt.compile("planar2r", bits=3, workers=1)
    partial = bt.compile("planar2r", bits=3, source="recursive", products="partial", workers=1)
    rubbing = bt.compile(bt.load_robot("planar2r").with_friction({"elbow": bt.Friction(0.5, 0.2)}), **RANGES)
    function = bt.compile_function(lambda x, y: x * y, inputs={"x": (3, 1.0), "y": (3, 2.0)}, output=(4, 3.0))
    data = bt.compile_samples(np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 0.5]]), inputs={"x": 4})
    tree = bt.compile(from_urdf(TREE), bits=3, acceleration=5.0, workers=1, cache=None)
    _write(folder / "bdt", [to_bytes(each) for each in (arm, partial, rubbing, function, data, tree)])
    robots = Path(bt.__file__).parent / "robots" / "builtin"
    _write(folder / "robot_toml", [(robots / f"{name}.toml").read_bytes() for name in builtin_names()[:5]])
    tables = tables_directory()
    kept = [] if tables is None else [(tables / "planar2r.toml").read_bytes()]
    _write(folder / "spec_toml", [*(text.encode() for text in SPECS), *kept])
    _write(
        folder / "urdf", [each.encode() for each in (URDF, TREE)] + [URDF.replace("utf-8", "utf-16").encode("utf-16")]
    )
    _write(folder / "mjcf", [MJCF.encode()])
    _write(folder / "xacro", [XACRO.encode()])
    _write(folder / "states_csv", [f"{STATES}\n0.3,-1.2,0.5,0,0.0,0.1\n1,2,3,4,5,6\n".encode(), STATES.encode()])
    _write(folder / "states_npy", [_npy(each) for each in (np.ones((3, 6)), np.arange(12).reshape(2, 6))])
    _write(folder / "samples_csv", [text.encode() for text in SAMPLES])
    plans = [
        {"format": "bddtorque plan", "version": 1, "plan": each.plan.to_plain()} for each in (arm, partial, rubbing)
    ]
    _write(folder / "plan_json", [json.dumps(plain).encode() for plain in plans])
    results = [None, (1, 2.5, "x"), {"a": np.arange(5), "b": [np.float64(1), True]}]
    _write(folder / "cache_entry", [encode(each) for each in results])


def _npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def _write(folder: Path, contents: list[bytes]) -> None:
    folder.mkdir(exist_ok=True)
    for k, content in enumerate(contents):
        (folder / f"{k}").write_bytes(content)


def read_seeds(folder: Path, kind: str) -> list[bytes]:
    """Return the seeds of a kind."""
    return [path.read_bytes() for path in sorted((folder / kind).iterdir())]
