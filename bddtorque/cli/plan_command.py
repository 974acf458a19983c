"""``bddtorque plan``: the cascade that `compile` would fill, before any table is made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bddtorque.cli import options as opt
from bddtorque.cli.compile_command import check_source
from bddtorque.cli.console import show, terminal_width, write_json
from bddtorque.cli.progress import ShownProgress

MAX_WORDS = 60
"""Words that are listed without being asked for."""


@opt.takes(chosen=opt.CHOICES)
def plan_command(
    spec: Annotated[str, typer.Argument(metavar="SPEC", show_default=False, help="What `compile` takes.")],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the plan as JSON, for `compile --plan`."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help=f"List every word, even if there are more than {MAX_WORDS}.")
    ] = False,
    as_json: opt.JsonOption = False,
    *,
    chosen: dict[str, Any],
) -> None:
    """Show how a robot would be compiled.

    Tables, products, words, the tree of each torque, and the reason for each choice; for target float every operation
    with its range and error.

    Example: bddtorque plan planar2r --bits 12

    Example: bddtorque plan ur5 --source recursive -o ur5.plan.json
    """
    check_source(spec)
    opt.check_outputs({"-o": out})
    from bddtorque.base.workers import step
    from bddtorque.compiler.pinning import plan_to_plain, save_plan
    from bddtorque.compiler.robot_draft import draft_of_robot
    from bddtorque.spec.spec_files import spec_and_robot
    from bddtorque.targets.plan_text import plan_text

    given, robot, notes = spec_and_robot(spec, chosen)
    with ShownProgress("plan") as progress, step(progress, f"planning {robot.name}"):
        draft = draft_of_robot(given, robot)
        plan, bounds = draft.plan, draft.bounds()
    plain = plan_to_plain(plan, robot.name, bounds)
    if out is not None:
        save_plan(plain, out)
    if as_json:
        write_json(plain)
        return
    for note in notes:
        show(f"note: {note}")
    most, title = None if everything else MAX_WORDS, robot.name
    title += "" if given.is_torque else f", {given.quantity}"
    show(plan_text(plan, title, bounds, most, terminal_width()).removesuffix("\n"))
    if not everything and len(plan.wires) > MAX_WORDS:
        show("--all lists every word")
    if out is not None:
        show(f"written: {out}")
