"""Pictures of sweeps: of one model its errors or those along a trajectory, or several models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bddtorque.sweeps.drawing import FOUND, INPUTS, MEAN, PROVED, finish_panels, grid, logarithmic, new_figure
from bddtorque.sweeps.figures import ModelCost, OutputSweep, Sweep, compared_output

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DRAWN_BINS = 128


def figure_of(sweeps: Sequence[Sweep]) -> Figure:
    """Return the picture that suits these sweeps: of one, of one robot at several word lengths, or of any."""
    if len(sweeps) == 1:
        return error_figure(sweeps[0]) if sweeps[0].traces is None else trajectory_figure(sweeps[0])
    return models_figure(sweeps) if compared_output(sweeps) is None else bits_figure(sweeps)


def error_figure(sweep: Sweep) -> Figure:
    """Return a histogram of the tables' error for each output, and below how often each error is exceeded."""
    n = len(sweep.outputs)
    rows, columns = grid(n)
    figure = new_figure(max(3.2 * columns, 6.4), 2.4 * rows + 2.9)
    spaces = figure.add_gridspec(rows + 1, columns, height_ratios=[1.0] * rows + [1.15])
    reach = 1.08 * max(1.0, *(output.proved for output in sweep.outputs))
    for k, output in enumerate(sweep.outputs):
        axes = figure.add_subplot(spaces[k // columns, k % columns])
        _histogram(axes, output, reach)
        if k % columns == 0:
            axes.set_ylabel("density")
    _exceedance(figure.add_subplot(spaces[rows, :]), sweep)
    figure.suptitle(
        f"{sweep.name}, {sweep.bits} bits: error of the compiled words, {sweep.states:,} random states", fontsize=10
    )
    return figure


def _histogram(axes: Axes, output: OutputSweep, reach: float) -> None:
    counts = np.array(output.picture).reshape(DRAWN_BINS, -1).sum(axis=1)
    edges = np.linspace(-output.reach, output.reach, DRAWN_BINS + 1)
    density = counts / max(counts.sum(), 1) / (edges[1] - edges[0])
    axes.stairs(density, edges, fill=True, color=FOUND, alpha=0.7)
    for side in (-1, 1):
        axes.axvline(side * output.proved, color=PROVED, linestyle="--", linewidth=1.2)
        axes.axvline(side * output.found, ymax=0.75, color="black", linestyle=":", linewidth=1.0)
    axes.set_xlim(-reach, reach)
    axes.set_ylim(0, 1.3 * float(density.max()))
    axes.set_title(f"{output.output}: 1 unit = {output.lsb:.3g} {output.unit}")
    axes.set_xlabel("compiled − true, units")
    said = f"proved ±{output.proved:.3f}", f"found ±{output.found:.3f}"
    axes.text(0, 0.99, said[0], color=PROVED, ha="center", va="top", transform=axes.get_xaxis_transform())
    axes.text(0, 0.89, said[1], ha="center", va="top", transform=axes.get_xaxis_transform())


def _exceedance(axes: Axes, sweep: Sweep) -> None:
    """Draw the share of states whose error is larger, for every error up to the proved bound."""
    for k, output in enumerate(sweep.outputs):
        signed = np.array(output.picture)
        half = len(signed) // 2
        counts = signed[half:] + signed[:half][::-1]
        share = np.append(np.cumsum(counts[::-1])[::-1], 0) / max(signed.sum(), 1)
        errors = np.linspace(0, output.reach, half + 1)
        colour = f"C{k}"
        seen = share > 0
        axes.step(errors[seen], share[seen], where="post", color=colour, label=output.output, linewidth=1.3)
        axes.plot(output.tables.largest, 1 / sweep.states, marker="o", markersize=4, color=colour)
        if output.search_largest:
            axes.plot(output.search_largest, 0.7 / sweep.states, marker="^", markersize=5, color=colour, clip_on=False)
        axes.axvline(output.proved, color=colour, linestyle="--", linewidth=1.0)
    axes.set_yscale("log")
    axes.set_ylim(0.5 / sweep.states, 1.5)
    axes.set_xlim(0, 1.08 * max(1.0, *(output.proved for output in sweep.outputs)))
    axes.set_xlabel("|compiled − true|, units of the last bit")
    axes.set_ylabel("share of states beyond")
    axes.plot([], [], color="gray", linestyle="--", linewidth=1.0, label="proved for every input word")
    axes.plot([], [], color="gray", linestyle="", marker="o", markersize=4, label="largest of these states")
    if sweep.searched:
        axes.plot([], [], color="gray", linestyle="", marker="^", markersize=5, label="found by search")
    axes.legend(frameon=False, loc="lower left")


def trajectory_figure(sweep: Sweep) -> Figure:
    """Return, for each output, the true value along the trajectory and beside it the error of the tables."""
    traces = sweep.traces
    assert traces is not None
    n = len(sweep.outputs)
    figure = new_figure(8.4, 1.45 * n + 1.1)
    spaces = figure.subplots(n, 2, squeeze=False, sharex=True)
    for k, output in enumerate(sweep.outputs):
        value, error = spaces[k]
        value.plot(traces.time, traces.true[:, k] * output.lsb, color=INPUTS, linewidth=1.0)
        value.set_ylabel(f"{output.output}\n{output.unit}", fontsize=7)
        error.plot(traces.time, traces.errors[:, k], color=FOUND, linestyle="", marker=".", markersize=1.2)
        for side in (-1, 1):
            error.axhline(side * output.proved, color=PROVED, linestyle="--", linewidth=1.1)
        error.set_ylim(-1.25 * output.reach, 1.25 * output.reach)
        error.set_title(f"found ±{output.found:.3f}, proved ±{output.proved:.3f}", fontsize=8)
        error.set_ylabel("units")
    spaces[0, 0].set_title("true value", fontsize=8)
    for axes in spaces[-1]:
        axes.set_xlabel("time, s" if traces.timed else "state")
    figure.align_ylabels()
    figure.suptitle(
        f"{sweep.name}, {sweep.bits} bits along {sweep.along}: true value, and compiled − true", fontsize=10
    )
    return figure


def bits_figure(sweeps: Sequence[Sweep]) -> Figure:
    """Return what to choose a word length by: error of every output in its unit against bits, then size and speed.

    Of the output that `compared_output` names the largest error found is drawn too, and both errors are written beside
    the points. Bytes and time stand beside it where they were measured.
    """
    sweeps = sorted(sweeps, key=lambda sweep: max(output.bits for output in sweep.outputs))
    bits = [max(output.bits for output in sweep.outputs) for sweep in sweeps]
    taken = compared_output(sweeps) or 0
    costs = [sweep.cost for sweep in sweeps if sweep.cost is not None]
    with_costs = len(costs) == len(sweeps)
    figure, widths = new_figure(11.0 if with_costs else 6.4, 4.4), [1.7, 1.0, 1.0] if with_costs else [1.0]
    panels = figure.subplots(1, len(widths), squeeze=False, width_ratios=widths)[0]
    errors = panels[0]
    for k, first in enumerate(sweeps[0].outputs):
        outputs = [sweep.outputs[k] for sweep in sweeps]
        style = {"color": f"C{k % 10}", "linewidth": 2.2 if k == taken else 1.0, "marker": "_", "markersize": 7}
        proved = [output.proved * output.lsb for output in outputs]
        errors.plot(bits, proved, label=f"{first.output}: proved", **style)
        if k == taken:
            found = [output.found * output.lsb for output in outputs]
            errors.plot(bits, found, label=f"{first.output}: largest found", ls=":", color=style["color"], marker="o")
            for place, value in zip(bits, proved, strict=True):
                errors.annotate(f"{value:.2g}", (place, value), xytext=(0, 5), textcoords="offset points", ha="center")
    logarithmic(errors)
    errors.set_ylabel(f"error, {', '.join(dict.fromkeys(output.unit for output in sweeps[0].outputs))}")
    errors.legend(frameon=False, fontsize=7, loc="lower left")
    if with_costs:
        _size_and_speed(panels[1], panels[2], bits, costs)
    for axes in panels:
        axes.set_xlabel("bits")
        axes.set_xticks(bits)
        axes.grid(color="#e3e3e3", linewidth=0.6)
    where = f"along {sweeps[0].along}" if sweeps[0].along else f"{sweeps[0].states:,} random states"
    figure.suptitle(f"{sweeps[0].name}: error, size and time against word length, {where}", fontsize=10)
    return figure


def _size_and_speed(sizes: Axes, speeds: Axes, bits: Sequence[int], costs: Sequence[ModelCost]) -> None:
    style: dict[str, Any] = {"markersize": 4, "linewidth": 1.2}
    sizes.plot(bits, [cost.file_bytes / 1000 for cost in costs], color=FOUND, marker="o", label="file", **style)
    sizes.plot(bits, [cost.table_bytes / 1000 for cost in costs], color=MEAN, marker="s", label="tables", **style)
    logarithmic(sizes)
    sizes.set_ylabel("kB")
    speeds.plot(bits, [cost.ratio for cost in costs], color=FOUND, marker="o", label="compiled words", **style)
    speeds.axhline(1.0, color=INPUTS, linestyle=":", linewidth=1.0, label="true values in float64")
    speeds.set_ylim(bottom=0)
    speeds.set_ylabel("time ÷ float64's")
    for axes in (sizes, speeds):
        axes.legend(frameon=False)


def models_figure(sweeps: Sequence[Sweep]) -> Figure:
    """Return the errors of any models beside each other: for each output proved, largest and rms, in units."""
    rows, columns = grid(len(sweeps))
    figure = new_figure(max(3.2 * columns, 6.4), 2.9 * rows + 0.9)
    spaces = figure.subplots(rows, columns, squeeze=False, sharey=True)
    for k, sweep in enumerate(sweeps):
        axes = spaces.flat[k]
        places = np.arange(len(sweep.outputs))
        found, rms = [output.found for output in sweep.outputs], [output.tables.rms for output in sweep.outputs]
        axes.bar(places, found, 0.7, color=FOUND, label="largest found")
        axes.bar(places, rms, 0.7, color=MEAN, label="rms")
        proved = [output.proved for output in sweep.outputs]
        axes.hlines(proved, places - 0.42, places + 0.42, color=PROVED, linewidth=1.6, label="proved")
        axes.axhline(1.0, color="black", linewidth=0.6, linestyle=":")
        axes.set_xticks(places, [output.output for output in sweep.outputs], rotation=30, ha="right", fontsize=7)
        axes.set_title(_heading(sweep))
        if k % columns == 0:
            axes.set_ylabel("error, units of the last bit")
    finish_panels(figure, list(spaces.flat), len(sweeps), 3)
    where = f"along {sweeps[0].along}" if sweeps[0].along else f"{sweeps[0].states:,} random states each"
    figure.suptitle(f"Error of the compiled words, {where}", fontsize=10)
    return figure


def _heading(sweep: Sweep) -> str:
    if sweep.cost is None:
        return f"{sweep.name}, {sweep.bits} bits"
    size, ratio = f"{sweep.cost.file_bytes / 1000:,.0f} kB", f"{sweep.cost.ratio:.2g} × float's time"
    return f"{sweep.name}, {sweep.bits} bits\n{size}, {ratio}"
