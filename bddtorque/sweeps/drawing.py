"""Shared parts of all pictures: colours, type, panels, and the file. Needs matplotlib (extra ``plots``)."""

from __future__ import annotations

import importlib.util
import io
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.files import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".pdf", ".svg")
FOUND, PROVED, INPUTS, MEAN = "#3b6ea5", "#b3282d", "#7f7f7f", "#8fb4d9"
"""Colours of what was found, what is proved, what the input words cost, and of root mean squares."""
COLUMNS = 4
"""Joints beside each other; more go below."""
STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "bddtorque",
}


def grid(count: int) -> tuple[int, int]:
    """Return rows and columns for so many axes, at most `COLUMNS` beside each other and rows as even as can be."""
    rows = -(-count // COLUMNS)
    return rows, -(-count // rows)


def logarithmic(axes: Axes) -> None:
    """Make the upright axis logarithmic, with ticks at 1, 2 and 5 in plain figures; not where all values are 0."""
    if not math.isfinite(axes.dataLim.minposy):
        return
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator  # noqa: PLC0415

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 10 else f"{value:g}"))


def new_figure(width: float, height: float) -> Figure:
    """Return an empty picture of this size in inches."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    return Figure(figsize=(width, height), layout="constrained")


def finish_panels(figure: Figure, panels: Sequence[Axes], used: int, legend_columns: int) -> None:
    """Leave the panels empty that are not used, and put the legend of the first below all."""
    for axes in panels[used:]:
        axes.set_axis_off()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=legend_columns, frameon=False)


def check_plot(path: Path) -> None:
    """Refuse, before any work, a picture that cannot be drawn."""
    if path.suffix.lower() not in SUFFIXES:
        raise BddTorqueError(f"the name of a picture must end in {', '.join(SUFFIXES)}, got {path}")
    if importlib.util.find_spec("matplotlib") is None:
        raise BddTorqueError("pictures need matplotlib, which is not installed: pip install 'bddtorque[plots]'")


def save_figure(make: Callable[[], Figure], path: Path, dpi: int = 160) -> None:
    """Draw into a file, whole or not at all; the same figure gives the same bytes."""
    check_plot(path)
    import matplotlib  # noqa: PLC0415

    kind = path.suffix.lower()[1:]
    dates: dict[str, Any] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind, {})
    with matplotlib.rc_context(STYLE):
        buffer = io.BytesIO()
        make().savefig(buffer, format=kind, dpi=dpi, metadata=dates)
    write_whole(path, buffer.getvalue())
