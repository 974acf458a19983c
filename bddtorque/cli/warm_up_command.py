"""``bddtorque warm-up``: compile ahead what the first torques of a model would wait for."""

from __future__ import annotations

from typing import Any

from bddtorque.cli import options as opt
from bddtorque.cli.console import show
from bddtorque.cli.progress import COMPILE, ShownProgress


@opt.takes(chosen=opt.CHOICES)
def warm_up_command(
    source_file: opt.SourceArgument,
    workers: opt.WorkersOption = None,
    no_cache: opt.NoCacheOption = False,
    *,
    chosen: dict[str, Any],
) -> None:
    """Compile the code of a model ahead of time, so that its first torque comes without delay.

    Code is kept on disk, for every later process of this user. A robot is compiled first.

    Example: bddtorque warm-up ur5.bdt

    Example: bddtorque warm-up ur5 --bits 12 --target float
    """
    if opt.is_compiled(source_file):
        opt.refuse_choices(source_file, chosen)
    code = {"compiling code": 20.0}
    steps = code if opt.is_compiled(source_file) else {**COMPILE, **code}
    with ShownProgress("warm-up", steps) as progress:
        (model,) = opt.models(source_file, [chosen], no_cache, progress, workers=workers)
        before = progress.done
        model.warm_up(progress)
    parts = progress.done - before
    show(f"{model.name} is ready: {parts} parts of its code compiled or found")
