"""Pictures of sweeps, fit for a paper. Needs matplotlib (extra ``plots``)."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bddtorque.errors import BddTorqueError
from bddtorque.sweep.figures import JointSweep, Sweep
from bddtorque.writing import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".pdf", ".svg")
COLUMNS = 4
"""Joints beside each other; more go below."""
DRAWN_BINS = 128
FOUND, PROVED, INPUTS, MEAN = "#3b6ea5", "#b3282d", "#7f7f7f", "#8fb4d9"
STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "bddtorque",
}


def check_plot(path: Path) -> None:
    """Refuse, before any work, a picture that cannot be drawn."""
    if path.suffix.lower() not in SUFFIXES:
        raise BddTorqueError(f"{path}: a picture ending in {', '.join(SUFFIXES)} required")
    if importlib.util.find_spec("matplotlib") is None:
        raise BddTorqueError("plots: matplotlib required, it is not installed: pip install 'bddtorque[plots]'")


def draw(sweeps: Sequence[Sweep], path: Path) -> None:
    """Draw one sweep's errors, or several sweeps against their word lengths, into a file."""
    check_plot(path)
    import matplotlib  # noqa: PLC0415

    kind = path.suffix.lower()[1:]
    # no dates in the file: the same sweep gives the same picture
    dates: dict[str, Any] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind, {})
    with matplotlib.rc_context(STYLE):
        figure = error_figure(sweeps[0]) if len(sweeps) == 1 else bits_figure(sweeps)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, dpi=160, metadata=dates)
    write_whole(path, buffer.getvalue())


def error_figure(sweep: Sweep) -> Figure:
    """Return a histogram of the tables' error for each joint, and below how often each error is exceeded."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    n = len(sweep.joints)
    rows = -(-n // COLUMNS)
    columns = -(-n // rows)
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
        f"{sweep.robot}, {sweep.bits}-bit torques: error of the tables, {sweep.states:,} random states", fontsize=10
    )
    return figure


def bits_figure(sweeps: Sequence[Sweep]) -> Figure:
    """Return proved, largest and rms error of each joint against the word length: in units, and in N·m or N."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    n = len(sweeps[0].joints)
    figure = Figure(figsize=(max(2.9 * n, 6.4), 5.6), layout="constrained")
    spaces = figure.subplots(2, n, squeeze=False, sharex=True)
    for k in range(n):
        joints = sorted((sweep.joints[k] for sweep in sweeps), key=lambda joint: joint.bits)
        bits = [joint.bits for joint in joints]
        above, below = spaces[0, k], spaces[1, k]
        above.axhline(1.0, color="black", linewidth=0.6, linestyle=":")
        for factors, axes in (([1.0] * len(joints), above), ([joint.lsb for joint in joints], below)):
            scaled = list(zip(joints, factors, strict=True))
            curves: list[tuple[list[float], dict[str, Any]]] = [
                ([j.proved * f for j, f in scaled], {"color": PROVED, "marker": "_", "ls": "--", "label": "proved"}),
                ([j.found * f for j, f in scaled], {"color": FOUND, "marker": "o", "label": "largest found"}),
                ([j.tables.rms * f for j, f in scaled], {"color": MEAN, "marker": "s", "label": "rms"}),
            ]
            if axes is below:
                values = [j.inputs.rms * f for j, f in scaled]
                curves.append((values, {"color": INPUTS, "marker": "x", "ls": ":", "label": "rms of the input words"}))
            for values, style in curves:
                axes.plot(bits, values, markersize=4, linewidth=1.2, **style)
        above.set_title(joints[0].joint)
        above.set_ylim(0, 1.1 * max(1.0, *(joint.proved for joint in joints)))
        below.set_yscale("log")
        below.set_xlabel("bits")
        below.set_xticks(bits)
        below.set_ylabel(f"error, {joints[0].unit}")
    spaces[0, 0].set_ylabel("error, units of the last bit")
    handles, labels = spaces[1, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.suptitle(f"{sweeps[0].robot}: error against word length, {sweeps[0].states:,} random states", fontsize=10)
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
        axes.axvline(joint.proved, color=colour, linestyle="--", linewidth=1.0)
    axes.set_yscale("log")
    axes.set_ylim(0.5 / sweep.states, 1.5)
    axes.set_xlim(0, 1.08 * max(1.0, *(joint.proved for joint in sweep.joints)))
    axes.set_xlabel("|compiled − true|, units of the last bit")
    axes.set_ylabel("share of states beyond")
    axes.plot([], [], color="gray", linestyle="--", linewidth=1.0, label="proved for every input word")
    axes.plot([], [], color="gray", linestyle="", marker="o", markersize=4, label="largest found")
    axes.legend(frameon=False, loc="lower left")
