"""Options that several commands take, and files that commands write.

Options are made from the fields of records: those that say what to compile from `Spec`, by commands marked with
`takes(chosen=CHOICES)`, as their argument `chosen`, read and ready for `Spec.with_options`; others from an
`OptionRecord` that is an argument of a command.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from functools import cached_property
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo

from bddtorque.base.errors import BddTorqueError, refusals_about
from bddtorque.base.files import check_writable, opened, will_write
from bddtorque.base.record import OptionRecord
from bddtorque.cli.help_text import HelpAllOption

if TYPE_CHECKING:
    from bddtorque.base.cluster import ClusterExecutor
    from bddtorque.cli.progress import ShownProgress
    from bddtorque.model.model import Model

Value = TypeVar("Value")
Options = TypeVar("Options", bound=OptionRecord)

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="A compiled model, .bdt.", show_default=False)]
SourceArgument = Annotated[
    str, typer.Argument(metavar="FILE|SPEC", show_default=False, help="A .bdt file, or what `compile` takes.")
]
EngineOption = Annotated[str, typer.Option(metavar="NAME", help="Decision-diagram engine: auto, cudd or autoref.")]
WorkersOption = Annotated[int | None, typer.Option(metavar="N", help="Number of processes; default: all processors.")]
DaskOption = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Use a Dask cluster: the address of its scheduler, such as tcp://host:8786."),
]
NoCacheOption = Annotated[bool, typer.Option("--no-cache", help="Do not read or write the cache.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

PANEL = "What to compile (overrides the specification)"
ROBOT_PANEL = "The robot (overrides the specification)"
MAX_LISTED = 8
"""Values of an option that its help lists: with more, help would not fit a screen."""


@dataclass(frozen=True)
class OptionTable:
    """Options that a command takes besides its own. They are made when the command is: records take long to import."""

    make: Callable[[], dict[str, Any]]

    @cached_property
    def options(self) -> dict[str, Any]:
        """The options by name, each as the annotation of a parameter."""
        return self.make()

    def __iter__(self) -> Iterator[str]:
        return iter(self.options)

    def only(self, names: Collection[str]) -> OptionTable:
        """Return the table of some of the options."""
        return OptionTable(lambda: {name: option for name, option in self.options.items() if name in names})

    def without(self, *names: str) -> OptionTable:
        """Return the table of all other options."""
        return OptionTable(lambda: {name: option for name, option in self.options.items() if name not in names})


def _option(name: str, kind: Any, panel: str, flags: Sequence[str] = (), **more: Any) -> Any:
    declared = flags or (f"--{name.replace('_', '-')}",)
    return Annotated[kind | None, typer.Option(*declared, rich_help_panel=panel, **more)]


def _spec_options() -> dict[str, Any]:
    """Return the options that say what to compile, from the fields of `Spec`."""
    from bddtorque.spec.spec import shell_options

    made = {}
    for name, (option, known) in sorted(shell_options().items(), key=lambda item: item[1][0].of_robot):
        shown = known if len(known) <= MAX_LISTED else (*known[:MAX_LISTED], "others")
        listed = f": {' or '.join(filter(None, (', '.join(shown[:-1]), shown[-1])))}." if known else ""
        made[name] = _option(
            name,
            bool if option.metavar is None else list[str] if option.repeats else str,
            ROBOT_PANEL if option.of_robot else PANEL,
            (f"--{name.replace('_', '-')}", *option.flags)[:: -1 if option.repeats else 1],
            metavar=option.metavar,
            help=f"{option.help}{listed}",
            autocompletion=_completion(known) if known else None,
        )
    return made


def _completion(known: Sequence[str]) -> Callable[[str], list[str]]:
    """Return what gives the values of an option that begin with what the user has typed so far."""
    return lambda incomplete: [value for value in known if value.startswith(incomplete)]


CHOICES = OptionTable(_spec_options)
TORQUE_CHOICES = CHOICES.without("quantity", "gains", "target", "precision", "chip", "flash")
"""Options of commands that are about torques, whatever computes them."""


def options_of(*records: type[OptionRecord]) -> OptionTable:
    """Return the option of each field, for `takes`; the first record that has it says how it is shown."""

    def make() -> dict[str, Any]:
        options: dict[str, Any] = {}
        for record in records:
            options = {**options, **_fields(record), **options}
        return options

    return OptionTable(make)


def _fields(record: type[OptionRecord]) -> dict[str, Any]:
    """Return the options of a record: type, metavar and help stand there, and nowhere else."""
    hints, options = get_type_hints(record), {}
    for field in (each for each in fields(record) if each.metadata):
        kind, metavar = hints[field.name], field.metadata["metavar"]
        declared = (*field.metadata["flags"],) or (f"--{field.name.replace('_', '-')}",)
        shown = typer.Option(*declared, metavar=metavar, help=field.metadata["help"], rich_help_panel=record.panel)
        options[field.name] = Annotated[_kind(kind, metavar) | None, shown]
    return options


def _kind(hint: Any, metavar: str | None) -> Any:
    """Return what the command line reads a field as: a number, a flag, text, or many texts."""
    if get_origin(hint) in (Literal, tuple):
        return str if get_origin(hint) is Literal else list[str]
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not type(None)]
    return str if len(kinds) > 1 or (metavar and kinds[0] is bool) else kinds[0]


def record_of(record: type[Options], chosen: dict[str, Any]) -> Options:
    """Return a record from the options that were given and that it has."""
    hints, given = get_type_hints(record), {}
    for field in fields(record):
        value = chosen.get(field.name)
        if hints[field.name] == bool | None and isinstance(value, str):
            value = _yes(field.name, value)
        if value is not None:
            given[field.name] = tuple(value) if isinstance(value, list) else value
    return record(**given)


def _yes(name: str, text: str) -> bool:
    if text not in ("yes", "no"):
        raise BddTorqueError(f"{name} must be yes or no, got {text!r:.40}", option=name)
    return text == "yes"


def refuse_unused(
    chosen: dict[str, Any], asked: Sequence[type[OptionRecord]], known: Sequence[type[OptionRecord]]
) -> None:
    """Refuse options that are given and that no record has which is asked for; say which ones have it."""
    for name, value in chosen.items():
        owners = [record for record in known if any(field.name == name for field in fields(record))]
        if value is not None and owners and not set(owners) & set(asked):
            places = " or ".join(record.asked_by for record in owners)
            raise BddTorqueError(f"--{name.replace('_', '-')} can only be given with {places}")


def takes(**tables: OptionTable) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command all options of tables but those that it has itself; what they say becomes an argument each."""

    def with_tables(command: Callable[..., None]) -> Callable[..., None]:
        command.option_tables = tables  # type: ignore[attr-defined]
        return command

    return with_tables


