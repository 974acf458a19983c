"""The errors of one model: their distribution, and how often each is exceeded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bddtorque.sweep.drawing import FOUND, PROVED, grid
from bddtorque.sweep.figures import JointSweep, Sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DRAWN_BINS = 128


def error_figure(sweep: Sweep) -> Figure:
    """Return a histogram of the tables' error for each joint, and below how often each error is exceeded."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    n = len(sweep.joints)
    rows, columns = grid(n)
    figure = Figure(figsize=(max(3.2 * columns, 6.4), 2.4 * rows + 2.9), layout="constrained")
    spaces = figure.add_gridspec(rows + 1, columns, height_ratios=[1.0] * rows + [1.15])
    reach = 1.08 * max(1.0, *(joint.proved for joint in sweep.joints))
    for k, joint in enumerate(sweep.joints):
        axes = figure.add_subplot(spaces[k // columns, k % columns])
        _histogram(axes, joint, reach)
        if k % columns == 0:
            axes.set_ylabel("density")
    _exceedance(figure.add_subplot(spaces[rows, :]), sweep)
    figure.suptitle(
        f"{sweep.name}, {sweep.bits}-bit torques: error of the tables, {sweep.states:,} random states", fontsize=10
    )
    return figure


def _histogram(axes: Axes, joint: JointSweep, reach: float) -> None:
    counts = np.array(joint.picture).reshape(DRAWN_BINS, -1).sum(axis=1)
    edges = np.linspace(-joint.proved, joint.proved, DRAWN_BINS + 1)
    density = counts / max(counts.sum(), 1) / (edges[1] - edges[0])
    axes.stairs(density, edges, fill=True, color=FOUND, alpha=0.7)
    for side in (-1, 1):
        axes.axvline(side * joint.proved, color=PROVED, linestyle="--", linewidth=1.2)
        axes.axvline(side * joint.found, ymax=0.75, color="black", linestyle=":", linewidth=1.0)
    axes.set_xlim(-reach, reach)
    axes.set_ylim(0, 1.3 * float(density.max()))
    axes.set_title(f"{joint.joint}: 1 unit = {joint.lsb:.3g} {joint.unit}")
    axes.set_xlabel("compiled − true, units")
    said = f"proved ±{joint.proved:.3f}", f"found ±{joint.found:.3f}"
    axes.text(0, 0.99, said[0], color=PROVED, ha="center", va="top", transform=axes.get_xaxis_transform())
    axes.text(0, 0.89, said[1], ha="center", va="top", transform=axes.get_xaxis_transform())


def _exceedance(axes: Axes, sweep: Sweep) -> None:
    """Draw the share of states whose error is larger, for every error up to the proved bound."""
    for k, joint in enumerate(sweep.joints):
        signed = np.array(joint.picture)
        half = len(signed) // 2
        counts = signed[half:] + signed[:half][::-1]
        share = np.append(np.cumsum(counts[::-1])[::-1], 0) / max(signed.sum(), 1)
        errors = np.linspace(0, joint.proved, half + 1)
        colour = f"C{k}"
        seen = share > 0
        axes.step(errors[seen], share[seen], where="post", color=colour, label=joint.joint, linewidth=1.3)
        axes.plot(joint.tables.largest, 1 / sweep.states, marker="o", markersize=4, color=colour)
        if joint.search_largest:
            axes.plot(joint.search_largest, 0.7 / sweep.states, marker="^", markersize=5, color=colour, clip_on=False)
        axes.axvline(joint.proved, color=colour, linestyle="--", linewidth=1.0)
    axes.set_yscale("log")
    axes.set_ylim(0.5 / sweep.states, 1.5)
    axes.set_xlim(0, 1.08 * max(1.0, *(joint.proved for joint in sweep.joints)))
    axes.set_xlabel("|compiled − true|, units of the last bit")
    axes.set_ylabel("share of states beyond")
    axes.plot([], [], color="gray", linestyle="--", linewidth=1.0, label="proved for every input word")
    axes.plot([], [], color="gray", linestyle="", marker="o", markersize=4, label="largest of these states")
    if sweep.searched:
        axes.plot([], [], color="gray", linestyle="", marker="^", markersize=5, label="found by search")
    axes.legend(frameon=False, loc="lower left")
