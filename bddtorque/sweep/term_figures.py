"""The errors of the terms of each torque."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bddtorque.sweep.drawing import FOUND, INPUTS, MEAN, grid
from bddtorque.sweep.figures import Sweep
from bddtorque.sweep.term_errors import ROUNDINGS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def terms_figure(sweep: Sweep) -> Figure:
    """Return bars of the largest and rms error of each term, a panel a joint, the largest on top."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    n = len(sweep.joints)
    rows, columns = grid(n)
    own = [sorted((term for term in sweep.terms if term.torque == k), key=lambda term: term.largest) for k in range(n)]
    height = rows * (0.16 * max(len(terms) for terms in own) + 0.9) + 0.9
    figure = Figure(figsize=(max(3.0 * columns, 6.4), height), layout="constrained")
    spaces = figure.subplots(rows, columns, squeeze=False, sharex=True)
    for k, (joint, terms) in enumerate(zip(sweep.joints, own, strict=True)):
        axes = spaces.flat[k]
        places = np.arange(len(terms))
        colours = [INPUTS if term.name == ROUNDINGS else FOUND for term in terms]
        axes.barh(places, [term.largest for term in terms], color=colours, label="largest found")
        axes.barh(places, [term.rms for term in terms], color=MEAN, label="rms")
        axes.set_yticks(places, [f"{term.name}{' (dropped)' if term.dropped else ''}" for term in terms], fontsize=6.5)
        axes.set_ylim(-0.6, len(terms) - 0.4)
        axes.set_xscale("log")
        axes.tick_params(labelbottom=k + columns >= n)
        axes.set_title(f"{joint.joint}: 1 unit = {joint.lsb:.3g} {joint.unit}")
        if k + columns >= n:
            axes.set_xlabel("|error|, units of the last bit")
    for axes in list(spaces.flat)[n:]:
        axes.set_axis_off()
    handles, labels = spaces.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(f"{sweep.name}, {sweep.bits}-bit torques: error of each term by itself", fontsize=10)
    return figure
