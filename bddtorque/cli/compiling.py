"""``bddtorque compile``: from a specification to a proved .bdt file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.cli import options as opt
from bddtorque.cli.console import ShownProgress, output, write_json
from bddtorque.errors import BddTorqueError

if TYPE_CHECKING:
    from bddtorque.model import Model


def compile_command(
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC",
            show_default=False,
            help="A built-in name, a specification (.toml), or a robot (.toml, .urdf).",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The file to write; SPEC's name with .bdt unless given."),
    ] = None,
    bits: Annotated[
        str | None,
        typer.Option(rich_help_panel=opt.PANEL, metavar="BITS", help="Word length of the torques: 12, or one a joint."),
    ] = None,
    input_bits: opt.InputBitsOption = None,
    accuracy: opt.AccuracyOption = None,
    block_bits: opt.BlockBitsOption = None,
    memory: opt.MemoryOption = None,
    source: opt.SourceOption = None,
    target: opt.TargetOption = None,
    position: opt.PositionOption = None,
    velocity: opt.VelocityOption = None,
    acceleration: opt.AccelerationOption = None,
    torque: opt.TorqueOption = None,
    engine: opt.EngineOption = "auto",
    workers: opt.WorkersOption = None,
    no_cache: opt.NoCacheOption = False,
    as_json: opt.JsonOption = False,
) -> None:
    """Compile a robot into tables and diagrams, prove the bound, and write one .bdt file."""
    chosen = opt.spec_options(
        input_bits,
        accuracy,
        block_bits,
        memory,
        source,
        target,
        position=position,
        velocity=velocity,
        acceleration=acceleration,
        torque=torque,
    )
    chosen["bits"] = None if bits is None else opt.read_bits(bits)
    path = output_path(spec, out)
    model, report = timed_compile(spec, chosen, engine, workers, no_cache)
    model.save(path)
    report |= {"file": str(path), "file_bytes": path.stat().st_size}
    if as_json:
        write_json({**model.summary(), "report": report, "certificate": model.certificate.to_plain()})
        return
    from bddtorque.cli.describing import compile_lines, grid  # noqa: PLC0415

    console = output()
    console.print(grid(compile_lines(model, report)))
    console.print()
    console.print(str(model.certificate), soft_wrap=True)


def output_path(spec: str, out: Path | None) -> Path:
    """Return where the model goes; refuse, before any work, a place that cannot be written or is the input itself."""
    if Path(spec).suffix.lower() == ".bdt":
        raise BddTorqueError(f"{spec}: a specification or a robot required, a compiled model given")
    path = out or Path(f"{Path(spec).stem}.bdt")
    if not path.parent.is_dir():
        raise BddTorqueError(f"{path}: a file in a folder that exists required, there is no folder '{path.parent}'")
    if path.is_dir():
        raise BddTorqueError(f"{path}: a file to write required, this is a folder")
    if path.exists() and Path(spec).exists() and path.samefile(spec):
        raise BddTorqueError(f"{path}: another file than the specification required, it would be overwritten")
    return path


def timed_compile(
    spec: str, chosen: dict[str, Any], engine: str, workers: int | None, no_cache: bool
) -> tuple[Model, dict[str, Any]]:
    """Compile, and return the model with its report: times, cold start, blocks from the cache, memory."""
    started = time.perf_counter()
    from bddtorque.cli.cold_start import numba_seconds  # noqa: PLC0415
    from bddtorque.compiler import compile as compile_model  # noqa: PLC0415

    ready = time.perf_counter()
    progress = ShownProgress()
    with numba_seconds() as cold:
        model = compile_model(
            spec,
            workers=workers,
            cache=None if no_cache else "default",
            progress=progress,
            engine=engine,
            **chosen,
        )
    report = {
        **model.report,
        "start_seconds": ready - started,
        "numba_seconds": cold.seconds,
        "blocks_from_cache": progress.cached,
    }
    return model, report
