"""The picture of a bench: time of every contender as a multiple of float32 with a sine table. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bddtorque.bench.timing import BenchReport
from bddtorque.sweeps.drawing import new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROVED, FLOAT = "#1b6ca8", "#c9c9c9"
"""Colours of what is proved and of the peers."""


def bench_figure(reports: Sequence[BenchReport]) -> Figure:
    """Return one panel a report, bars for contenders, whiskers over eight rounds of ten, a logarithmic axis."""
    from matplotlib.patches import Patch  # noqa: PLC0415

    columns = min(2, len(reports))
    rows = -(-len(reports) // columns)
    tallest = max(len(each.timings) for each in reports)
    figure = new_figure(6.6 * columns, rows * (0.29 * tallest + 1.0) + 0.6)
    panels = figure.subplots(rows, columns, squeeze=False)
    for axes, report in zip(panels.flat, reports, strict=False):
        _panel(axes, report)
    for axes in list(panels.flat)[len(reports) :]:
        axes.set_axis_off()
    figure.suptitle(
        f"Time of one state as a multiple of {reports[0].baseline} (logarithmic; whiskers hold 80 % of rounds)",
        fontsize=11,
    )
    marks = [Patch(color=PROVED, label="words, proved"), Patch(color=FLOAT, label="float, nothing proved")]
    figure.legend(handles=marks, loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return figure


def _panel(axes: Any, report: BenchReport) -> None:
    timings = sorted(report.timings, key=lambda each: each.ratio, reverse=True)
    ratios = [each.ratio for each in timings]
    whiskers = [
        [max(each.ratio - each.lowest, 0.0) for each in timings],
        [max(each.highest - each.ratio, 0.0) for each in timings],
    ]
    colours = [PROVED if each.proved else FLOAT for each in timings]
    axes.barh(range(len(timings)), ratios, color=colours, xerr=whiskers, error_kw={"lw": 0.8, "ecolor": "#555555"})
    axes.set_xscale("log")
    axes.set_yticks(range(len(timings)), [each.name for each in timings], fontsize=8)
    axes.axvline(1.0, color="#888888", lw=0.8, ls=":")
    most = max(each.highest for each in timings)
    axes.set_xlim(min(each.lowest for each in timings) / 1.5, most * 12)
    for place, each in enumerate(timings):
        label = f"{each.ratio:.2f} ×, {_shown(each.nanoseconds)}"
        axes.text(each.highest * 1.15, place, label, va="center", fontsize=7.5)
    bits = "/".join(map(str, dict.fromkeys(report.bits)))
    axes.set_title(f"{report.name}, {bits} bits, target {report.target} ({report.source})", fontsize=10)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _shown(nanoseconds: float) -> str:
    return f"{nanoseconds:.1f} ns" if nanoseconds < 1000 else f"{nanoseconds / 1000:.1f} µs"


def draw(reports: Sequence[BenchReport], path: Path) -> None:
    """Draw into a file, whole or not at all."""
    save_figure(lambda: bench_figure(reports), path, dpi=130)
