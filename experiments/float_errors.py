"""Errors of plans in floats against word length and precision, every built-in arm: proved, and the worst that is found.

What is proved before the final rounding, for 8 to 24 bits in single and in double precision; where single precision is
enough. At 12 bits the words themselves are tried on 10,000,000 random states of each arm, on its corners, and by the
search for the worst state. The error before the final rounding is found from the same plan with torque words of 24
bits: its floats are the same, its rounding 4,096 times finer.

    python experiments/float_errors.py [--quick] [--states 10000000]
"""

from __future__ import annotations

import matplotlib
import numpy as np
from reporting import Check, at_most, below, finish, near, parser, save_figure, show_table, write_csv

import bddtorque as bt
from bddtorque.sweeps import Sweep, sweep

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ARMS = ("planar2r", "planar3r_a", "planar3r_b", "scara", "stanford", "puma560", "ur5", "panda")
BITS = (8, 12, 16, 20, 24)
WORDS, FINE = 12, 24
ANY = 1e12
"""Units: a bound of any size, to see how it grows."""
FINE_SHARE = 10
"""The error before the final rounding is tried on one state in so many: the search finds what random states do not."""
RECORDED = {
    "planar2r": 0.000749416,
    "planar3r_a": 0.000927824,
    "planar3r_b": 0.00114326,
    "scara": 0.00112745,
    "stanford": 0.00599268,
    "puma560": 0.000892543,
    "ur5": 0.00540655,
    "panda": 0.0288815,
}
"""Units that are proved before the final rounding, at 12 bits in single precision, worst joint."""


def bound(arm: str, bits: int, precision: str) -> float:
    """Return what is proved before the final rounding, in units, worst joint."""
    model = bt.compile(arm, bits=bits, target="float", precision=precision, accuracy=ANY)
    return max(model.certificate.bounds) - 0.5


def found(swept: Sweep) -> np.ndarray:
    """Return the largest errors found, joint by joint, in units: random states, corners, the search."""
    return np.array([max(j.tables.largest, j.corner_largest, j.search_largest) for j in swept.joints])


def tried(arm: str, states: int, checks: list[Check]) -> dict[str, object]:
    """Try what is proved of an arm at 12 bits, of the words and of the floats before they are rounded."""
    model = bt.compile(arm, bits=WORDS, target="float", precision="single")
    words = found(sweep(model, states))
    share = float((words / np.array(model.certificate.bounds)).max())
    checks.append(Check("ours", f"{arm}: error of words, found / proved", share, at_most(1.0)))
    fine = bt.compile(arm, bits=FINE, input_bits=WORDS, target="float", precision="single", accuracy=ANY)
    proved = np.array(fine.certificate.bounds) - 0.5
    # an error of so much was not all made by the last rounding: at least the rest of it stood before
    floats = np.maximum(found(sweep(fine, max(states // FINE_SHARE, 10_000))) - 0.5, 0.0)
    unit = 2.0 ** (WORDS - FINE)
    share_before = float((floats / proved).max())
    checks.append(Check("ours", f"{arm}: error before rounding, found / proved", share_before, at_most(1.0)))
    return {
        "arm": arm,
        "proved": max(model.certificate.bounds),
        "found": float(words.max()),
        "before rounding, proved": float(proved.max()) * unit,
        "before rounding, found": float(floats.max()) * unit,
        "sharpest joint, proved / found": 1 / max(share_before, 1e-12),
    }


def drawn(bounds: dict[tuple[str, str], list[float]], rows: list[dict[str, object]], arms: tuple[str, ...]) -> None:
    """Draw bounds against bits, and what was found at 12."""
    figure, axes = plt.subplots(figsize=(8, 5))
    for k, arm in enumerate(arms):
        for precision, style in (("single", "-"), ("double", "--")):
            name = arm if precision == "single" else None
            axes.semilogy(BITS, bounds[arm, precision], style, color=f"C{k}", label=name)
    for k, row in enumerate(rows):
        axes.semilogy([WORDS], [max(float(row["before rounding, found"]), 1e-12)], "o", color=f"C{k}")
    axes.axhline(0.5, color="black", linewidth=0.8)
    axes.text(BITS[0], 0.55, "faithful below this line")
    axes.set_xlabel("bits of every word")
    axes.set_ylabel("error before the final rounding, units")
    axes.set_title("Proved in single (lines) and double precision (dashed); found at 12 bits (dots)")
    axes.legend(fontsize="small")
    save_figure("float_errors", figure)


def main() -> None:
    line = parser(__doc__)
    line.add_argument("--states", type=int)
    options = line.parse_args()
    states = options.states or (50_000 if options.quick else 10_000_000)
    arms = ARMS[:2] if options.quick else ARMS
    checks: list[Check] = []
    bounds = {(arm, p): [bound(arm, bits, p) for bits in BITS] for arm in arms for p in ("single", "double")}
    table = [
        {"arm": arm, "precision": p, **dict(zip(map(str, BITS), each, strict=True))}
        for (arm, p), each in bounds.items()
    ]
    show_table(table)
    write_csv("float_bounds", table)
    for arm in arms:
        at_12 = bounds[arm, "single"][BITS.index(WORDS)]
        checks.append(
            Check("ours", f"{arm}: proved before rounding, 12 bits", at_12, near(RECORDED[arm], relative=0.001))
        )
        checks.append(Check("ours", f"{arm}: double precision at 24 bits", bounds[arm, "double"][-1], below(0.5)))
    print()
    rows = [tried(arm, states, checks) for arm in arms]
    show_table(rows)
    write_csv("float_errors", rows)
    sharpest = min(float(row["sharpest joint, proved / found"]) for row in rows)
    checks.append(Check("ours", "sharpest bound before rounding, proved / found", sharpest, below(5.0)))
    drawn(bounds, rows, arms)
    finish(checks)


if __name__ == "__main__":
    main()
