"""Run the machines of the literature on an arm, beside its compiled tables, all in one cost model.

Each machine that can run the arm computes the same random states; its torques are compared with Newton-Euler and with
the compiled words, which must lie within their certificate. The machines are those of the folder machines/, a package
that `import machines` finds before this file.

    python experiments/machines.py ARM|FILE [--costs word|bit|cell] [--json] [--plot FILE] [--help]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer

from bddtorque.base.errors import BddTorqueError
from bddtorque.cli import options as opt
from bddtorque.cli.app import add_command, run_application
from bddtorque.cli.console import ShownTable, show, write_json
from bddtorque.cli.progress import COMPILE, ShownProgress
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.model.model import Model
from machines.cost_model import CostModel, bit_steps, cell_steps, word_steps
from machines.machine_figure import draw
from machines.machine_torques import Finding, run_machines

PROGRAM = "python experiments/machines.py"
MAX_STATES = 1000
"""The arrays and pipelines are simulated message by message."""

application = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Step(StrEnum):
    """Unit in which machines are priced."""

    WORD = "word"
    BIT = "bit"
    CELL = "cell"


@opt.takes(chosen=opt.TORQUE_CHOICES)
def compare_machines(
    file: Annotated[
        str,
        typer.Argument(
            metavar="ARM|FILE", show_default=False, help="What `bddtorque compile` takes, or a compiled .bdt."
        ),
    ],
    costs: Annotated[
        Step,
        typer.Option(
            help="What is one step: any operation on a word or a test of a bit (word); a test of a bit, where adding b "
            "bits takes b and multiplying them b² steps (bit), or 2b (cell)."
        ),
    ] = Step.WORD,
    states: Annotated[int, typer.Option(metavar="N", help="Random states that every machine is run on.")] = 32,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same states.")] = 0,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a plot: .png, .pdf or .svg.")] = None,
    workers: opt.WorkersOption = None,
    no_cache: opt.NoCacheOption = False,
    as_json: opt.JsonOption = False,
    *,
    chosen: dict[str, Any],
) -> None:
    """Run the machines of the literature on an arm, beside its compiled tables, all in one cost model.

    Each machine that can run the arm computes the same random states; its torques are compared with Newton-Euler and
    with the compiled words, which must lie within their certificate. Exit code 1 if one does not agree.

    Example: python experiments/machines.py planar2r --bits 8

    Example: python experiments/machines.py ur5.bdt --costs bit --plot ur5.svg
    """
    if not 1 <= states <= MAX_STATES:
        raise BddTorqueError(f"--states must be between 1 and {MAX_STATES}, got {states}")
    opt.check_outputs({"--plot": plot}, [file])
    with ShownProgress("machines", {**COMPILE, "running": 10.0}) as progress:
        model = tables_model(file, chosen, workers, no_cache, progress)
        findings = run_machines(model, cost_model(model, costs), states, seed, progress)
    title = f"{model.robot.name}, tables of {'/'.join(map(str, dict.fromkeys(model.formats.tau.bits)))} bits"
    if plot is not None:
        draw([finding.machine for finding in findings], title, costs.value, plot)
    if as_json:
        run = {"robot": model.robot.name, "costs": costs.value, "states": states, "seed": seed}
        plain = [finding.to_plain() for finding in findings]
        write_json({**run, "bounds": list(model.certificate.bounds), "machines": plain})
    else:
        show(findings_table(findings, title, costs.value))
        for note in notes(findings):
            show(note)
        if plot is not None:
            show(f"written: {plot}")
    if any(finding.agrees is False for finding in findings):
        raise typer.Exit(1)


def tables_model(
    file: str, chosen: dict[str, Any], workers: int | None, no_cache: bool, progress: ShownProgress
) -> Model:
    """Return the compiled model of a file, or compile one for the target `tables`."""
    if opt.is_compiled(file):
        opt.refuse_choices(file, chosen)
    [model] = opt.models(file, [{**chosen, "target": "tables"}], no_cache, progress, workers=workers)
    if model.plan.target != "tables":
        raise BddTorqueError(f"{file} was compiled for target '{model.plan.target}': compile it for 'tables'")
    return model


def cost_model(model: Model, costs: Step) -> CostModel:
    """Return a cost model; words of recursions are as wide as the median word of the arm's recursive plan."""
    position_bits = max(model.formats.q.bits)
    if costs is Step.WORD:
        return word_steps(position_bits)
    plan = draft_of_robot(replace(model.spec, source="recursive", accuracy="faithful"), model.robot).plan
    word_bits = int(median(plan.bits_of(k) for k in range(len(plan.wires))))
    return (bit_steps if costs is Step.BIT else cell_steps)(position_bits, word_bits)


def findings_table(findings: list[Finding], title: str, costs: str) -> ShownTable:
    """Return one row per machine; a machine that cannot run the arm has dashes."""
    rows = []
    for finding in findings:
        machine = finding.machine
        if finding.error is None or finding.units is None or machine.time is None or machine.interval is None:
            rows.append([machine.name, *["-"] * 6])
            continue
        counts = (machine.processors, machine.time, machine.interval, machine.messages)
        errors = [f"{finding.error:.1e}", f"{finding.units:.2f}"]
        rows.append([machine.name, *(f"{count:,.0f}" for count in counts), *errors])
    return ShownTable(
        f"{title}: P processors; {costs} steps from a state to its torques, and from one torque set to the next; "
        "messages of one set between processors; error as a part of the largest torque; distance from the compiled "
        "words in units",
        ["machine", ">P", ">steps", ">interval", ">messages", ">error", ">units"],
        rows,
    )


def notes(findings: list[Finding]) -> list[str]:
    """Return the remarks below the table, machines with the same remark together."""
    machines_of: dict[str, list[str]] = {}
    for finding in findings:
        note = f"cannot run this arm: {finding.machine.note}" if finding.error is None else finding.machine.note
        note = "the torques differ" if finding.agrees is False else note
        if note:
            machines_of.setdefault(note, []).append(finding.machine.name)
    return [f"{'; '.join(names)}: {note}" for note, names in machines_of.items()]


add_command(application, "machines", compare_machines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code: 0, 1 if a machine does not agree, 2 for bad use."""
    return run_application(application, PROGRAM, arguments)


if __name__ == "__main__":
    sys.exit(main())
