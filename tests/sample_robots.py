"""Files and texts that the tests of the readers share."""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path


def example_urdf(name: str) -> Path:
    """Return a file of the package example-robot-data by the end of its path."""
    package = distribution("example-robot-data")
    found = [file for file in package.files or () if str(file).endswith(f"example-robot-data/robots/{name}")]
    return Path(str(package.locate_file(found[0]))).resolve()


TWO_LINKS = """<?xml version="1.0"?>
<robot name="two">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0 0" rpy="0 0 0.3"/>
      <mass value="2"/>
      <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/>
    </inertial>
  </link>
  <link name="lower">
    <inertial>
      <origin xyz="0 0.2 0"/>
      <mass value="1"/>
      <inertia ixx="0.01" ixy="0.001" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>
    </inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="upper"/>
    <origin xyz="0 0 0.5" rpy="0 0 0"/>
    <axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="3" effort="40"/>
  </joint>
  <joint name="elbow" type="prismatic">
    <parent link="upper"/>
    <child link="lower"/>
    <origin xyz="0.3 0 0" rpy="0.1 0.2 0.3"/>
    <axis xyz="1 1 0"/>
    <limit lower="0" upper="0.5" velocity="1" effort="10"/>
    <dynamics damping="0" friction="0.0"/>
  </joint>
</robot>
"""

BODY = (
    '<inertial><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><mass value="0.5"/>'
    '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.012" iyz="0" izz="0.011"/></inertial>'
)


def extended(*elements: str) -> str:
    """Return `TWO_LINKS` with more elements."""
    return TWO_LINKS.replace("</robot>", "".join(elements) + "</robot>")


def joint(name: str, kind: str, parent: str, child: str, more: str = "") -> str:
    """Return a joint and its child link, which has a body."""
    return (
        f'<link name="{child}">{BODY}</link><joint name="{name}" type="{kind}"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="0 0.1 0.2" rpy="0.3 0.2 0.1"/>{more}</joint>'
    )


LIMIT = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'
TREE = extended(
    joint("flap", "revolute", "upper", "side", LIMIT),
    joint("right", "revolute", "lower", "two", LIMIT + '<mimic joint="flap" multiplier="-2" offset="0.3"/>'),
    joint("slide", "prismatic", "side", "three", LIMIT + '<mimic joint="elbow" multiplier="0.7" offset="-0.1"/>'),
)
"""A branch, and two joints that follow others: one that turns, one that slides."""
