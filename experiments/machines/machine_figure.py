"""Machines in a picture: time against processors, and the interval of those that are piped. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bddtorque.sweeps.drawing import new_figure, save_figure
from machines.cost_model import Machine

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES = {
    "Newton-Euler general": ("0.6", "s"),
    "Newton-Euler": ("k", "s"),
    "Luh-Lin": ("tab:brown", "v"),
    "Binder/Herzog": ("tab:pink", "<"),
    "Hamilton new": ("tab:purple", ">"),
    "Lathrop linear": ("tab:olive", "D"),
    "Lathrop logarithmic": ("tab:green", "P"),
    "Fijany array": ("tab:cyan", "^"),
    "Horn-Raibert": ("tab:blue", "X"),
    "terms by bits": ("tab:red", "o"),
    "terms by words": ("tab:orange", "o"),
    "recursive by bits": ("tab:red", "*"),
    "recursive by words": ("tab:orange", "*"),
}
"""Colour and mark of each family of machines."""


def draw_machines(axis: Axes, machines: Sequence[Machine], title: str, unit: str) -> dict[str, Any]:
    """Draw the machines that can run an arm; return the line of each family. Hollow marks are intervals."""
    shown: dict[str, Any] = {}
    for family, (colour, marker) in STYLES.items():
        mine = [each for each in machines if each.time is not None and each.name.split(",")[0] == family]
        points = [(each.processors, each.time) for each in mine if "piped" not in each.name]
        piped = [(each.processors, each.interval) for each in mine if each.interval != each.time]
        if points:
            (shown[family],) = axis.plot(*zip(*points, strict=True), color=colour, marker=marker, ms=7, lw=0.8)
        if piped:
            axis.plot(*zip(*piped, strict=True), color=colour, marker=marker, ms=7, ls="", mfc="none")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_title(title)
    axis.set_xlabel("processors")
    axis.set_ylabel(f"{unit} steps")
    axis.grid(alpha=0.3)
    return shown


def add_legend(figure: Figure, shown: dict[str, Any], columns: int) -> None:
    """Name the families below a picture."""
    from matplotlib.lines import Line2D  # noqa: PLC0415

    hollow = Line2D([], [], color="0.4", marker="o", mfc="none", ls="", ms=7)
    names = [f"tables from {family}" if " by " in family else family for family in shown]
    figure.legend(
        [*shown.values(), hollow],
        [*names, "hollow: interval, piped"],
        loc="outside lower center",
        ncols=columns,
        fontsize=9,
    )


def draw(machines: Sequence[Machine], title: str, unit: str, path: Path) -> None:
    """Draw the machines on one arm into a file, whole or not at all."""

    def made() -> Figure:
        figure = new_figure(8, 7)
        add_legend(figure, draw_machines(figure.subplots(), machines, title, unit), 3)
        return figure

    save_figure(made, path, dpi=130)