def ready_command(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command as typer takes it: with the options of its tables, and with messages that name the user's flags.

    An argument that is an `OptionRecord` is made from an option per field. The command takes ``--help-all`` too.
    """
    own = signature(command, eval_str=True).parameters
    tables: dict[str, OptionTable] = getattr(command, "option_tables", {})
    records = {
        name: each.annotation
        for name, each in own.items()
        if isinstance(each.annotation, type) and issubclass(each.annotation, OptionRecord)
    }
    parameters: list[Parameter] = []
    for name, each in own.items():
        if name in records:
            defaults = {field.name: None if field.default == () else field.default for field in fields(each.annotation)}
            parameters += [_parameter(*row, defaults[row[0]]) for row in _fields(each.annotation).items()]
        elif name not in tables:
            parameters.append(each.replace(kind=Parameter.KEYWORD_ONLY))
    known = {each.name for each in parameters}
    names = {table: [name for name in options if name not in known] for table, options in tables.items()}
    parameters += [_parameter(name, tables[table].options[name]) for table in tables for name in names[table]]
    flags = {each.name: flag for each in parameters if (flag := _flag(each))}

    @functools.wraps(command)
    def run(help_all: bool, **given: Any) -> Any:
        values = dict(given)
        try:
            for table in tables:
                values[table] = read_choices({name: values.pop(name) for name in names[table]})
            for name, record in records.items():
                values[name] = record_of(record, {field.name: values.pop(field.name) for field in fields(record)})
            return command(**values)
        except BddTorqueError as problem:
            value = given.get(problem.option)
            if problem.option not in flags or value is None or value is False or value == []:
                raise
            raise BddTorqueError(problem.naming(flags[problem.option])) from None

    parameters.append(Parameter("help_all", Parameter.KEYWORD_ONLY, default=False, annotation=HelpAllOption))
    # the command line is made from these two
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _parameter(name: str, annotation: Any, default: Any = None) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _flag(parameter: Parameter) -> str:
    """Return the flag of an option; nothing for an argument."""
    (option, *_) = parameter.annotation.__metadata__
    if not isinstance(option, OptionInfo):
        return ""
    # typer takes the first flag for the default until it builds the command
    texts = [str(text) for text in (option.default, *(option.param_decls or ()))]
    declared = [text for text in texts if text.startswith("-")]
    return declared[0] if declared else f"--{parameter.name.replace('_', '-')}"


def read_choices(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `Spec.with_options` from the text of the flags; those not given are None."""
    if all(value is None or value == [] for value in given.values()):  # or records would be imported for nothing
        return dict.fromkeys(given)
    from bddtorque.spec.spec import shell_options

    known = shell_options()
    parsers = {name: option.parse for name, (option, _) in known.items() if option.parse is not None}
    read = {}
    for name, value in given.items():
        with refusals_about(name):
            absent = value is None or value == []
            read[name] = None if absent else parsers[name](value, name) if name in parsers else value
    return read


def check_outputs(outputs: dict[str, Path | None], inputs: Sequence[str | Path | None] = ()) -> None:
    """Refuse, before any work, files that cannot be written or that the command reads, and one that two options name.

    Whatever the command opens later is compared with the outputs then; see `files`.

    `outputs`: the files by option, None where an option is not given; `inputs`: files that are read only after long
    work.
    """
    places: dict[Path, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        if path == Path():  # what an empty name becomes
            raise BddTorqueError(f"{option} must name a file, got an empty name or the current folder")
        try:
            if not path.parent.is_dir():
                raise BddTorqueError(f"{option}: there is no folder '{path.parent}' to write {path.name} to")
            if path.is_dir():
                raise BddTorqueError(f"{option} must name a file, but {path} is a folder")
            check_writable(path)
        except OSError as problem:
            raise BddTorqueError(f"{option}: '{path!s:.100}' cannot be written: {problem.strerror}") from None
        first = places.setdefault(path.resolve(), option)
        if first != option and (path.is_file() or not path.exists()):
            raise BddTorqueError(f"{option} and {first} both name {path}: choose another name for one of them")
        will_write(option, path)
        if option == "--plot":
            from bddtorque.sweeps.drawing import check_plot

            check_plot(path)
    for file in inputs:
        with suppress(OSError, ValueError):  # who needs it says what is wrong with it
            opened(file or "").close()


def is_compiled(source: str) -> bool:
    """Tell if a command is given a compiled model, by its name."""
    return Path(source).suffix.lower() == ".bdt"


def refuse_flags(options: dict[str, Any], why: str) -> None:
    """Refuse options that are given, by name; `why` ends the message."""
    given = [name for name, value in options.items() if value is not None and value not in ([], ())]
    if given:
        flags = ", ".join(name if name.isupper() else f"--{name.replace('_', '-')}" for name in given)
        raise BddTorqueError(f"{flags} {why}")


def refuse_choices(source: str, chosen: dict[str, Any]) -> None:
    """Refuse options that say what to compile where something is compiled already."""
    refuse_flags(chosen, f"can only be given with a specification, and {source} is compiled already")


def robot_model(file: str | Path, any_quantity: bool = False, functions: bool = False) -> Model:
    """Return the compiled robot in a file; functions and quantities other than torques are refused unless allowed."""
    from bddtorque.model.model import load

    model = load(file)
    robot = model.provenance.robot is not None
    if not (any_quantity and robot) and not (functions and not robot):
        model.require_torque(str(file))
    return model


def models(
    source: str,
    variants: Sequence[dict[str, Any]],
    no_cache: bool,
    progress: ShownProgress,
    functions: bool = False,
    **how: Any,
) -> Iterator[Model]:
    """Give what is compiled already, or compiled for each variant; one after the other, so that only one is held."""
    if is_compiled(source):
        yield robot_model(source, any_quantity=True, functions=functions)
        return
    from bddtorque.compiler.compiling import compile as compile_model

    cache = None if no_cache else "default"
    for chosen in variants:
        yield compile_model(source, cache=cache, progress=progress, **how, **chosen)


@contextmanager
def cluster(address: str | None) -> Iterator[ClusterExecutor | None]:
    """Give what ``--dask`` names as an executor, None where it is not given."""
    if address is None:
        yield None
        return
    from bddtorque.base.cluster import connected

    with connected(address, name="--dask") as executor:
        yield executor


def read_word_lengths(text: str) -> list[int]:
    """Return word lengths to compare from ``6:12`` (both ends included), ``6,8,12`` or ``12``; no length twice."""

    def lengths(part: str) -> range:
        first, colon, last = part.partition(":")
        found = range(int(first), int(last if colon else first) + 1)
        if not found or found[0] < 2 or found[-1] > 24:
            raise ValueError
        return found

    parts = _separated(text, "--bits", "word lengths between 2 and 24 such as 6:12 or 6,8,12", lengths)
    return list(dict.fromkeys(length for part in parts for length in part))


def read_numbers(text: str, where: str, count: int, whole: bool) -> list[float] | list[int]:
    """Return `count` numbers (integers if `whole`) separated by commas."""
    what = f"{count} {'integers' if whole else 'numbers'} separated by commas"
    return _separated(text, where, what, int if whole else float, (count,))


def read_named(texts: Sequence[str], where: str, expected: str, read: Callable[[str], Value]) -> dict[str, Value]:
    """Return what texts such as ``elbow=0.5`` say, by name, each value read; refuse others, and names that recur."""
    parts = [text.rpartition("=") for text in texts]
    with suppress(ValueError):
        named = {name: read(value) for name, _, value in parts}
        if "" not in named and len(named) == len(parts):
            return named
    raise BddTorqueError(f"{where} must be {expected}, got {', '.join(texts)!r:.60}")


def _separated(
    text: str, where: str, expected: str, read: Callable[[str], Value], counts: Sequence[int] = ()
) -> list[Value]:
    """Return what stands between commas, each part read, or refuse it; `counts` says how many there may be."""
    with suppress(ValueError):
        parts = [read(part) for part in text.split(",")]
        if not counts or len(parts) in counts:
            return parts
    raise BddTorqueError(f"{where} must be {expected}, got {text!r:.60}")
