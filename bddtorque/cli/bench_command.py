"""``bddtorque bench``: the speed of compiled words beside the float baselines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.base.errors import BddTorqueError
from bddtorque.cli import options as opt
from bddtorque.cli.console import plain_table, show, write_json
from bddtorque.cli.progress import COMPILE, ShownProgress

if TYPE_CHECKING:
    from rich.table import Table

    from bddtorque.bench.chip_bench import ChipFigures
    from bddtorque.bench.fpga_bench import FpgaFigures
    from bddtorque.bench.quantity_timing import QuantityReport
    from bddtorque.bench.timing import Report
    from bddtorque.model.model import Model

TARGETS = ("float", "tables")


@opt.takes(chosen=opt.CHOICES)
def bench_command(
    source_file: Annotated[
        str, typer.Argument(metavar="FILE|SPEC", show_default=False, help="A .bdt file, or what `compile` takes.")
    ],
    states: Annotated[int, typer.Option(metavar="N", help="Random states of one round, a multiple of 64.")] = 25_600,
    rounds: Annotated[int, typer.Option(metavar="N", help="Rounds; each runs every contender once.")] = 15,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same states.")] = 0,
    latency: Annotated[
        bool, typer.Option("--latency", help="Also time single calls: worst, 99.9 %, and with empty caches.")
    ] = False,
    chip: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Count cycles on emulated chips instead: cortex-m0,avr,..."),
    ] = None,
    fpga: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Synthesise the circuit for FPGAs instead: ice40,ecp5,ecp5-25,xc7."),
    ] = None,
    share: Annotated[
        int | None, typer.Option(metavar="N", help="On FPGAs: let products take turns on N multipliers.")
    ] = None,
    io: Annotated[int, typer.Option("--io", metavar="BITS", help="On chips: pass words as int16_t or int32_t.")] = 32,
    plot: opt.PlotOption = None,
    workers: opt.WorkersOption = None,
    no_cache: opt.NoCacheOption = False,
    as_json: opt.JsonOption = False,
    *,
    chosen: dict[str, Any],
) -> None:
    """Measure the evaluators of a model beside float baselines on one core, as ratios from interleaved rounds.

    A robot is compiled for float and for tables, unless --target names one. Run it on an idle machine.
    """
    if states < 64 or states % 64:
        raise BddTorqueError(f"--states must be a multiple of 64, got {states}")
    if rounds < 1:
        raise BddTorqueError(f"--rounds must be at least 1, got {rounds}")
    opt.check_outputs({"--plot": plot})
    if opt.is_compiled(source_file):
        opt.refuse_choices(source_file, chosen)
    if chip is not None:
        _bench_chips(source_file, [each.strip() for each in chip.split(",")], seed, io, chosen, workers, as_json)
        return
    if fpga is not None:
        _bench_fpgas(source_file, [each.strip() for each in fpga.split(",")], share, seed, chosen, workers, as_json)
        return
    opt.refuse_flags({"share": share}, "can only be given with --fpga NAMES")
    from bddtorque.bench.quantity_timing import measure_quantity
    from bddtorque.bench.timing import machine, measure

    variants = [{**chosen, "target": each} for each in ([chosen["target"]] if chosen["target"] else TARGETS)]
    variants = variants[:1] if opt.is_compiled(source_file) else variants
    found, quantities = [], []
    with ShownProgress("bench", {**COMPILE, "preparing": 10.0, "timing": 20.0}, quiet=True) as progress:
        for place, variant in enumerate(variants, 1):
            name = source_file if len(variants) == 1 else f"target {variant['target']}"
            progress.part(name, place, len(variants))
            (model,) = opt.models(source_file, [variant], no_cache, progress, workers=workers)
            if model.named_arrays is None:
                found.append(measure(model, states, rounds, seed, latency, progress=progress))
                continue
            torques = {"plot": plot, "latency": latency or None}
            opt.refuse_flags(torques, f"is for torques, not for {model.provenance.what}")
            quantities.append(measure_quantity(model, states, rounds, seed))
    if quantities:
        _show_quantities(quantities, {"states": states, "rounds": rounds, "seed": seed}, as_json)
        return
    if plot is not None:
        from bddtorque.bench.bench_figure import draw

        draw(found, plot)
    if as_json:
        plain = [each.to_plain() for each in found]
        write_json({"machine": machine(), "states": states, "rounds": rounds, "seed": seed, "reports": plain})
        return
    show(", ".join(f"{name} {value}" for name, value in machine().items()))
    for report in found:
        show()
        show(_timing_table(report))
        show(_call_table(report))
        if report.latency is not None:
            show(_latency_table(report))
    if plot is not None:
        show(f"written: {plot}")


def _show_quantities(found: list[QuantityReport], how: dict[str, int], as_json: bool) -> None:
    """Print the speed of quantities other than torques."""
    from bddtorque.bench.timing import machine

    if as_json:
        write_json({"machine": machine(), **how, "reports": [each.to_plain() for each in found]})
        return
    show(", ".join(f"{name} {value}" for name, value in machine().items()))
    for report in found:
        bits = "/".join(map(str, dict.fromkeys(report.bits)))
        table = plain_table(
            f"{report.robot}, {report.quantity}, {bits} bits, target {report.target}, source {report.source}: time of "
            f"one state, as a ratio to float64 code for any robot, in batches; proved within {report.bound:.3f} units",
            *("|", ">ns", ">ratio", ">spread"),
        )
        for each in report.calls:
            row = (f"{each.nanoseconds:,.1f}", _ratio(each.ratio), f"{_ratio(each.lowest)}–{_ratio(each.highest)}")
            table.add_row(each.name, *row)
        show(table)


def _bench_chips(
    source: str, chips: list[str], seed: int, io: int, chosen: dict[str, Any], workers: int | None, as_json: bool
) -> None:
    """Print what a model takes on emulated chips; a robot in integers is compiled for each of them."""
    from bddtorque.base.workers import step
    from bddtorque.bench.chip_bench import STATES, bench_chips, recommendations

    if chosen["target"] == "integer":
        groups = [([name], {**chosen, "chip": name}) for name in chips]
    else:
        groups = [(chips, chosen)]
    found = []
    with ShownProgress("bench", {**COMPILE, "emulating": 30.0}) as progress:
        for place, (names, choice) in enumerate(groups, 1):
            progress.part(" and ".join(names), place, len(groups))
            (model,) = opt.models(source, [choice], False, progress, workers=workers)
            with step(progress, f"emulating {', '.join(names)}", len(names)):
                for each in bench_chips(model, names, STATES, seed, io):
                    found.append((model, each))
                    progress.advance(f"{each.chip}, {each.way}", float(each.way == "F"), False)
    if as_json:
        figures = [{"target": model.plan.target, **each.to_plain()} for model, each in found]
        advice = recommendations(found)
        plain = {"robot": found[0][0].name, "states": STATES, "seed": seed, "figures": figures}
        write_json({**plain, "recommended": advice} if advice else plain)
        return
    show(chip_table(found[0][0], [each for _, each in found]))
    for _, each in found:
        if each.problem:
            show(f"{each.chip}, {each.way}: {each.problem}")
    for name, said in recommendations(found).items():
        show(f"{name}: {said}")


def _bench_fpgas(
    source: str,
    fpgas: list[str],
    share: int | None,
    seed: int,
    chosen: dict[str, Any],
    workers: int | None,
    as_json: bool,
) -> None:
    """Print what a model takes on FPGAs; a robot is compiled in integers, for logic, unless told otherwise."""
    from bddtorque.base.workers import step
    from bddtorque.bench.fpga_bench import bench_fpga
    from bddtorque.export.fpga_tools import device_named

    for name in fpgas:  # before anything is compiled
        device_named(name)
    target = chosen["target"] or "integer"
    choice = {**chosen, "target": target, **({"chip": "fpga"} if target == "integer" else {})}
    with ShownProgress("bench", {**COMPILE, "synthesising": 60.0}) as progress:
        (model,) = opt.models(source, [choice], False, progress, workers=workers)
        found = []
        with step(progress, f"synthesising {model.name} for {', '.join(fpgas)}", len(fpgas)):
            for each in bench_fpga(model, fpgas, share, seed=seed):
                found.append(each)
                progress.advance(f"{each.fpga}, {each.way}", 0.5, False)
    if as_json:
        figures = [each.to_plain() for each in found]
        write_json({"robot": model.name, "target": model.plan.target, "seed": seed, "figures": figures})
        return
    show(fpga_table(model, found))
    for each in found:
        if each.problem:
            show(f"{each.fpga}, {each.way}: {each.problem}")


def chip_table(model: Model, found: Sequence[ChipFigures]) -> Table:
    """Return what a model takes on chips, one row per chip and way; ways that could not be measured are left out."""
    table = plain_table(
        f"{_title(model)}: cycles of one call with input checks (-Os or -O2, the faster), bytes that it adds to a "
        "program, largest error found and proved, in units. X: fixed point tuned on random states, unproved. F: "
        "float32 with a sine table",
        *("|chip", "|way", "|flags", ">mean", ">max", ">flash", ">RAM", ">stack", ">error", ">proved"),
    )
    for each in found:
        if each.problem:
            continue
        counts = (each.highest, each.flash, each.ram, each.stack)
        proved = "no" if each.bound is None else f"{each.bound:.3f}"
        table.add_row(
            each.chip, each.way, each.flags, f"{each.mean:,.0f}", *(f"{count:,}" for count in counts),
            f"{each.error:.3f}", proved,
        )  # fmt: skip
    return table


def fpga_table(model: Model, found: Sequence[FpgaFigures]) -> Table:
    """Return what a model takes on FPGAs likewise."""
    table = plain_table(
        f"{_title(model)}: cells, clock frequency after routing, clocks from a state to its words (wait) and to the "
        f"next state (every), states per second; proved within {max(model.certificate.bounds):.3f} units. LUT: logic "
        "cells on the iCE40. S: straightforward, words of one length, a multiplication per product and constant",
        *("|fpga", "|way", ">LUT", ">FF", ">BRAM", ">DSP", ">MHz", ">wait", ">every", ">states/s"),
    )
    for each in found:
        if each.problem:
            continue
        counts = (each.luts, each.flip_flops, each.memories, each.multipliers)
        rate = "" if each.states_per_second is None else f"{each.states_per_second:,.0f}"
        table.add_row(
            each.fpga, "S" if each.way == "straightforward" else each.way, *(f"{count:,g}" for count in counts),
            "" if each.mhz is None else f"{each.mhz:.1f}", str(each.latency), str(each.interval), rate,
        )  # fmt: skip
    return table


def _title(model: Model) -> str:
    bits = "/".join(map(str, dict.fromkeys(model.formats.tau.bits)))
    return f"{model.name}, {bits} bits, target {model.plan.target}"


def _timing_table(report: Report) -> Table:
    from rich.filesize import decimal

    bits = "/".join(map(str, dict.fromkeys(report.bits)))
    table = plain_table(
        f"{report.robot}, {bits} bits, target {report.target}, source {report.source}: time of one state, as a ratio "
        "to float32 with a sine table and to the float32 vector batch; bytes of all tables, and those that one state "
        f"reads; * proved within {report.bound:.3f} units",
        *("", ">ns", ">ratio", ">spread", ">vector", ">tables", ">reads"),
    )
    for each in report.timings:
        sizes = ("", "") if each.sizes is None else (decimal(each.sizes.tables), decimal(each.sizes.touched))
        table.add_row(
            f"{'*' if each.proved else ' '} {each.name}",
            f"{each.nanoseconds:,.{0 if each.nanoseconds >= 100 else 1}f}",
            _ratio(each.ratio),
            f"{_ratio(each.lowest)}–{_ratio(each.highest)}",
            _ratio(each.vector_ratio),
            *sizes,
        )
    return table


def _ratio(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 100 else f"{ratio:,.0f}"


def _call_table(report: Report) -> Table:
    title = "From Python, one state: as a multiple of an empty compiled call with the same four arrays"
    table = plain_table(title, "|", ">ns", ">ratio", ">spread")
    for each in report.calls:
        spread = f"{each.lowest:.2f} to {each.highest:.2f}"
        table.add_row(each.name, f"{each.nanoseconds:,.0f}", f"{each.ratio:.2f}", spread)
    return table


def _latency_table(report: Report) -> Table:
    latency = report.latency
    assert latency is not None
    sizes = report.timing("words, one state at a time").sizes
    table = plain_table("One call of the kernel in a compiled loop, nothing overlapping it", "|", ">ns")
    for name, value in (
        ("median", latency.median),
        ("99.9 %", latency.most),
        ("slowest state, at its best", latency.worst_state),
        (f"worst of {latency.calls:,} calls, interruptions included", latency.worst),
        ("data caches empty, median", latency.cold),
        (f"data caches empty, worst of {latency.cold_calls}", latency.cold_worst),
    ):
        table.add_row(name, f"{value:,.0f}")
    if sizes is not None:
        table.add_row("bytes of tables that a state reads", f"{sizes.touched:,} B")
    return table
