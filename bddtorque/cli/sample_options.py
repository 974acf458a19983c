"""``bddtorque compile --samples``: from a file of measured data to a .bdt file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.base.errors import BddTorqueError
from bddtorque.cli.console import output, write_json

if TYPE_CHECKING:
    from rich.table import Table

    from bddtorque.model.function_model import FunctionModel

PANEL = "Measured data instead of a robot"
RULES = ("duplicates", "spread", "merge", "gaps", "extrapolation", "assumed_error")


def _option(what: str, name: str, metavar: str) -> Any:
    return typer.Option(name, metavar=metavar, rich_help_panel=PANEL, help=what)


SamplesOption = Annotated[
    Path | None,
    _option("A CSV file: a header, a column an input (1 to 4), the value last.", "--samples", "FILE"),
]
WordOption = Annotated[
    list[str] | None,
    _option(
        "The word of a column: velocity=12, velocity=12:-3:3 or position=10:angle (may be repeated). 12 bits over the "
        "samples unless given.",
        "--word",
        "COLUMN=BITS[:LOW:HIGH]",
    ),
]
DuplicatesOption = Annotated[str | None, _option("Samples of one point: mean or refuse.", "--duplicates", "RULE")]
SpreadOption = Annotated[float | None, _option("Refuse samples of one point that differ by more.", "--spread", "VALUE")]
MergeOption = Annotated[
    str | None, _option("What is one point: point (equal arguments) or word (equal words).", "--merge", "RULE")
]
GapsOption = Annotated[str | None, _option("Between samples: linear, nearest or refuse.", "--gaps", "RULE")]
ExtrapolationOption = Annotated[str | None, _option("Beyond the samples: refuse or hold.", "--extrapolation", "RULE")]
AssumedOption = Annotated[
    float | None, _option("How far a sample is off; added to the bound, as assumed.", "--assumed-error", "VALUE")
]


def read_words(texts: list[str]) -> dict[str, Any]:
    """Return words by column from ``velocity=12:-3:3``, ``position=10:angle`` or ``torque=12``."""
    words: dict[str, Any] = {}
    for text in texts:
        name, equals, said = text.rpartition("=")
        parts = said.split(":")
        try:
            if not name or not equals or name in words or len(parts) not in (1, 2, 3):
                raise ValueError
            bits = int(parts[0])
            if len(parts) == 1:
                words[name] = (bits,)
            elif len(parts) == 2:
                words[name] = (bits, "angle" if parts[1] == "angle" else float(parts[1]))
            else:
                words[name] = (bits, (float(parts[1]), float(parts[2])))
        except ValueError:
            required = "COLUMN=BITS, COLUMN=BITS:LOW:HIGH, COLUMN=BITS:REACH or COLUMN=BITS:angle, each column once,"
            raise BddTorqueError(f"--word: {required} required, {text!r:.60} given") from None
    return words


def compile_data(file: Path, path: Path, words: list[str], rules: dict[str, Any], engine: str, as_json: bool) -> None:
    """Compile a file of samples, write it, and show what was made."""
    from bddtorque.compiler.function_words import DEFAULT_BITS
    from bddtorque.compiler.sample_compiling import compile_samples
    from bddtorque.laws.samples import read_samples

    asked = read_words(words)
    columns = read_samples(file).names
    for name in asked:
        if name not in columns:
            raise BddTorqueError(f"--word: columns of {file} ({', '.join(columns)}) required, {name!r:.60} given")
    chosen = {name: asked.get(name, (DEFAULT_BITS,)) for name in columns}
    value = columns[-1]
    model = compile_samples(
        str(file),
        inputs={name: chosen[name] for name in columns[:-1]},
        output={value: chosen[value]},
        engine=engine,
        **{name: rule for name, rule in rules.items() if rule is not None},
    )
    model.save(path)
    report = {**model.report, "file": str(path), "file_bytes": path.stat().st_size}
    if as_json:
        write_json({**model.summary(), "report": report, "certificate": model.certificate.to_plain()})
        return
    show_function(model, [("note", note) for note in report["notes"]], path)


def show_function(model: FunctionModel, more: list[tuple[str, str]], path: Path) -> None:
    """Print what there is to say of a compiled function."""
    from rich.filesize import decimal

    from bddtorque.base.sizes import counted
    from bddtorque.cli.describing import grid

    figures = model.summary()
    rules = ", ".join(f"{name} {value}" for name, value in model.rules.items())
    lines = [
        ("function", f"{model.name}({', '.join(model.input_names)}) = {model.output.name}"),
        ("from", f"{model.certificate.relative_to}" + (f": {rules}" if rules else "")),
        ("blocks", f"{figures['blocks']:,} with {counted(figures['rows'], 'rows')} in all"),
        ("diagrams", f"{counted(figures['nodes'], 'nodes')}, {decimal(figures['diagram_bytes'])}"),
        ("tables", decimal(figures["table_bytes"])),
        *more,
        ("file", f"{path}, {decimal(path.stat().st_size)}"),
        ("digest", model.digest),
    ]
    console = output()
    for shown in (grid(lines), word_table(model), str(model.certificate)):
        console.print(shown, soft_wrap=isinstance(shown, str))
        console.print()


def word_table(model: FunctionModel) -> Table:
    """Return the words of a function, one a row."""
    from bddtorque.cli.console import plain_table

    table = plain_table("Words")
    for name in ("word", "kind"):
        table.add_column(name, overflow="fold")
    for name in ("bits", "one unit", "from", "to"):
        table.add_column(name, justify="right")
    table.add_column("unit")
    for name, word in (*zip(model.input_names, model.inputs, strict=True), (model.output.name, model.output)):
        kind = "angle, wraps" if word.kind == "angle" else "range, saturates"
        figures = [f"{value:.6g}" for value in (word.lsb, *word.span)]
        table.add_row(name, kind, str(word.bits), *figures, word.unit)
    return table


def function_info(model: FunctionModel, file: Path, as_json: bool) -> None:
    """Show a compiled function, for ``bddtorque info``."""
    if not as_json:
        show_function(model, [], file)
        return
    plain = model.defining()["function"]
    write_json(
        {
            "file": str(file),
            "file_bytes": file.stat().st_size,
            **model.summary(),
            "diagram_digest": model.diagram_digest,
            "words": {"inputs": plain["inputs"], "output": plain["output"]},
            "rules": model.rules,
            "certificate": model.certificate.to_plain(),
        }
    )
