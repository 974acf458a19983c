"""Pictures of sweeps, fit for a paper. Needs matplotlib (extra ``plots``)."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.writing import write_whole
from bddtorque.sweep.comparison_figures import bits_figure, comparable, models_figure
from bddtorque.sweep.drawing import STYLE
from bddtorque.sweep.error_figures import error_figure
from bddtorque.sweep.figures import Sweep
from bddtorque.sweep.term_figures import terms_figure
from bddtorque.sweep.trajectory_figures import trajectory_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".pdf", ".svg")


def check_plot(path: Path) -> None:
    """Refuse, before any work, a picture that cannot be drawn."""
    if path.suffix.lower() not in SUFFIXES:
        raise BddTorqueError(f"{path}: a picture ending in {', '.join(SUFFIXES)} required")
    if importlib.util.find_spec("matplotlib") is None:
        raise BddTorqueError("plots: matplotlib required, it is not installed: pip install 'bddtorque[plots]'")


def draw(sweeps: Sequence[Sweep], path: Path) -> None:
    """Draw one sweep's errors (over time along a trajectory), or several sweeps beside each other, into a file."""
    _draw(lambda: figure_of(sweeps), path)


def draw_terms(sweep: Sweep, path: Path) -> None:
    """Draw the error of each term of one sweep into a file."""
    _draw(lambda: terms_figure(sweep), path)


def figure_of(sweeps: Sequence[Sweep]) -> Figure:
    """Return the picture that suits these sweeps: of one, of one robot at several word lengths, or of any."""
    if len(sweeps) == 1:
        return error_figure(sweeps[0]) if sweeps[0].traces is None else trajectory_figure(sweeps[0])
    return bits_figure(sweeps) if comparable(sweeps) else models_figure(sweeps)


def _draw(make: Callable[[], Figure], path: Path) -> None:
    check_plot(path)
    import matplotlib  # noqa: PLC0415

    kind = path.suffix.lower()[1:]
    # no dates in the file: the same sweep gives the same picture
    dates: dict[str, Any] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind, {})
    with matplotlib.rc_context(STYLE):
        buffer = io.BytesIO()
        make().savefig(buffer, format=kind, dpi=160, metadata=dates)
    write_whole(path, buffer.getvalue())
