"""``bddtorque bench``: the speed of compiled words beside the float baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.base.errors import BddTorqueError
from bddtorque.bench.bench_options import ChipBench, FpgaBench, MachineBench
from bddtorque.cli import options as opt
from bddtorque.cli.console import ShownTable, show, write_json
from bddtorque.cli.options import options_of, record_of, refuse_unused
from bddtorque.cli.progress import COMPILE, ShownProgress

if TYPE_CHECKING:
    from bddtorque.bench.chip_bench import ChipFigures
    from bddtorque.bench.fpga_bench import FpgaFigures
    from bddtorque.bench.timing import BenchReport
    from bddtorque.model.model import Model

COMPARED = ("float", "tables")
"""Targets that a robot is compiled for where none is named."""


RECORDS = [MachineBench, ChipBench, FpgaBench]


@opt.takes(chosen=opt.CHOICES, how=options_of(*RECORDS))
def bench_command(
    source_file: opt.SourceArgument,
    chip: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Count cycles on emulated chips instead: cortex-m0,avr,..."),
    ] = None,
    fpga: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Synthesise the circuit for FPGAs instead: ice40,ecp5,ecp5-25,xc7."),
    ] = None,
    workers: opt.WorkersOption = None,
    no_cache: opt.NoCacheOption = False,
    as_json: opt.JsonOption = False,
    *,
    chosen: dict[str, Any],
    how: dict[str, Any],
) -> None:
    """Measure the evaluators of a model beside float baselines on one core, as ratios from interleaved rounds.

    A robot is compiled for float and for tables, unless --target names one. Run it on an idle machine.

    Example: bddtorque bench planar2r.bdt --latency

    Example: bddtorque bench ur5 --rounds 25
    """
    if chip is not None and fpga is not None:
        raise BddTorqueError("--chip and --fpga are measured one at a time: leave one of them out")
    asked = MachineBench if chip is None and fpga is None else ChipBench if fpga is None else FpgaBench
    refuse_unused(how, [asked], RECORDS)
    options = record_of(asked, how)
    if opt.is_compiled(source_file):
        opt.refuse_choices(source_file, chosen)
    compiling = Compiling(source_file, chosen, no_cache, workers)
    names = [name.strip() for name in (chip or fpga or "").split(",")]
    match options:
        case ChipBench():
            _bench_chips(compiling, names, options, as_json)
        case FpgaBench():
            _bench_fpgas(compiling, names, options, as_json)
        case MachineBench():
            _bench_machine(compiling, options, as_json)


@dataclass(frozen=True)
class Compiling:
    """The model to measure: a file, or a robot to compile first."""

    source: str
    chosen: dict[str, Any]
    no_cache: bool
    workers: int | None

    def model(self, progress: ShownProgress, **choices: Any) -> Model:
        """Return the model, compiled with some more choices."""
        variant = {**self.chosen, **choices}
        (made,) = opt.models(self.source, [variant], self.no_cache, progress, functions=True, workers=self.workers)
        return made


def _bench_machine(compiling: Compiling, options: MachineBench, as_json: bool) -> None:
    """Print the speed of a model on this machine."""
    from bddtorque.bench.timing import machine, measure

    target = compiling.chosen["target"]
    targets: Sequence[str | None] = [target] if target or opt.is_compiled(compiling.source) else COMPARED
    found = []
    with ShownProgress("bench", {**COMPILE, "preparing": 10.0, "timing": 20.0}, quiet=True) as progress:
        for place, each in enumerate(targets, 1):
            progress.part(compiling.source if len(targets) == 1 else f"target {each}", place, len(targets))
            model = compiling.model(progress, target=each)
            found.append(measure(model, options.states, options.rounds, options.seed, options.latency, progress))
    if as_json:
        said = {name: getattr(options, name) for name in ("states", "rounds", "seed")}
        write_json({"machine": machine(), **said, "reports": [each.to_plain() for each in found]})
        return
    show(", ".join(f"{name} {value}" for name, value in machine().items()))
    for report in found:
        show()
        show(_timing_table(report))
        show()
        show(_call_table(report))
        if report.latency is not None:
            show()
            show(_latency_table(report))


def _bench_chips(compiling: Compiling, chips: list[str], options: ChipBench, as_json: bool) -> None:
    """Print what a model takes on emulated chips; a robot whose target plans for a chip is compiled for each."""
    from bddtorque.base.workers import step
    from bddtorque.bench.chip_bench import STATES, bench_chips, recommendations

    groups: list[tuple[list[str], dict[str, Any]]] = [(chips, {})]
    if _plans_for_chips(compiling.chosen["target"]):
        groups = [([name], {"chip": name}) for name in chips]
    found = []
    with ShownProgress("bench", {**COMPILE, "emulating": 30.0}) as progress:
        for place, (names, choices) in enumerate(groups, 1):
            progress.part(" and ".join(names), place, len(groups))
            model = compiling.model(progress, **choices)
            with step(progress, f"emulating {', '.join(names)}", len(names)):
                for each in bench_chips(model, names, STATES, options.seed, options.io):
                    found.append((model, each))
                    progress.advance(f"{each.chip}, {each.way}", float(each.way == "F"), False)
    if as_json:
        figures = [{"target": model.plan.target, **each.to_plain()} for model, each in found]
        advice = recommendations(found)
        plain = {"name": found[0][0].provenance.title, "states": STATES, "seed": options.seed, "figures": figures}
        write_json({**plain, "recommended": advice} if advice else plain)
        return
    show(chip_table(found[0][0], [each for _, each in found]))
    for _, each in found:
        if each.problem:
            show(f"{each.chip}, {each.way}: {each.problem}")
    for name, said in recommendations(found).items():
        show(f"{name}: {said}")


def _plans_for_chips(target: str | None) -> bool:
    """Tell if a target plans for one chip rather than another."""
    from bddtorque.targets import TARGETS

    return target in TARGETS and "chip" in TARGETS[target].options


def _bench_fpgas(compiling: Compiling, fpgas: list[str], options: FpgaBench, as_json: bool) -> None:
    """Print what a model takes on FPGAs; a robot is compiled in integers, for logic, unless told otherwise."""
    from bddtorque.base.workers import step
    from bddtorque.bench.fpga_bench import bench_fpga
    from bddtorque.export.fpga_tools import device_named

    for name in fpgas:  # before anything is compiled
        device_named(name)
    target = compiling.chosen["target"] or "integer"
    choices = {"target": target, **({"chip": "fpga"} if _plans_for_chips(target) else {})}
    with ShownProgress("bench", {**COMPILE, "synthesising": 60.0}) as progress:
        model = compiling.model(progress, **choices)
        found = []
        with step(progress, f"synthesising {model.name} for {', '.join(fpgas)}", len(fpgas)):
            for each in bench_fpga(model, fpgas, options.share, seed=options.seed):
                found.append(each)
                progress.advance(f"{each.fpga}, {each.way}", 0.5, False)
    if as_json:
        figures = [each.to_plain() for each in found]
        said = {"name": model.provenance.title, "target": model.plan.target, "seed": options.seed}
        write_json({**said, "figures": figures})
        return
    show(fpga_table(model, found))
    for each in found:
        if each.problem:
            show(f"{each.fpga}, {each.way}: {each.problem}")


def chip_table(model: Model, figures: Sequence[ChipFigures]) -> ShownTable:
    """Return what a model takes on chips, one row per chip and way; ways that could not be measured are left out."""
    rows = []
    for chip in (chip for chip in figures if not chip.problem):
        counts = (chip.mean, chip.highest, chip.flash, chip.ram, chip.stack)
        proved = "no" if chip.bound is None else f"{chip.bound:.3f}"
        shown = [*(f"{count:,.0f}" for count in counts), f"{chip.error:.3f}", proved]
        rows.append([chip.chip, chip.way, chip.flags, *shown])
    return ShownTable(
        f"{_title(model)}: cycles of one call with input checks (-Os or -O2, the faster), bytes that it adds to a "
        "program, largest error found and proved, in units. X: fixed point tuned on random states, unproved. F: "
        "float32 with a sine table",
        ["chip", "way", "flags", ">mean", ">max", ">flash", ">RAM", ">stack", ">error", ">proved"],
        rows,
    )


def fpga_table(model: Model, figures: Sequence[FpgaFigures]) -> ShownTable:
    """Return what a model takes on FPGAs likewise."""
    rows = []
    for fpga in (fpga for fpga in figures if not fpga.problem):
        counts = (fpga.luts, fpga.flip_flops, fpga.memories, fpga.multipliers)
        rate = "" if fpga.states_per_second is None else f"{fpga.states_per_second:,.0f}"
        speed = ["" if fpga.mhz is None else f"{fpga.mhz:.1f}", str(fpga.latency), str(fpga.interval), rate]
        way = "S" if fpga.way == "straightforward" else fpga.way
        rows.append([fpga.fpga, way, *(f"{count:,g}" for count in counts), *speed])
    return ShownTable(
        f"{_title(model)}: cells, clock frequency after routing, clocks from a state to its words (wait) and to the "
        f"next state (every), states per second; proved within {max(model.certificate.bounds):.3f} units. LUT: logic "
        "cells on the iCE40. S: straightforward, words of one length, a multiplication per product and constant",
        ["fpga", "way", ">LUT", ">FF", ">BRAM", ">DSP", ">MHz", ">wait", ">every", ">states/s"],
        rows,
    )


def _title(model: Model) -> str:
    bits = "/".join(map(str, dict.fromkeys(word.bits for word in model.formats.results.values())))
    return f"{model.provenance.title}, {bits} bits, target {model.plan.target}"


def _timing_table(report: BenchReport) -> ShownTable:
    from rich.filesize import decimal

    rows = []
    for timing in report.timings:
        sizes = ("", "") if timing.sizes is None else (decimal(timing.sizes.tables), decimal(timing.sizes.touched))
        nanoseconds = f"{timing.nanoseconds:,.{0 if timing.nanoseconds >= 100 else 1}f}"
        spread = f"{_ratio(timing.lowest)}–{_ratio(timing.highest)}"
        ratios = [_ratio(timing.ratio), spread, _ratio(timing.vector_ratio)]
        rows.append([f"{'*' if timing.proved else ' '} {timing.name}", nanoseconds, *ratios, *sizes])
    return ShownTable(
        f"{report.name}, {'/'.join(map(str, dict.fromkeys(report.bits)))} bits, target {report.target}, source "
        f"{report.source}: time of one state, as a ratio to {report.baseline} and to the float32 vector batch; bytes "
        f"of all tables, and those that one state reads; * proved within {report.bound:.3f} units",
        ["", ">ns", ">ratio", ">spread", ">vector", ">tables", ">reads"],
        rows,
    )


def _ratio(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 100 else f"{ratio:,.0f}"


def _call_table(report: BenchReport) -> ShownTable:
    title = "From Python, one state: as a multiple of an empty compiled call with the same arrays"
    rows = [
        (call.name, f"{call.nanoseconds:,.0f}", f"{call.ratio:.2f}", f"{call.lowest:.2f} to {call.highest:.2f}")
        for call in report.calls
    ]
    return ShownTable(title, ["", ">ns", ">ratio", ">spread"], rows)


def _latency_table(report: BenchReport) -> ShownTable:
    latency = report.latency
    assert latency is not None
    below = f"below its resolution ({latency.resolution:.2g} ns)"
    figures = {
        "median": latency.median,
        "99.9 %": latency.most,
        "slowest state, at its best": latency.worst_state,
        f"worst of {latency.calls:,} calls, interruptions included": latency.worst,
        "data caches empty, median": latency.cold,
        f"data caches empty, worst of {latency.cold_calls}": latency.cold_worst,
    }
    rows = [(name, below if value is None else f"{value:,.0f}") for name, value in figures.items()]
    sizes = report.timing("words, one state at a time").sizes
    rows += [("bytes of tables that a state reads", f"{sizes.touched:,} B")] if sizes is not None else []
    title = "One call of the kernel in a compiled loop, nothing overlapping it, by the time stamp"
    return ShownTable(title, ["", ">ns"], rows)
