"""``bddtorque machines``: the machines of the literature on an arm, run and priced beside the compiled tables."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.base.errors import BddTorqueError
from bddtorque.cli import options as opt
from bddtorque.cli.console import plain_table, show, write_json
from bddtorque.cli.progress import COMPILE, ShownProgress

if TYPE_CHECKING:
    from rich.table import Table

    from bddtorque.machines.cost_model import CostModel
    from bddtorque.machines.machine_torques import Finding
    from bddtorque.model.model import Model

MOST_STATES = 1000
"""The arrays and pipelines are simulated message by message."""


class Costs(StrEnum):
    """What a step is."""

    WORD = "word"
    BIT = "bit"
    CELL = "cell"


@opt.takes(chosen=opt.TORQUE_CHOICES)
def machines_command(
    file: Annotated[
        str, typer.Argument(metavar="ROBOT|FILE", show_default=False, help="What `compile` takes, or a compiled .bdt.")
    ],
    costs: Annotated[
        Costs,
        typer.Option(
            help="What is one step: any operation on a word or a test of a bit (word); a test of a bit, where adding b "
            "bits takes b and multiplying them b² steps (bit), or 2b (cell)."
        ),
    ] = Costs.WORD,
    states: Annotated[int, typer.Option(metavar="N", help="Random states that every machine is run on.")] = 32,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same states.")] = 0,
    plot: opt.PlotOption = None,
    workers: opt.WorkersOption = None,
    no_cache: opt.NoCacheOption = False,
    as_json: opt.JsonOption = False,
    *,
    chosen: dict[str, Any],
) -> None:
    """Run the parallel machines of the literature on an arm, beside its compiled tables, all in one cost model.

    Each machine that can run the arm computes the same random states; its torques are compared with Newton-Euler and
    with the compiled words, which must lie within their certificate. Exit code 1 if one does not agree.
    """
    if not 1 <= states <= MOST_STATES:
        raise BddTorqueError(f"--states must be between 1 and {MOST_STATES}, got {states}")
    opt.check_outputs({"--plot": plot}, [file])
    from bddtorque.machines.machine_torques import run_machines

    with ShownProgress("machines", {**COMPILE, "running": 10.0}) as progress:
        model = _model(file, chosen, workers, no_cache, progress)
        findings = run_machines(model, _cost_model(model, costs), states, seed, progress)
    title = f"{model.robot.name}, tables of {'/'.join(map(str, dict.fromkeys(model.formats.tau.bits)))} bits"
    if plot is not None:
        from bddtorque.machines.machine_figure import draw

        draw([each.machine for each in findings], title, costs.value, plot)
    if as_json:
        given = {"robot": model.robot.name, "costs": costs.value, "states": states, "seed": seed}
        plain = [each.to_plain() for each in findings]
        write_json({**given, "bounds": list(model.certificate.bounds), "machines": plain})
    else:
        show(_table(findings, title, costs.value))
        for note in _notes(findings):
            show(note)
        if plot is not None:
            show(f"written: {plot}")
    if any(each.agrees is False for each in findings):
        raise typer.Exit(1)


def _model(file: str, chosen: dict[str, Any], workers: int | None, no_cache: bool, progress: ShownProgress) -> Model:
    """Return the compiled model of a file, or compile one for the target `tables`."""
    if opt.is_compiled(file):
        opt.refuse_choices(file, chosen)
    [model] = opt.models(file, [{**chosen, "target": "tables"}], no_cache, progress, workers=workers)
    if model.plan.target != "tables":
        raise BddTorqueError(f"{file} was compiled for target '{model.plan.target}': compile it for 'tables'")
    return model


def _cost_model(model: Model, costs: Costs) -> CostModel:
    """Return a cost model; words of recursions are as wide as the median word of the arm's recursive plan."""
    from dataclasses import replace
    from statistics import median

    from bddtorque.compiler.robot_draft import draft_of_robot
    from bddtorque.machines.cost_model import bit_steps, cell_steps, word_steps

    position_bits = max(model.formats.q.bits)
    if costs is Costs.WORD:
        return word_steps(position_bits)
    plan = draft_of_robot(replace(model.spec, source="recursive", accuracy="faithful"), model.robot).plan
    word_bits = int(median(plan.bits_of(k) for k in range(len(plan.wires))))
    return (bit_steps if costs is Costs.BIT else cell_steps)(position_bits, word_bits)


def _table(findings: list[Finding], title: str, costs: str) -> Table:
    table = plain_table(
        f"{title}: P processors; {costs} steps from a state to its torques, and from one torque set to the next; "
        "messages of one set between processors; error as a part of the largest torque; distance from the compiled "
        "words in units",
        *("machine", ">P", ">steps", ">interval", ">messages", ">error", ">units"),
    )
    for each in findings:
        machine = each.machine
        if each.error is None or each.units is None or machine.time is None or machine.interval is None:
            table.add_row(machine.name, *["-"] * 6)
            continue
        table.add_row(
            machine.name, f"{machine.processors:,}", f"{machine.time:,.0f}", f"{machine.interval:,.0f}",
            f"{machine.messages:,}", f"{each.error:.1e}", f"{each.units:.2f}",
        )  # fmt: skip
    return table


def _notes(findings: list[Finding]) -> list[str]:
    """Return what else there is to say, machines of the same remark together."""
    said: dict[str, list[str]] = {}
    for each in findings:
        note = f"cannot run this arm: {each.machine.note}" if each.error is None else each.machine.note
        note = "the torques differ" if each.agrees is False else note
        if note:
            said.setdefault(note, []).append(each.machine.name)
    return [f"{'; '.join(names)}: {note}" for note, names in said.items()]
