"""Inverse dynamics in C as CasADi generates it: another baseline, in float64 with libm, where CasADi is installed.

Newton-Euler runs once on CasADi's symbols, which drop zeros and share equal expressions; the C that it writes is
compiled with `-O3 -march=native` together with a loop over states, so that nothing is called from Python in between.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.chain import chain_of
from bddtorque.dynamics.newton_euler import WRENCH, newton_euler
from bddtorque.robots.robot import Robot

Floats = npt.NDArray[np.float64]

LOOP = """
void states(const double *q, const double *qd, const double *qdd, double *tau, long count)
{{
    const double *arg[{arguments}];
    double *res[{results}], w[{work}];
    long long int iw[{integers}];
    for (long s = 0; s < count; s++) {{
        arg[0] = q + s * {joints}; arg[1] = qd + s * {joints}; arg[2] = qdd + s * {joints};
        res[0] = tau + s * {joints};
        rnea(arg, res, iw, w, 0);
    }}
}}
"""
FLAGS = ("-O3", "-march=native", "-fPIC", "-shared", "-lm")


def missing_for_casadi() -> str:
    """Return what is missing to measure CasADi's C, and what brings it; nothing if all is there."""
    if find_spec("casadi") is None:
        return "CasADi is not installed: pip install 'bddtorque[bench]' measures the C that it generates"
    return (
        "" if shutil.which("cc") else "there is no C compiler (cc): with one, the C that CasADi generates is measured"
    )


def casadi_torques(robot: Robot) -> Callable[[Floats, Floats, Floats, Floats], None] | None:
    """Return torques(q, qd, qdd, tau) on contiguous float64 arrays (N, n); None where something is missing.

    Nor is there one where one position moves several joints.
    """
    if robot.coupled or missing_for_casadi():
        return None
    casadi: Any = import_module("casadi")
    chain, n = chain_of(robot), robot.degrees_of_freedom
    given = [casadi.SX.sym(name, n) for name in ("q", "qd", "qdd")]
    q, qd, qdd = (np.array(casadi.vertsplit(each), dtype=object) for each in given)
    tau, wrench = np.zeros(n, dtype=object), np.zeros((n, WRENCH), dtype=object)
    sine, cosine = (np.array([of(each) for each in q], dtype=object) for of in (casadi.sin, casadi.cos))
    newton_euler(chain, sine, cosine, q, qd, qdd, tau, wrench)
    function = casadi.Function("rnea", given, [casadi.vertcat(*tau)])
    with tempfile.TemporaryDirectory(prefix="bddtorque-") as folder:
        return _compiled(casadi, function, n, Path(folder))


def _compiled(
    casadi: Any, function: Any, joints: int, folder: Path
) -> Callable[[Floats, Floats, Floats, Floats], None]:
    generator = casadi.CodeGenerator("rnea.c", {"with_header": False})
    generator.add(function)
    sizes = {"arguments": function.sz_arg(), "results": function.sz_res(), "work": function.sz_w() + 1}
    text = generator.dump() + LOOP.format(joints=joints, integers=function.sz_iw() + 1, **sizes)
    source, library = folder / "rnea.c", folder / "rnea.so"
    source.write_text(text, encoding="utf-8")
    done = subprocess.run(["cc", str(source), "-o", str(library), *FLAGS], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BddTorqueError(f"cc does not compile the C that CasADi generates: {done.stderr.strip()[-200:]}")
    states = ctypes.CDLL(str(library)).states  # stays when its file goes
    states.restype = None

    def torques(q: Floats, qd: Floats, qdd: Floats, tau: Floats) -> None:
        places = (ctypes.c_void_p(each.ctypes.data) for each in (q, qd, qdd, tau))
        states(*places, ctypes.c_long(len(q)))

    return torques
