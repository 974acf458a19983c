"""Gantt charts of schedules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bddtorque.evaluate.scheduling import Schedule


def draw_gantt(
    axis: Any,
    schedule: Schedule,
    label: Callable[[str], str] = str,
    colour: Callable[[str], str] = lambda _: "tab:blue",
    processor_names: Sequence[str] | None = None,
    font_size: float = 7.0,
) -> None:
    """Draw a schedule on a matplotlib axis: one row a processor, one bar a task.

    `label` and `colour` give the text and the colour of a task's bar from its name; an empty text writes nothing.
    """
    for placement in schedule.placements:
        width = placement.end - placement.start
        if width == 0:
            continue
        axis.barh(
            placement.processor, width, left=placement.start, height=0.82, color=colour(placement.task),
            edgecolor="white", linewidth=0.6,
        )  # fmt: skip
        text = label(placement.task)
        if text:
            middle = placement.start + width / 2
            axis.text(middle, placement.processor, text, ha="center", va="center", fontsize=font_size, clip_on=True)
    names = processor_names or [f"processor {k + 1}" for k in range(schedule.processors)]
    axis.set_yticks(range(schedule.processors), names)
    axis.set_ylim(schedule.processors - 0.5, -0.5)
    axis.set_xlim(0, schedule.makespan)
    axis.set_xlabel("time")
