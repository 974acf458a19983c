"""Which picture suits which sweeps, and those of several: one robot at several word lengths, or any models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bddtorque.sweeps.drawing import FOUND, INPUTS, MEAN, PROVED, finish_panels, grid, logarithmic, new_figure
from bddtorque.sweeps.error_figures import error_figure, trajectory_figure
from bddtorque.sweeps.figures import Sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def figure_of(sweeps: Sequence[Sweep]) -> Figure:
    """Return the picture that suits these sweeps: of one, of one robot at several word lengths, or of any."""
    if len(sweeps) == 1:
        return error_figure(sweeps[0]) if sweeps[0].traces is None else trajectory_figure(sweeps[0])
    return bits_figure(sweeps) if comparable(sweeps) else models_figure(sweeps)


def comparable(sweeps: Sequence[Sweep]) -> bool:
    """Return whether all are of one model at different word lengths, so that bits are an axis."""
    outputs = {tuple(output.output for output in sweep.outputs) for sweep in sweeps}
    return len({sweep.name for sweep in sweeps}) == len(outputs) == 1 and len({s.bits for s in sweeps}) == len(sweeps)


def bits_figure(sweeps: Sequence[Sweep]) -> Figure:
    """Return proved, largest and rms error of each output against the word length: in units, and in its unit.

    Below stand bytes and time against the word length, where they were measured.
    """
    n = len(sweeps[0].outputs)
    with_costs = all(sweep.cost is not None for sweep in sweeps)
    figure = new_figure(max(2.9 * n, 6.4), 5.6 + 2.5 * with_costs)
    parts: list[Any] = (
        list(figure.subfigures(2, 1, squeeze=False, height_ratios=[5.6, 2.5])[:, 0]) if with_costs else []
    )
    upper = parts[0] if parts else figure
    spaces = upper.subplots(2, n, squeeze=False, sharex=True)
    for k in range(n):
        outputs = sorted((sweep.outputs[k] for sweep in sweeps), key=lambda output: output.bits)
        bits = [output.bits for output in outputs]
        above, below = spaces[0, k], spaces[1, k]
        above.axhline(1.0, color="black", linewidth=0.6, linestyle=":")
        for factors, axes in (([1.0] * len(outputs), above), ([output.lsb for output in outputs], below)):
            scaled = list(zip(outputs, factors, strict=True))
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
        above.set_title(outputs[0].output)
        above.set_ylim(0, 1.1 * max(1.0, *(output.proved for output in outputs)))
        logarithmic(below)
        below.set_xlabel("bits")
        below.set_xticks(bits)
        below.set_ylabel(f"error, {outputs[0].unit}")
    spaces[0, 0].set_ylabel("error, units of the last bit")
    handles, labels = spaces[1, 0].get_legend_handles_labels()
    upper.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    where = f"along {sweeps[0].along}" if sweeps[0].along else f"{sweeps[0].states:,} random states"
    figure.suptitle(f"{sweeps[0].name}: error against word length, {where}", fontsize=10)
    if parts:
        sizes, speeds = parts[1].subplots(1, 2)
        _size_and_speed(sizes, speeds, sweeps)
    return figure


def _size_and_speed(sizes: Axes, speeds: Axes, sweeps: Sequence[Sweep]) -> None:
    measured = [(max(j.bits for j in sweep.outputs), sweep.cost) for sweep in sweeps if sweep.cost is not None]
    measured.sort(key=lambda pair: pair[0])
    bits = [each for each, _ in measured]
    style: dict[str, Any] = {"markersize": 4, "linewidth": 1.2}
    sizes.plot(bits, [cost.file_bytes / 1000 for _, cost in measured], color=FOUND, marker="o", label="file", **style)
    sizes.plot(
        bits, [cost.table_bytes / 1000 for _, cost in measured], color=MEAN, marker="s", label="dense tables", **style
    )
    logarithmic(sizes)
    sizes.set_ylabel("kB")
    speeds.plot(bits, [cost.ratio for _, cost in measured], color=FOUND, marker="o", label="compiled, words", **style)
    speeds.axhline(1.0, color=INPUTS, linestyle=":", linewidth=1.0, label="true values in float64")
    speeds.set_ylim(bottom=0)
    speeds.set_ylabel("time ÷ float64's")
    for axes in (sizes, speeds):
        axes.set_xlabel("bits")
        axes.set_xticks(bits)
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
