"""Which picture suits which sweeps, and into a file. Needs matplotlib (extra ``plots``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bddtorque.sweep.comparison_figures import bits_figure, comparable, models_figure
from bddtorque.sweep.drawing import save_figure
from bddtorque.sweep.error_figures import error_figure, terms_figure, trajectory_figure
from bddtorque.sweep.figures import Sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(sweeps: Sequence[Sweep], path: Path) -> None:
    """Draw one sweep's errors (over time along a trajectory), or several sweeps beside each other, into a file."""
    save_figure(lambda: figure_of(sweeps), path)


def draw_terms(sweep: Sweep, path: Path) -> None:
    """Draw the error of each term of one sweep into a file."""
    save_figure(lambda: terms_figure(sweep), path)


def figure_of(sweeps: Sequence[Sweep]) -> Figure:
    """Return the picture that suits these sweeps: of one, of one robot at several word lengths, or of any."""
    if len(sweeps) == 1:
        return error_figure(sweeps[0]) if sweeps[0].traces is None else trajectory_figure(sweeps[0])
    return bits_figure(sweeps) if comparable(sweeps) else models_figure(sweeps)
