"""Costs that FIJ prints of its algorithms, the same as measured on the simulated array, and speed-ups.

Costs have the shape alpha n + gamma L + beta, L = ceil(log2 n). `PRINTED` is there to be compared with, and nothing is
computed from it but what FIJ itself concludes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bddtorque.base.errors import BddTorqueError
from machines.fijany.forward_array import PHASES_OF, ArrayRun, run_array
from machines.fijany.owned_words import ArrayCosts, Path
from machines.generic_arms import generic_arm

NOTHING = Path()


@dataclass(frozen=True)
class CostFormula:
    """alpha n + gamma ceil(log2 n) + beta, in multiplications and additions."""

    per_joint: Path = NOTHING
    per_doubling: Path = NOTHING
    constant: Path = NOTHING

    def at(self, n: int) -> Path:
        """Return the cost for n joints."""
        L = doublings_of(n)
        return Path(
            *(n * x + L * y + z for x, y, z in zip(self.per_joint, self.per_doubling, self.constant, strict=True))
        )

    def __add__(self, other: CostFormula) -> CostFormula:
        return CostFormula(
            self.per_joint.then(other.per_joint),
            self.per_doubling.then(other.per_doubling),
            self.constant.then(other.constant),
        )

    def __str__(self) -> str:
        parts = ((self.per_joint, "n"), (self.per_doubling, "L"), (self.constant, ""))
        shown = [f"({x}m{y:+}a){unit}" for (x, y, _), unit in parts if x or y]
        return " + ".join(shown) or "0"


def doublings_of(n: int) -> int:
    """Return ceil(log2 n), exactly."""
    return (n - 1).bit_length()


PRINTED: dict[str, CostFormula] = {
    "(16) R(j+1,j)": CostFormula(constant=Path(4, 0)),
    "(17) R(n+1,j)": CostFormula(per_doubling=Path(27, 18)),
    "(18) shift": CostFormula(),
    "(20) P": CostFormula(constant=Path(9, 6)),
    "(21) H": CostFormula(constant=Path(9, 6)),
    "(22) K": CostFormula(constant=Path(54, 36)),
    "step 1": CostFormula(per_doubling=Path(27, 18), constant=Path(76, 48)),
    "(24) P(j,i)": CostFormula(per_doubling=Path(0, 3)),
    "(25) Vd": CostFormula(constant=Path(6, 3)),
    "(26) F": CostFormula(constant=Path(9, 6)),
    "(27) N": CostFormula(constant=Path(15, 12)),
    "step 2": CostFormula(per_doubling=Path(0, 3), constant=Path(30, 21)),
    "(28)-(29) F, N": CostFormula(per_doubling=Path(6, 12)),
    "(30) a": CostFormula(constant=Path(3, 2)),
    "step 3": CostFormula(per_doubling=Path(6, 12), constant=Path(3, 2)),
    "inertia matrix": CostFormula(per_doubling=Path(33, 33), constant=Path(109, 71)),
    "bias": CostFormula(per_doubling=Path(0, 15), constant=Path(141, 101)),
    "solve": CostFormula(per_joint=Path(3, 2), constant=Path(1 - 3, 1 - 2)),
    "total": CostFormula(Path(3, 2), Path(33, 48), Path(238, 171)),
    "articulated body": CostFormula(per_joint=Path(380, 302), constant=Path(-198, -173)),
}
"""FIJ sections III and IV, by the phases and headings of `forward_array`; the total as printed, 238m."""

SUM_OF_PARTS = PRINTED["inertia matrix"] + PRINTED["bias"] + PRINTED["solve"]
"""Sum of the printed parts: 248m where the printed total says 238m."""


def measured_costs(n: int, costs: ArrayCosts | None = None, *, barriers: bool = True) -> ArrayRun:
    """Return a run of the array on a generic arm of n joints in Denavit-Hartenberg frames, for what it counted."""
    state = np.linspace(0.3, 1.1, n)
    return run_array(generic_arm(n), state, state, state, costs=costs, barriers=barriers)


def heading_costs(run: ArrayRun) -> dict[str, Path]:
    """Return the longest path of every phase and heading, and of inertia matrix and total, of a run with barriers."""
    found = {name: record.path for name, record in run.phases.items()}
    found |= {heading: run.path(heading) for heading in PHASES_OF}
    found["inertia matrix"] = found["step 1"].then(found["step 2"]).then(found["step 3"])
    found["total"] = found["inertia matrix"].then(found["bias"]).then(found["solve"])
    return {name: Path(path.multiplications, path.additions) for name, path in found.items()}


def fitted(measured: Mapping[int, Path]) -> CostFormula:
    """Return the formula that gives the measured costs, by n, exactly; refuse if there is none."""
    sizes = sorted(measured)
    shape = np.array([[n, doublings_of(n), 1] for n in sizes])
    if np.linalg.matrix_rank(shape) < 3:
        raise BddTorqueError(f"cost formula: sizes must tell n, log n and 1 apart, got {sizes}")
    columns = []
    for k in range(2):
        solution = np.linalg.lstsq(shape, np.array([measured[n][k] for n in sizes]), rcond=None)[0]
        columns.append([round(each) for each in solution])
    formula = CostFormula(*(Path(m, a) for m, a in zip(*columns, strict=True)))
    for n in sizes:
        if formula.at(n)[:2] != measured[n][:2]:
            raise BddTorqueError(
                f"cost formula: {measured[n]} at n = {n} is not of the form alpha n + gamma log n + beta"
            )
    return formula


def speed_up(serial: CostFormula, parallel: CostFormula, n: int, costs: ArrayCosts | None = None) -> float:
    """Return how many times faster the parallel algorithm is for n joints."""
    unit = costs or ArrayCosts()
    return serial.at(n).time(unit) / parallel.at(n).time(unit)
