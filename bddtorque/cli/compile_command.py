"""``bddtorque compile``: from a specification to a proved .bdt file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.record import OptionRecord, option
from bddtorque.cli import options as opt
from bddtorque.cli.console import show, write_json
from bddtorque.cli.progress import COMPILE, ShownProgress

if TYPE_CHECKING:
    from bddtorque.model.model import Model


@dataclass(frozen=True, kw_only=True)
class CompiledFiles(OptionRecord):
    """Files that are written, and a plan that is read."""

    output: Path | None = option(None, "FILE", "The file to write; default: SPEC's name with .bdt.", "-o", "--output")
    plan: Path | None = option(None, "FILE", "Require this plan, a file that `bddtorque plan -o` wrote.")
    write_spec: Path | None = option(None, "FILE", "Write all settings to this file, as a specification.")


@dataclass(frozen=True, kw_only=True)
class SampleOptions(OptionRecord):
    """A file of samples, and the rules of `compile_samples`; what is not given is left to it."""

    panel = "Measured data instead of a robot"

    samples: Path | None = option(None, "FILE", "A CSV file: a header, one column per input (1 to 4), the value last.")
    word: tuple[str, ...] = option(
        (),
        "COLUMN=BITS[:LOW:HIGH]",
        "The word of a column: velocity=12, velocity=12:-3:3 or position=10:angle (may be repeated). 12 bits over the "
        "samples unless given.",
    )
    duplicates: str | None = option(None, "RULE", "Samples of one point: mean or refuse.")
    spread: float | None = option(None, "VALUE", "Refuse samples of one point that differ by more than this.")
    merge: str | None = option(None, "RULE", "What is one point: point (equal arguments) or word (equal words).")
    gaps: str | None = option(None, "RULE", "Between samples: linear, nearest or refuse.")
    extrapolation: str | None = option(None, "RULE", "Beyond the samples: refuse or hold.")
    assumed_error: float | None = option(
        None, "VALUE", "Error of a sample, in the unit of the value; added to the bound as assumed."
    )

    def rules(self) -> dict[str, Any]:
        """Return the rules that are given."""
        given = {name: value for name, value in asdict(self).items() if value is not None}
        return {name: value for name, value in given.items() if name not in ("samples", "word")}


@opt.takes(chosen=opt.CHOICES)
def compile_command(
    files: CompiledFiles,
    data: SampleOptions,
    spec: Annotated[
        str | None,
        typer.Argument(
            metavar="SPEC",
            show_default=False,
            help="A built-in name, a specification, or a robot (.toml, .urdf, .xacro, .xml); none with --samples.",
        ),
    ] = None,
    engine: opt.EngineOption = "auto",
    workers: opt.WorkersOption = None,
    dask: opt.DaskOption = None,
    no_cache: opt.NoCacheOption = False,
    as_json: opt.JsonOption = False,
    *,
    chosen: dict[str, Any],
) -> None:
    """Compile a robot, or measured data, prove the error bound, and write one .bdt file.

    Example: bddtorque compile planar2r --bits 12 -o planar2r.bdt

    Example: bddtorque compile my_arm.toml --velocity 2.0 --torque 150,80

    Example: bddtorque compile arm.urdf --tip tool0 --write-spec arm.toml

    Example: bddtorque compile --samples friction.csv -o friction.bdt
    """
    if data.samples is not None:
        rules = {**data.rules(), **{name: chosen.pop(name) for name in ("target", "chip")}}
        others = {**chosen, "SPEC": spec, "plan": files.plan, "write_spec": files.write_spec, "dask": dask}
        opt.refuse_flags(others, "cannot be given with --samples")
        path = files.output or Path(f"{data.samples.stem}.bdt")
        opt.check_outputs({"-o": path})
        _compile_data(data.samples, path, data.word, {**rules, "engine": engine}, as_json)
        return
    opt.refuse_flags(asdict(data), "can only be given with --samples")
    if spec is None:
        raise BddTorqueError("compile needs SPEC (a name, a specification or a robot) or --samples FILE")
    check_source(spec)
    path = files.output or Path(f"{Path(spec).stem}.bdt")
    opt.check_outputs({"-o": path, "--write-spec": files.write_spec}, [files.plan])
    cache = None if no_cache else "default"
    how = {"engine": engine, "workers": workers, "cache": cache, "plan": files.plan, **chosen}
    from bddtorque.base.system import usable_processors
    from bddtorque.compiler.compiling import compile as compile_model

    with ShownProgress("compile", {**COMPILE, "estimating": 2.0}) as progress:
        with opt.cluster(dask) as executor:
            progress.processors = (workers or usable_processors()) if executor is None else executor.threads
            model = compile_model(spec, executor=executor, progress=progress, **how)
        report = {**model.report, "blocks_from_cache": progress.cached}
        _find_ranges(model, progress)
        model.save(path)
        report |= {"file": str(path), "file_bytes": path.stat().st_size}
        report["notes"] = _with_advice(model, report["notes"], progress)
    if files.write_spec is not None:
        from bddtorque.spec import save_spec

        save_spec(model.spec, files.write_spec, report["notes"])
        report["spec_file"] = str(files.write_spec)
    _show(model, report, chosen["target"] is None and model.plan.target == "tables", as_json)


def _show(model: Model, report: dict[str, Any], by_default: bool, as_json: bool) -> None:
    """Show what was compiled; `by_default`: nobody named the target."""
    if as_json:
        from bddtorque.bench.target_costs import target_costs

        ranges, costs = model.certificate.ranges, target_costs(model)
        proved = {"certificate": model.certificate.to_plain(), "ranges": [each.to_plain() for each in ranges]}
        write_json({**model.summary(), "report": report, **proved, "targets": [cost.to_plain() for cost in costs]})
        return
    from bddtorque.cli.tables import compile_lines

    show(compile_lines(model, report, by_default))


def _find_ranges(model: Model, progress: ShownProgress) -> None:
    """Find the ranges of torques while there is a bar; they are kept with the model."""
    from bddtorque.base.workers import step

    with step(progress, "estimating ranges"):
        model.certificate.ranges  # noqa: B018


def _with_advice(model: Model, notes: list[str], progress: ShownProgress) -> list[str]:
    """Return the notes, and for a chip without a multiplier which target to take: measured, where its tools are."""
    from bddtorque.base.workers import step
    from bddtorque.bench import emulation
    from bddtorque.compiler.model_building import chip_notes
    from bddtorque.spec.chips import chip_named

    asking = chip_notes(model.spec.chip)
    if not asking or not model.spec.is_torque or emulation.missing_tools(str(model.spec.chip)):
        return notes
    from bddtorque.bench.chip_bench import compare_targets

    chip = chip_named(str(model.spec.chip))
    with step(progress, f"measuring tables and integers on {chip.name}"):
        said = compare_targets(model, chip)
    kept = [note for note in notes if note not in asking]
    return [*kept, f"chip '{chip.name}' has no fast multiplier; measured under emulation: {said}"]


def check_source(spec: str) -> None:
    """Refuse, by its name, a file that is neither a specification nor a robot, and say where it belongs."""
    suffix = Path(spec).suffix.lower()
    said = {
        ".bdt": "a compiled model",
        ".csv": f"data; for measured samples, use --samples {spec}",
        ".npy": "data",
    }
    if suffix in said:
        raise BddTorqueError(f"SPEC must be a specification or a robot (.toml, .urdf), but {spec} is {said[suffix]}")


def _word(said: str) -> tuple[Any, ...]:
    """Return a word from ``12``, ``12:-3:3``, ``12:3`` or ``10:angle``."""
    bits, *ends = said.split(":")
    if len(ends) > 2:
        raise ValueError
    if ends == ["angle"]:
        return int(bits), "angle"
    reach = [float(end) for end in ends]
    return (int(bits), *reach) if len(reach) < 2 else (int(bits), tuple(reach))


def _compile_data(file: Path, path: Path, words: Sequence[str], rules: dict[str, Any], as_json: bool) -> None:
    """Compile a file of samples, write it, and show what was made."""
    from bddtorque.compiler.compiling import compile_samples
    from bddtorque.compiler.function_request import DEFAULT_BITS
    from bddtorque.words.samples import read_samples

    expected = "COLUMN=BITS, COLUMN=BITS:LOW:HIGH, COLUMN=BITS:REACH or COLUMN=BITS:angle, each column once"
    asked = opt.read_named(words, "--word", expected, _word)
    columns = read_samples(file).names
    for name in asked:
        if name not in columns:
            raise BddTorqueError(f"--word must name a column of {file} ({', '.join(columns)}), got {name!r:.60}")
    chosen = {name: asked.get(name, (DEFAULT_BITS,)) for name in columns}
    value = columns[-1]
    with ShownProgress("compile", COMPILE) as progress:
        progress.start(f"compiling {file.stem}", 0.0)
        model = compile_samples(
            str(file),
            inputs={name: chosen[name] for name in columns[:-1]},
            output={value: chosen[value]},
            **{name: rule for name, rule in rules.items() if rule is not None},
        )
    model.save(path)
    report = {**model.report, "file": str(path), "file_bytes": path.stat().st_size}
    _show(model, report, rules["target"] is None, as_json)
