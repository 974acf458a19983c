"""What all pictures of sweeps share: colours and type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    """Make the upright axis logarithmic, with ticks at 1, 2 and 5 in plain figures."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator  # noqa: PLC0415

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 10 else f"{value:g}"))
