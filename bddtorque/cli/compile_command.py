"""``bddtorque compile``: from a specification to a proved .bdt file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.base.errors import BddTorqueError
from bddtorque.cli import options as opt
from bddtorque.cli.choices import BitsOption, takes_choices
from bddtorque.cli.console import ShownProgress, output, write_json
from bddtorque.cli.sample_options import (
    RULES,
    AssumedOption,
    DuplicatesOption,
    ExtrapolationOption,
    GapsOption,
    MergeOption,
    SamplesOption,
    SpreadOption,
    WordOption,
    compile_data,
)

if TYPE_CHECKING:
    from bddtorque.model.model import Model


@takes_choices
def compile_command(
    spec: Annotated[
        str | None,
        typer.Argument(
            metavar="SPEC",
            show_default=False,
            help="A built-in name, a specification (.toml), or a robot (.toml, .urdf); none with --samples.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The file to write; SPEC's name with .bdt unless given."),
    ] = None,
    bits: BitsOption = None,
    plan: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A plan that `bddtorque plan -o` wrote; refused unless it is made again."),
    ] = None,
    write_spec: Annotated[
        Path | None,
        typer.Option(
            "--write-spec", metavar="FILE", help="Write all that was compiled as a specification, nothing left open."
        ),
    ] = None,
    engine: opt.EngineOption = "auto",
    workers: opt.WorkersOption = None,
    dask: opt.DaskOption = None,
    no_cache: opt.NoCacheOption = False,
    as_json: opt.JsonOption = False,
    samples: SamplesOption = None,
    word: WordOption = None,
    duplicates: DuplicatesOption = None,
    spread: SpreadOption = None,
    merge: MergeOption = None,
    gaps: GapsOption = None,
    extrapolation: ExtrapolationOption = None,
    assumed_error: AssumedOption = None,
    *,
    chosen: dict[str, Any],
) -> None:
    """Compile a robot, or measured data, into tables and diagrams, prove the bound, and write one .bdt file."""
    rules = dict(zip(RULES, (duplicates, spread, merge, gaps, extrapolation, assumed_error), strict=True))
    if samples is not None:
        others = {**chosen, "SPEC": spec, "bits": bits, "plan": plan, "write_spec": write_spec, "dask": dask}
        _refuse_flags(others, f"{samples}: --samples takes no SPEC and no option of a robot")
        path = output_path(str(samples), out or Path(f"{samples.stem}.bdt"), "samples")
        compile_data(samples, path, word or [], rules, engine, as_json)
        return
    _refuse_flags({**rules, "word": word}, "compile: --samples required as well")
    if spec is None:
        raise BddTorqueError(
            "compile: SPEC (a name, a specification or a robot) or --samples FILE required, none given"
        )
    _refuse_data(spec)
    chosen["bits"] = None if bits is None else opt.read_bits(bits)
    path = output_path(spec, out or Path(f"{Path(spec).stem}.bdt"))
    if write_spec is not None and output_path(spec, write_spec).resolve() == path.resolve():
        raise BddTorqueError(f"{write_spec}: another file for the specification than for the model required")
    model, report = timed_compile(spec, chosen, engine, workers, no_cache, plan, dask)
    model.save(path)
    report |= {"file": str(path), "file_bytes": path.stat().st_size}
    if write_spec is not None:
        from bddtorque.spec import save_spec

        save_spec(model.spec, write_spec, report["notes"])
        report["spec_file"] = str(write_spec)
    if as_json:
        write_json({**model.summary(), "report": report, "certificate": model.certificate.to_plain()})
        return
    from bddtorque.cli.describing import compile_lines, format_table, grid

    console = output()
    console.print(grid(compile_lines(model, report)))
    console.print()
    if model.spec.bare:  # nobody wrote down what the words mean
        console.print(format_table(model))
        console.print()
    console.print(str(model.certificate), soft_wrap=True)


def _refuse_flags(options: dict[str, Any], required: str) -> None:
    """Refuse options that are given, and name them."""
    said = [name for name, value in options.items() if value is not None and value != []]
    given = [name if name.isupper() else f"--{name.replace('_', '-')}" for name in said]
    if given:
        raise BddTorqueError(f"{required}, {', '.join(given)} given")


def refuse_compiled(spec: str) -> None:
    """Refuse a compiled model where a specification or a robot belongs."""
    if Path(spec).suffix.lower() == ".bdt":
        raise BddTorqueError(f"{spec}: a specification or a robot required, a compiled model given")


def _refuse_data(spec: str) -> None:
    """Refuse measured data where a specification or a robot belongs, and say where it belongs."""
    suffix = Path(spec).suffix
    if suffix.lower() in (".csv", ".npy"):
        measured = f"; measured data: --samples {spec}" if suffix.lower() == ".csv" else ""
        raise BddTorqueError(
            f"{spec}: a specification or robot (.toml, .urdf) required, {suffix.lower()} given{measured}"
        )


def output_path(spec: str, path: Path, kind: str = "specification") -> Path:
    """Return where something goes; refuse, before any work, a place that cannot be written or is the input itself.

    `kind` is what messages call the input.
    """
    refuse_compiled(spec)
    if not path.parent.is_dir():
        raise BddTorqueError(f"{path}: a file in a folder that exists required, there is no folder '{path.parent}'")
    if path.is_dir():
        raise BddTorqueError(f"{path}: a file to write required, this is a folder")
    if path.exists() and Path(spec).exists() and path.samefile(spec):
        raise BddTorqueError(f"{path}: another file than the {kind} required, it would be overwritten")
    return path


def timed_compile(
    spec: str,
    chosen: dict[str, Any],
    engine: str,
    workers: int | None,
    no_cache: bool,
    plan: Path | None = None,
    dask: str | None = None,
) -> tuple[Model, dict[str, Any]]:
    """Compile, and return the model with its report: times, cold start, blocks from the cache, memory."""
    started = time.perf_counter()
    from bddtorque.cli.cold_start import numba_seconds
    from bddtorque.compiler.compiling import compile as compile_model
    from bddtorque.work import usable_processors

    ready = time.perf_counter()
    with numba_seconds() as cold, opt.cluster(dask) as executor:
        processors = (workers or usable_processors()) if executor is None else executor.threads
        progress = ShownProgress(processors=processors)
        model = compile_model(
            spec,
            workers=workers,
            executor=executor,
            cache=None if no_cache else "default",
            progress=progress,
            engine=engine,
            plan=plan,
            **chosen,
        )
    report = {
        **model.report,
        "start_seconds": ready - started,
        "numba_seconds": cold.seconds,
        "blocks_from_cache": progress.cached,
    }
    return model, report
