"""``bddtorque sweep``: compiled models beside their true values in float64."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.record import OptionRecord, option
from bddtorque.base.shown_text import counted
from bddtorque.cli import options as opt
from bddtorque.cli.console import ShownTable, say, show, write_json
from bddtorque.cli.progress import COMPILE, ShownProgress

if TYPE_CHECKING:
    from bddtorque.model.model import Model
    from bddtorque.sweeps import OutputSweep, Sweep, Trajectory

BUILT_IN = ("quintic", "sine")
STEPS = {"preparing": 2.0, "sweeping": 6.0, "searching": 2.0, "measuring": 2.0}
"""Steps after a compilation, and about how long each takes."""
ERRORS = {
    "tables": "The compiled words, at the exact values of the input words: proved, and found",
    "inputs": "What the input words themselves cost, before anything is computed",
    "total": "Both together: compiled outputs against true ones at the states",
}


@dataclass(frozen=True, kw_only=True)
class SweepOptions(OptionRecord):
    """A sweep: its states, what is measured, and what is shown of it."""

    states: int = option(100_000, "N", "Random states; a corner state is added for every eight.")
    seed: int = option(0, "N", "The same seed gives the same states.")
    search: int | None = option(None, "N", "States tried in search of the worst; default: one for every eight.")
    trajectory: str | None = option(
        None, "NAME|FILE", "Sweep along it: quintic, sine, or a .csv or .npy file of states."
    )
    outputs: bool = option(False, None, "Also the errors of each output: root mean square and percentiles.")
    terms: bool = option(False, None, "Also the error of each term of the torques by itself.")
    cost: bool = option(False, None, "Also size and speed; several models are always compared by them.")
    csv: Path | None = option(None, "FILE", "Write all figures there.")
    plot: Path | None = option(None, "FILE", "Write a plot: .png, .pdf or .svg.")
    evaluator: str = option("words", "NAME", "words (fast) or bits; the same words.")

    def __post_init__(self) -> None:
        if self.search is not None and self.search < 0:
            raise BddTorqueError(f"search must be at least 0, got {self.search}", option="search")


@opt.takes(chosen=opt.CHOICES)
def sweep_command(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SPEC|FILE...", show_default=False, help="What `compile` takes, or .bdt files."),
    ],
    options: SweepOptions,
    bits: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=opt.PANEL, metavar="BITS", help="Word lengths to compare: 6:12 (to 12), or 6,8,12."
        ),
    ] = None,
    engine: opt.EngineOption = "auto",
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", help="Threads to measure, processes to compile; default: all processors."),
    ] = None,
    dask: opt.DaskOption = None,
    no_cache: opt.NoCacheOption = False,
    as_json: opt.JsonOption = False,
    *,
    chosen: dict[str, Any],
) -> None:
    """Compare compiled words with true values in float64 on random, corner and worst states, or along a trajectory.

    Exit code 1 if an error is found that is larger than the proved bound, or a true value beyond words that cannot
    saturate.

    Example: bddtorque sweep planar2r.bdt --states 100000 --plot errors.png

    Example: bddtorque sweep planar2r --bits 6:12 --csv bits.csv

    Example: bddtorque sweep ur5.bdt puma560.bdt --plot models.png
    """
    lengths = None if bits is None else opt.read_word_lengths(bits)
    opt.check_outputs({"--csv": options.csv, "--plot": options.plot}, [*sources, options.trajectory])
    _check_sources(sources, lengths, chosen)
    from bddtorque.sweeps import sweep

    several = len(sources) > 1 or len(lengths or ()) > 1
    stems = [Path(source).stem for source in sources]
    labels = stems if len(set(stems)) == len(stems) else sources
    variants = [{**chosen, "bits": length} for length in lengths or (None,)]
    jobs = [
        (label, source, variant)
        for label, source in zip(labels, sources, strict=True)
        for variant in (variants[:1] if opt.is_compiled(source) else variants)
    ]
    sweeps: list[Sweep] = []
    steps = {**(COMPILE if any(not opt.is_compiled(source) for source in sources) else {}), **STEPS}
    with opt.cluster(dask) as executor, ShownProgress("sweep", steps) as progress:
        for place, (label, source, variant) in enumerate(jobs, 1):
            name = " ".join([label] * (len(sources) > 1) + [f"{variant['bits']} bits"] * (variant["bits"] is not None))
            progress.part(name or label, place, len(jobs))
            how = {"workers": workers, "executor": executor, "engine": engine}
            (model,) = opt.models(source, [variant], no_cache, progress, functions=True, **how)
            sweeps.append(
                sweep(
                    model,
                    options.states,
                    options.seed,
                    evaluator=options.evaluator,
                    trajectory=_trajectory(options.trajectory, model),
                    searched=options.search,
                    terms=options.terms,
                    cost=options.cost or several,
                    label=label if len(sources) > 1 else "",
                    workers=workers,
                    executor=executor,
                    cache=None if no_cache else "default",
                    progress=progress,
                )
            )
        written = _written(sweeps, options.csv, options.plot)
    if not as_json:
        show_sweeps(sweeps, written, options.outputs)
    _finish(sweeps, as_json)


def _finish(sweeps: Sequence[Sweep], as_json: bool) -> None:
    """Print JSON if asked for, and say which outputs refute their certificate: exit code 1 if any does."""
    exceeding = [(sweep, output) for sweep in sweeps for output in sweep.exceeding]
    refuted = [(sweep, output) for sweep in sweeps for output in sweep.refuted_ranges]
    if as_json:
        verdicts = {"exceeds": bool(exceeding), "range_refuted": bool(refuted)}
        write_json({**verdicts, "sweeps": [sweep.to_plain() for sweep in sweeps]})
    for sweep, output in exceeding:
        say(
            f"found more than proved: {output.output} of {sweep.name} at {output.bits} bits, {output.found:.6g} units "
            f"found, {output.proved:.6g} proved, at the words {output.worst}"
        )
    for sweep, output in refuted:
        say(
            f"certified as unable to saturate, but it does: {output.output} of {sweep.name} at {output.bits} bits, "
            f"{counted(output.saturated, 'true_values')} out of range, by up to {output.overshoot:.6g} units, at the "
            f"words {output.overshoot_words}"
        )
    if exceeding or refuted:
        raise typer.Exit(1)


def _written(sweeps: Sequence[Sweep], csv: Path | None, plot: Path | None) -> list[Path]:
    """Write the files that were asked for and return them."""
    written = []
    if csv is not None:
        from bddtorque.base.files import write_whole
        from bddtorque.sweeps.figures import to_csv

        write_whole(csv, to_csv(sweeps).encode())
        written.append(csv)
    if plot is not None:
        from bddtorque.sweeps.drawing import save_figure
        from bddtorque.sweeps.sweep_pictures import figure_of

        save_figure(partial(figure_of, sweeps), plot)
        written.append(plot)
    return written


def _trajectory(wanted: str | None, model: Model) -> Trajectory | str | None:
    """Return a trajectory by name, or the states of a file."""
    if wanted is None or wanted in BUILT_IN:
        return wanted
    path = Path(wanted)
    if path.suffix.lower() not in (".csv", ".npy"):
        raise BddTorqueError(f"--trajectory must be quintic, sine, or a .csv or .npy file, got {wanted!r:.60}")
    from bddtorque.cli.eval_command import read_arrays
    from bddtorque.sweeps import from_states

    return from_states(path.name, **read_arrays(path, model.formats))


def _check_sources(sources: Sequence[str], lengths: list[int] | None, chosen: dict[str, Any]) -> None:
    """Refuse, before any work, options for `compile` where something is compiled already, and what cannot be read."""
    compiled = [source for source in sources if opt.is_compiled(source)]
    if compiled:
        opt.refuse_choices(compiled[0], {**chosen, "bits": lengths})
    if len(sources) > 1:  # nobody wants to wait for the first to hear that the second is not there
        from bddtorque.spec.spec_files import spec_and_robot

        for source in sources:
            if source not in compiled:
                spec_and_robot(source, {name: value for name, value in chosen.items() if value is not None})
            elif not Path(source).is_file():
                raise BddTorqueError(f"{source}: there is no such file")


def show_sweeps(sweeps: Sequence[Sweep], files: Sequence[Path], outputs: bool) -> None:
    """Show what sweeps found: whether it is within what is proved, the largest errors, then what was asked for.

    `outputs` adds one table per kind of error with every figure of every output.
    """
    first = sweeps[0]
    names = ", ".join(dict.fromkeys(sweep.name for sweep in sweeps))
    show(f"{names}: {_states(first)}, seed {first.seed}, against true values in float64")
    every = [output for sweep in sweeps for output in sweep.outputs]
    _show_verdict(every)
    tables = [_summary(sweeps)]
    tables += [_errors(sweeps, kind, title) for kind, title in ERRORS.items()] if outputs else []
    tables += [_terms(sweep) for sweep in sweeps if sweep.terms]
    tables += [_costs(sweeps)] if any(sweep.cost for sweep in sweeps) else []
    for table in tables:
        show()
        show(table)
    if saturated := sum(output.saturated for output in every):
        show(f"{saturated:,} true values lay beyond the range of their words and were compared at its end")
    if outside := sum(sweep.outside for sweep in sweeps):
        show(f"values of the trajectory out of range: {outside:,} (angles wrap, others were saturated)")
    for path in files:
        show(f"written: {path}")
    if not outputs:
        show("--outputs shows every output with root mean square and percentiles")


def _show_verdict(outputs: Sequence[OutputSweep]) -> None:
    """Show whether all that was found agrees with the certificates."""
    exceeding, refuted = sum(output.exceeds for output in outputs), sum(output.range_refuted for output in outputs)
    every = counted(len(outputs), "outputs")
    if exceeding:
        show(f"{exceeding:,} of {every} EXCEED the proved bound")
    else:
        show(f"Every error found is within its proved bound ({every})")
    if refuted:
        show(f"{refuted:,} of {every} SATURATE, which their certificates exclude")


def _states(sweep: Sweep) -> str:
    searched = f", {sweep.searched:,} more in search of the worst" if sweep.searched else ""
    if sweep.along:
        return f"{sweep.states:,} states of the trajectory {sweep.along}{searched}"
    return f"{sweep.states:,} random and {sweep.corners:,} corner states{searched}"


def _summary(sweeps: Sequence[Sweep]) -> ShownTable:
    """Return the largest errors: one row per output of one model, else one per model.

    Word lengths are compared by one output; of other models each has the one that comes nearest to its bound.
    """
    from bddtorque.sweeps.figures import compared_output

    several, compared = len(sweeps) > 1, compared_output(sweeps) if len(sweeps) > 1 else None
    heads = ["output"] if not several else [] if compared is not None else ["model", "output"]
    rows = []
    for sweep in sweeps:
        nearest = max(sweep.outputs, key=lambda output: output.found / (output.proved or 1.0))
        nearest = nearest if compared is None else sweep.outputs[compared]
        for output in [nearest] if several else sweep.outputs:
            names = {"model": sweep.name, "output": output.output}
            errors = (output.proved, output.found, output.inputs.largest, output.total.largest)
            row = [str(output.bits), f"{output.proved * output.lsb:.3g}", output.unit, *(f"{e:.3f}" for e in errors)]
            rows.append([*(names[head] for head in heads), *row, "EXCEEDS" if output.exceeds else "within"])
    of = " Of the output nearest to its bound:" * several
    if compared is not None:
        of = f" In every row of {sweeps[0].outputs[compared].output}, whose error is largest:"
    return ShownTable(
        f"Errors of the compiled words.{of} what is proved, in its unit; then in units of the last bit: proved, "
        "the largest found, what the input words cost by themselves, and both together",
        [*heads, ">bits", ">at most", "", ">proved", ">found", ">inputs", ">both", ""],
        rows,
    )


def _errors(sweeps: Sequence[Sweep], kind: str, title: str) -> ShownTable:
    """Return one kind of error, two rows per output: in units of the last bit, and in its own unit."""
    proved = kind == "tables"
    several = len({sweep.name for sweep in sweeps}) > 1
    rows: list[list[str]] = []
    for sweep in sweeps:
        rows += [[f"{sweep.name}:"]] * several
        for output in sweep.outputs:
            figures = getattr(output, kind).to_plain()
            largest = [output.proved, output.found] if proved else [figures["max"]]
            units = [*largest, *(figures[name] for name in ("rms", "p50", "p99", "p99.9"))]
            verdict = (", EXCEEDS" if output.exceeds else ", within") if proved else ""
            rows.append([output.output, str(output.bits), *(f"{value:.3f}" for value in units), f"units{verdict}"])
            rows.append(["", "", *(f"{value * output.lsb:.2g}" for value in units), output.unit])
    heads = [*([">proved"] if proved else []), ">found", ">rms", ">p50", ">p99", ">p99.9", ""]
    return ShownTable(title, ["output", ">bits", *heads], rows)


def _terms(sweep: Sweep) -> ShownTable:
    """Return the terms of each torque, the largest error first, and what rounding their sums adds."""
    rows = []
    for k, output in enumerate(sweep.outputs):
        own = sorted((term for term in sweep.terms if term.torque == k), key=lambda term: -term.largest)
        for place, term in enumerate(own):
            values = [f"{term.value:.2f}" if term.value else "", f"{term.largest:.4f}", f"{term.rms:.4f}"]
            rows.append(["" if place else output.output, term.name, *values, "dropped" if term.dropped else ""])
    title = f"{sweep.name}, {sweep.bits} bits: error of each term by itself, in units of the torque's last bit"
    return ShownTable(title, ["output", "term", ">largest value", ">found", ">rms", ""], rows)


def _costs(sweeps: Sequence[Sweep]) -> ShownTable:
    """Return one row per model: size and speed."""
    rows = []
    for sweep in sweeps:
        if (cost := sweep.cost) is not None:
            sizes = (f"{size:,}" for size in (cost.file_bytes, cost.table_bytes, cost.nodes))
            rows.append([sweep.name, sweep.bits, *sizes, f"{cost.ns_per_state:,.0f}", f"{cost.ratio:.2f}"])
    return ShownTable(
        "Size and speed: bytes; processor time of a state in a batch, and as a share of that of true values in float64",
        ["model", ">bits", ">file", ">tables", ">nodes", ">ns", ">of float64"],
        rows,
    )
