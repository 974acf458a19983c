"""Stability of computed-torque control with old data at frozen configurations (F32, F33).

For each robot, configuration and method, the smallest ωT (K_p = ω², K_v = 2ω, period T) at which the loop is unstable;
the closed form of the limit, the mode that goes unstable, and what whole samples of torque latency
do to it. The picture shows the limits, and the spectral radius over ωT.

    python experiments/closed_loop_stability.py [--quick]
"""

from __future__ import annotations

import matplotlib
import numpy as np
from reporting import Check, Rule, arguments, finish, near, save_figure, show_table, write_csv

import bddtorque as bt
from machines.control.frozen_stability import (
    alternating_limit,
    critical_product,
    impulse_responses,
    leading_mode,
    loop_matrix,
    spectral_radius,
)
from machines.hamilton.speculation_methods import BINDER_HERZOG, FIRST_ORDER, NEW, NEWBOX, SERIAL, YAMAKITA

matplotlib.use("Agg")
import matplotlib.pyplot as plt

METHODS = (SERIAL, BINDER_HERZOG, NEWBOX, NEW, FIRST_ORDER)
POSES = {"(0,0,0)": (0, 0, 0), "(.5,.4,.3)": (0.5, 0.4, 0.3), "(.3,.5,.7)": (0.3, 0.5, 0.7),
         "(0,π/2,π/2)": (0, np.pi / 2, np.pi / 2)}  # fmt: skip
RECORDED = {
    ("A", "(0,0,0)"): "1.0 0.00941 0.0198 0.0280 0.0005",
    ("A", "(.5,.4,.3)"): "1.0 0.0124 0.0252 0.0368 0.0007",
    ("A", "(.3,.5,.7)"): "1.0 0.0153 0.0313 0.0475 <0.001",
    ("A", "(0,π/2,π/2)"): "1.0 0.1415 0.1501 0.1209 0.0084",
    ("B", "(0,0,0)"): "1.0 0.0283 0.0567 0.0897 0.0020",
    ("B", "(.5,.4,.3)"): "1.0 0.0339 0.0661 0.1070 0.0025",
    ("B", "(.3,.5,.7)"): "1.0 0.0418 0.0822 0.1220 0.0029",
    ("B", "(0,π/2,π/2)"): "1.0 0.2867 0.1816 0.1401 0.0227",
}
LATE = {
    "bh": (0.0339, 0.0603, 0.0339, 0.0413),
    "new": (0.1070, 0.0661, 0.0843, 0.0661),
    "newbox": (0.0661, 0.1070, 0.0661, 0.0843),
}


def agrees(found: float, printed: str) -> bool:
    """Return whether a number rounds to the printed digits, one unit of the last given for how that was rounded."""
    if printed.startswith("<"):
        return found < float(printed[1:])
    digits = len(printed.split(".")[1])
    return abs(found - float(printed)) <= 0.51 * 10.0**-digits + (1e-9 if digits < 4 else 0.0)


def as_written(digits: str) -> Rule:
    """Allow numbers that round to these."""
    return Rule(digits, lambda ours: all(map(agrees, ours, digits.split())))


def limits(robots: dict[str, bt.Robot], checks: list[Check], steps: int) -> list[dict[str, object]]:
    """Return the limits, and check that *new* tolerates more than bh."""
    rows, more = [], Rule("new tolerates more than bh", lambda ours: ours[3] > ours[1])
    for (name, pose), digits in RECORDED.items():
        found = [
            critical_product(impulse_responses(robots[name], m, POSES[pose]), steps_per_decade=steps) for m in METHODS
        ]
        what = f"critical ωT of {', '.join(m.name for m in METHODS)}, {name} at {pose}"
        checks.append(Check("F32", what, found, as_written(digits), more))
        older = critical_product(impulse_responses(robots[name], YAMAKITA, POSES[pose]), steps_per_decade=steps)
        rows.append(
            {"robot": name, "q": pose}
            | {m.name: x for m, x in zip(METHODS, found, strict=True)}
            | {"yamakita": older, "new / bh": found[3] / found[1], "newbox / bh": found[2] / found[1]}
        )
    return rows


