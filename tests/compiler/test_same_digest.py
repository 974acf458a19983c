"""The same specification gives the same digest, however and by whatever it is compiled on this machine."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pinned import kept

from bddtorque.robots.frames import Pose, angle_of, cos_sin, times
from bddtorque.words.portable import sine_cosine

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

CHILD = """
import json, sys
import bddtorque as bt
from bddtorque.robots.frames import rotation_rpy

# turned about all axes, so that every number of the chain is a sum of rounded products
R = tuple(map(tuple, rotation_rpy((0.3, -1.1, 2.7)).tolist()))
S = tuple(map(tuple, rotation_rpy((-0.9, 0.4, 1.3)).tolist()))
link = bt.load_robot("ur5").links[1]
payload = bt.load_robot("ur5").links[2]
joints = []
for joint, turn in zip(bt.load_robot("planar2r").joints, (R, S)):
    joints.append(type(joint)(joint.name, joint.kind, turn, (0.1, -0.37, 0.71), 0.01))
robot = bt.Robot("turned", tuple(joints), (link, payload))
robot = robot.with_payload(0.7, (0.13, 0.29, -0.31), ((0.11, 0.01, 0.02), (0.01, 0.13, 0.03), (0.02, 0.03, 0.17)))
how = {"bits": 4, "velocity": 2.0, "acceleration": 5.0, "torque": 3.0, "workers": 1, "cache": None}
models = [bt.compile(robot, **how, source=source) for source in ("terms", "recursive")]
print(json.dumps([[m.digest, m.diagram_digest, [t.saturation for t in m.certificate.torques]] for m in models]))
"""

PUMA = 'import json; from pinned import made; print(json.dumps(made("puma560 tables").digest))'
OTHER_SUM = """
import builtins, math
plain = builtins.sum

def compensated(numbers, /, start=0):
    listed = list(numbers)
    floats = listed and all(type(each) is float for each in listed)
    return math.fsum([start, *listed]) if floats else plain(listed, start)

if sys.version_info < (3, 12):  # as later ones add; and those as this one does
    builtins.sum = compensated
else:
    builtins.sum = lambda numbers, /, start=0: __import__("functools").reduce(lambda a, b: a + b, numbers, start)
"""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """Return experiments/same_digest.py, which knows what can be varied."""
    path = ROOT / "experiments" / "same_digest.py"
    sys.path.insert(0, str(path.parent))
    try:
        spec = importlib.util.spec_from_file_location("same_digest", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["same_digest"] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module


def found(first: str = "", child: str = CHILD, **environment: str) -> Any:
    """Return what a process of its own, that does something first, makes of an arm without a zero in its numbers."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import sys\n{first}\n{child}"],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def as_it_is() -> Any:
    here = found()
    assert any("can" in saturations for _, _, saturations in here)  # the states that show it are compared too
    return here


def test_whatever_the_order_of_sets(as_it_is: Any) -> None:
    assert found(PYTHONHASHSEED="77") == as_it_is


@pytest.mark.everything
def test_whatever_way_python_adds_floats() -> None:
    made = found(f"{OTHER_SUM}\nsys.path.insert(0, {str(HERE)!r})", PUMA)
    assert made == kept()["puma560 tables"]["digest"]  # the one that told Python 3.11 from 3.12 once


@pytest.mark.everything
def test_whatever_numpy_computes_with(as_it_is: Any, script: ModuleType) -> None:
    mine = script.about(sys.executable)
    wide = " ".join(name for name in mine["dispatched"] if name in script.WIDE)
    if not wide:
        pytest.skip("NumPy uses no instructions here that can be switched off")
    assert found(NPY_DISABLE_CPU_FEATURES=wide) == as_it_is


@pytest.mark.parametrize(
    "core", ["Nehalem", *(pytest.param(name, marks=pytest.mark.everything) for name in ("Haswell", "SkylakeX"))]
)
def test_whatever_linear_algebra_computes_with(as_it_is: Any, core: str) -> None:
    assert found(OPENBLAS_CORETYPE=core, OPENBLAS_NUM_THREADS="1" if core == "Haswell" else "2") == as_it_is


FLOATS = st.floats(-4.0, 4.0)
SMALL = st.lists(FLOATS, min_size=9, max_size=9).map(lambda values: np.array(values).reshape(3, 3))


@given(left=SMALL, right=SMALL)
def test_products_are_sums_in_order(left: np.ndarray, right: np.ndarray) -> None:
    expected = [
        [float(row[0] * column[0] + row[1] * column[1] + row[2] * column[2]) for column in right.T] for row in left
    ]
    assert times(left, right).tolist() == expected
    assert times(left, right[:, 0]).tolist() == [row[0] for row in expected]
    assert (Pose(left, right[0]) @ Pose(right, left[0])).rotation.tolist() == expected


@given(angle=st.floats(-10.0, 10.0), x=FLOATS, y=FLOATS)
def test_sines_and_angles_are_the_nearest_floats(angle: float, x: float, y: float) -> None:
    import mpmath

    with mpmath.workprec(300):
        exact = {0: mpmath.cos(angle), 1: mpmath.sin(angle)}
        for which, value in enumerate(cos_sin(angle)):
            if value not in (0.0, 1.0, -1.0):  # quarter turns are made exact
                assert nearest(value, exact[which])
        if x != 0.0 != y:
            assert nearest(angle_of(y, x), mpmath.atan2(y, x))


def nearest(value: float, exact: Any) -> bool:
    off = abs(exact - value)
    return all(off <= abs(exact - float(np.nextafter(value, way))) for way in (-np.inf, np.inf))


@given(angle=st.floats(-6000.0, 6000.0) | FLOATS)
def test_portable_sines_are_sines(angle: float) -> None:
    import mpmath

    sine, cosine = sine_cosine(np.array([angle, -angle]))
    with mpmath.workprec(200):
        assert abs(mpmath.sin(angle) - float(sine[0])) < 1e-15
        assert abs(mpmath.cos(angle) - float(cosine[0])) < 1e-15
    assert (sine[1], cosine[1]) == (-sine[0], cosine[0])