def modes(robots: dict[str, bt.Robot], checks: list[Check]) -> None:
    """Check closed form, root and shape of the unstable mode."""
    leads = Rule("the last joint leads", lambda ours: max(ours) == ours[-1] > ours[-2])
    for name, limit, period, root, shape in (
        ("A", "0.009407", 0.002, -1.22, (0.29, 0.81, 1.0)),
        ("B", "0.02834", 0.005, -1.20, (0.14, 0.53, 1.0)),
    ):
        straight = impulse_responses(robots[name], BINDER_HERZOG, (0, 0, 0))
        closed, scanned = alternating_limit(straight), critical_product(straight)
        bent = impulse_responses(robots[name], BINDER_HERZOG, (0.5, 0.4, 0.3))
        mode = leading_mode(loop_matrix(bent, period, 100, 20), 3)
        when = f"bh, {name}, ω = 10, T = {period * 1e3:.0f} ms"
        checks += [
            Check("ours", f"closed form of the limit, 1/λ_max, bh, {name} at (0,0,0)", [closed], as_written(limit)),
            Check("ours", "the same over the limit found by searching", closed / scanned, near(1.0, absolute=1e-5)),
            Check("ours", f"root, {when}", [mode.root.real, mode.root.imag], near((root, 0.0), absolute=0.005)),
            Check("F33", f"shape of that mode, {when}", list(np.abs(mode.shape)), near(shape, absolute=0.006), leads),
        ]
    marginal = Rule("1, marginally stable", lambda ours: bool(np.allclose(ours, 1.0, atol=1e-6)))
    for method, half, recorded in ((BINDER_HERZOG, 0.017, 0.986), (NEW, 0.0535, 0.9635)):
        responses = impulse_responses(robots["B"], method, (0.5, 0.4, 0.3))
        radius = spectral_radius(loop_matrix(responses, half, 1.0, 2.0))
        what = f"spectral radius at half the limit, {method.name}, B at (.5,.4,.3)"
        checks.append(Check("HAM", what, radius, near(recorded, absolute=1e-4), marginal))


def latencies(robot: bt.Robot, checks: list[Check], steps: int) -> list[dict[str, object]]:
    """Return limits with latencies of whole samples, up to 12."""
    rows: list[dict[str, object]] = [{"latency": m} for m in range(13)]
    for method in (SERIAL, BINDER_HERZOG, NEWBOX, NEW):
        responses = impulse_responses(robot, method, (0.5, 0.4, 0.3))
        for row in rows:
            row[method.name] = critical_product(responses, int(row["latency"]), steps_per_decade=steps)
        if method.name in LATE:
            found = [float(row[method.name]) for row in rows[:4]]
            what = f"critical ωT, B at (.5,.4,.3), latency 0 to 3, {method.name}"
            checks.append(Check("ours", what, found, near(LATE[method.name], absolute=6e-5)))
    return rows


def draw(robots: dict[str, bt.Robot], rows: list[dict[str, object]], late: list[dict[str, object]]) -> None:
    """Draw limits, spectral radius and latency."""
    figure, axes = plt.subplots(1, 3, figsize=(15.5, 4.8), layout="constrained")
    names = ("bh", "newbox", "new", "bh first order", "yamakita")
    for k, name in enumerate(names):
        axes[0].plot(range(len(rows)), [row[name] for row in rows], "os^Dv"[k], label=name, ms=7)
    axes[0].set_yscale("log")
    axes[0].set_xticks(range(len(rows)), [f"{row['robot']}\n{row['q']}" for row in rows], fontsize=6.5)
    axes[0].set_ylabel("critical ωT")
    axes[0].set_title("smallest unstable ωT (serial: 1)")
    axes[0].legend(fontsize=8, loc="upper left")
    products = np.geomspace(3e-3, 1.3, 240)
    for method in (SERIAL, BINDER_HERZOG, NEWBOX, NEW):
        responses = impulse_responses(robots["B"], method, (0.5, 0.4, 0.3))
        axes[1].plot(
            products, [spectral_radius(loop_matrix(responses, x, 1.0, 2.0)) for x in products], label=method.name
        )
    axes[1].axhline(1.0, color="gray", lw=1)
    axes[1].set(xscale="log", ylim=(0.4, 2.0), xlabel="ωT", ylabel="spectral radius", title="robot B at (.5,.4,.3)")
    axes[1].legend(fontsize=8)
    for name in ("serial", "bh", "newbox", "new"):
        axes[2].semilogy([row["latency"] for row in late], [row[name] for row in late], "o-", ms=4, label=name)
    axes[2].set(
        xlabel="latency of the torque, samples", ylabel="critical ωT", title="robot B at (.5,.4,.3), torques late"
    )
    axes[2].legend(fontsize=8)
    for axis in axes:
        axis.grid(alpha=0.3, which="both")
    figure.suptitle("Computed-torque control with old data, frozen configuration: K_p = ω², K_v = 2ω, period T")
    save_figure("closed_loop_stability", figure)


def main() -> None:
    quick = arguments(__doc__).quick
    steps = 40 if quick else 200
    checks: list[Check] = []
    robots = {letter: bt.load_robot(f"planar3r_{letter.lower()}") for letter in "AB"}
    rows = limits(robots, checks, steps)
    show_table(rows)
    print()
    modes(robots, checks)
    late = latencies(robots["B"], checks, steps)
    show_table(late)
    print()
    write_csv("closed_loop_stability", rows)
    write_csv("closed_loop_stability_latency", late)
    draw(robots, rows, late)
    finish(checks)


if __name__ == "__main__":
    main()
