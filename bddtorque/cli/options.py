"""Options that several commands take, how their text is read, and files that commands write.

A command marked with `takes(chosen=CHOICES)` takes every option that says what to compile, read and ready for
`Spec.with_options`, as its argument `chosen`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_type_hints

import typer

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.overwriting import will_write
from bddtorque.base.plain import decimal
from bddtorque.base.reading import opened
from bddtorque.base.writing import check_writable

if TYPE_CHECKING:
    from bddtorque.base.cluster import ClusterExecutor
    from bddtorque.cli.progress import ShownProgress
    from bddtorque.model.model import Model

Value = TypeVar("Value")

EngineOption = Annotated[str, typer.Option(metavar="NAME", help="Decision-diagram engine: auto, cudd or autoref.")]
WorkersOption = Annotated[int | None, typer.Option(metavar="N", help="Number of processes; default: all processors.")]
DaskOption = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Use a Dask cluster: the address of its scheduler, such as tcp://host:8786."),
]
NoCacheOption = Annotated[bool, typer.Option("--no-cache", help="Do not read or write the cache.")]
PlotOption = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Write a plot: .png, .pdf or .svg.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

PANEL = "What to compile (overrides the specification)"
ROBOT_PANEL = "The robot (overrides the specification)"


def option_table(panel: str, *rows: Any) -> dict[str, Any]:
    """Return options as a command takes them, by name, from rows of name, type, metavar, help and more flags."""
    return {
        name: Annotated[
            kind | None,
            typer.Option(
                f"--{name.replace('_', '-')}",
                *flags,
                metavar=metavar,
                rich_help_panel=panel,
                help=text,
                autocompletion=_completion(name) if metavar == "NAME" else None,
            ),
        ]
        for name, kind, metavar, text, *flags in rows
    }


def _completion(name: str) -> Callable[[str], list[str]]:
    """Return what gives the values of an option that begin with what the user has typed so far."""

    def values(incomplete: str) -> list[str]:
        from bddtorque.spec.chips import chips
        from bddtorque.spec.compile_options import CompileOptions

        hint = get_type_hints(CompileOptions)[name]
        known = chips() if name == "chip" else [value for part in get_args(hint) for value in get_args(part)]
        return [value for value in known if value.startswith(incomplete)]

    return values


_TORQUE = "Torque range (N·m, N): auto (what the robot can need), limits (its effort limits), or RANGE."
_INPUTS = (
    "Input word length: 12, 12,10 (one per joint), or position=14 (repeat for velocity=, acceleration=). "
    "Same as --bits if omitted."
)
_LOCK = "URDF: lock a joint at a position in rad or m (may be repeated), or others: all not on the way to --tip."
_PAYLOAD = "A point mass (kg) at the tip, and its place (m) in the tip frame."

CHOICES = {
    **option_table(
        PANEL,
        ("quantity", str, "NAME", "torque, gravity, bias, mass_matrix, kinematics, jacobian or law."),
        ("gains", list[str], "NAME=GAIN", "kp= (1/s²) and kv= (1/s), each one or one per joint; for --quantity law."),
        ("bits", str, "BITS", "Torque word length: 12, or one per joint such as 12,10."),
        ("input_bits", list[str], "BITS", _INPUTS),
        ("accuracy", str, "GOAL", "faithful (below one unit of the last bit), paper, or a number of units above 0.5."),
        ("block_bits", int, "N", "Largest number of input bits of one table."),
        ("products", str, "WAY", "How tables multiply two words: auto, blocks, squares or partial."),
        ("memory", str, "SIZE", "Memory budget, such as 2GiB or 500MB."),
        ("source", str, "NAME", "Form of the dynamics: auto, terms or recursive."),
        ("target", str, "NAME", "Arithmetic: tables, integer or float."),
        ("precision", str, "NAME", "auto, single or double, for --target float."),
        ("chip", str, "NAME", "Processor to plan for, such as cortex-m0 or avr, for --target integer."),
        ("flash", str, "SIZE", "Flash that exported C may take, tables and code, such as 16kB."),
        ("position", str, "RANGE", "Position range (rad, m).", "--q-max"),
        ("velocity", str, "RANGE", "Velocity range (rad/s, m/s).", "--qd-max"),
        ("acceleration", str, "RANGE", "Acceleration range (rad/s², m/s²).", "--qdd-max"),
        ("torque", str, "RANGE", _TORQUE, "--tau-max"),
    ),
    **option_table(
        ROBOT_PANEL,
        ("base", str, "LINK", "URDF, MJCF: the link that is fixed."),
        ("tip", str, "LINK", "URDF, MJCF: the last link of a chain; all joints move without it."),
        ("frame", str, "LINK", "The link that is the tip: for its pose and Jacobian, and to carry a payload."),
        ("lock", list[str], "JOINT=POSITION", _LOCK),
        ("gravity", str, "X,Y,Z", "Gravity in base axes (m/s²), such as 0,0,-9.81."),
        ("payload", str, "MASS[,X,Y,Z]", _PAYLOAD),
        ("snap", float, "X", "URDF: round rotations that are this close to exact ones."),
        ("ignore_friction", bool, None, "URDF: ignore friction and damping (<dynamics>)."),
        ("allow_massless", bool, None, "URDF: accept moving links without mass."),
        ("allow_unphysical", bool, None, "URDF: accept inertias that no real body can have."),
        ("xacro_args", list[str], "NAME=VALUE", "xacro: the value of an argument (may be repeated).", "--xacro-arg"),
    ),
}
TORQUE_CHOICES = {
    name: option
    for name, option in CHOICES.items()
    if name not in ("quantity", "gains", "target", "precision", "chip", "flash")
}
"""What commands take that are about torques, whatever computes them."""
_RANGES = ("position", "velocity", "acceleration", "torque")


def takes(**tables: dict[str, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command all options of tables but those that it has itself; what they say becomes an argument each."""

    def with_options(command: Callable[..., None]) -> Callable[..., None]:
        own = signature(command, eval_str=True)
        names = {table: [name for name in options if name not in own.parameters] for table, options in tables.items()}
        parameters = [
            each.replace(kind=Parameter.KEYWORD_ONLY) for each in own.parameters.values() if each.name not in tables
        ] + [
            Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=tables[table][name])
            for table in tables
            for name in names[table]
        ]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            read = {table: read_choices({name: given.pop(name) for name in names[table]}) for table in tables}
            command(**given, **read)

        # the command line is made from these two
        run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return with_options


def read_choices(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `Spec.with_options` from the text of the flags; those not given are None."""
    read: dict[str, Callable[[Any], Any]] = {
        "gains": read_gains,
        "bits": read_bits,
        "input_bits": read_input_bits,
        "accuracy": read_accuracy,
        "lock": read_lock,
        "gravity": lambda text: read_numbers(text, "--gravity", 3, whole=False),
        "payload": read_payload,
        "xacro_args": read_xacro_args,
        **{name: functools.partial(read_ranges, quantity=name) for name in _RANGES},
    }
    return {name: value if value is None or name not in read else read[name](value) for name, value in given.items()}


def check_outputs(outputs: dict[str, Path | None], inputs: Sequence[str | Path | None] = ()) -> None:
    """Refuse, before any work, files that cannot be written or that the command reads, and one that two options name.

    Whatever the command opens later is compared with the outputs then; see `overwriting`.

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
    """Whether a command is given a compiled model, by its name."""
    return Path(source).suffix.lower() == ".bdt"


def refuse_flags(options: dict[str, Any], why: str) -> None:
    """Refuse options that are given, by name; `why` ends the message."""
    given = [name for name, value in options.items() if value is not None and value != []]
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
    if not (any_quantity and model.named_arrays) and not (functions and model.provenance.kind == "function"):
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


def read_bits(text: str, where: str = "--bits") -> int | list[int]:
    """Return a word length from ``12``, or one per joint from ``12,10``."""
    return _single(_separated(text, where, "an integer, or one per joint such as 12,10", int))


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


def read_input_bits(texts: Sequence[str]) -> int | list[int] | dict[str, Any] | None:
    """Return what ``--input-bits`` says: bits for all inputs, or by quantity."""
    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0]:
        return read_bits(texts[0], "--input-bits")
    return read_named(texts, "--input-bits", "BITS, or position=, velocity=, acceleration=BITS, each once", read_bits)


def read_ranges(text: str, quantity: str) -> Any:
    """Return a range for all joints from ``1.5`` or ``-1:2``, one per joint from ``1.5,-1:2``, or some by name."""
    from bddtorque.spec.range_values import as_joint_range, as_ranges

    where, parts = f"--{quantity}", text.split(",")
    if any("=" in part for part in parts):
        named = read_named(parts, where, "a range for each joint by name, such as elbow=1.5,wrist=-1:2", _range)
        return as_ranges(quantity)(named, where)
    return _single([as_joint_range(quantity)(_range(part), where) for part in parts])


def read_numbers(text: str, where: str, count: int, whole: bool) -> list[float] | list[int]:
    """Return `count` numbers (integers if `whole`) separated by commas."""
    what = f"{count} {'integers' if whole else 'numbers'} separated by commas"
    return _separated(text, where, what, int if whole else float, (count,))


def read_lock(texts: Sequence[str]) -> str | dict[str, float | str] | None:
    """Return what ``--lock`` says: ``others``, or joints with their positions."""
    if not texts:
        return None
    if list(texts) == ["others"]:
        return "others"
    return read_named(texts, "--lock", "others, or JOINT=POSITION in rad or m, each joint once", _position)


def _position(text: str) -> float | str:
    number = decimal(text)
    return text if number is None else number


def read_named(texts: Sequence[str], where: str, expected: str, read: Callable[[str], Value]) -> dict[str, Value]:
    """Return what texts such as ``elbow=0.5`` say, by name, each value read; refuse others, and names that recur."""
    parts = [text.rpartition("=") for text in texts]
    with suppress(ValueError):
        named = {name: read(value) for name, _, value in parts}
        if "" not in named and len(named) == len(parts):
            return named
    raise BddTorqueError(f"{where} must be {expected}, got {', '.join(texts)!r:.60}")


def read_gains(texts: Sequence[str]) -> dict[str, float | list[float]] | None:
    """Return what ``--gains`` says: kp and kv, each for all joints or one per joint."""
    expected = "kp=GAIN and kv=GAIN, each a number or one per joint such as 100,80"
    if not texts:
        return None
    return read_named(texts, "--gains", expected, lambda text: _single(_separated(text, "--gains", expected, float)))


def read_xacro_args(texts: Sequence[str]) -> dict[str, str] | None:
    """Return what ``--xacro-arg`` says: values of arguments by name; a value may have any text."""
    parts = [text.partition("=") for text in texts]
    named = {name: value for name, _, value in parts}
    if len(named) < len(parts) or not all(name and equals for name, equals, _ in parts):
        raise BddTorqueError(f"--xacro-arg must be NAME=VALUE, each name once, got {', '.join(texts)!r:.60}")
    return named or None


def _single(values: list[Value]) -> Value | list[Value]:
    return values if len(values) > 1 else values[0]


def read_payload(text: str) -> list[float] | float:
    """Return a mass from ``1.5``, or a mass and its centre from ``1.5,0,0,0.1``."""
    return _single(_separated(text, "--payload", "MASS or MASS,X,Y,Z in kg and m", float, (1, 4)))


def _separated(
    text: str, where: str, expected: str, read: Callable[[str], Value], counts: Sequence[int] = ()
) -> list[Value]:
    """Return what stands between commas, each part read, or refuse it; `counts` says how many there may be."""
    with suppress(ValueError):
        parts = [read(part) for part in text.split(",")]
        if not counts or len(parts) in counts:
            return parts
    raise BddTorqueError(f"{where} must be {expected}, got {text!r:.60}")


def _range(text: str) -> Any:
    """Return what stands on either side of a colon, or all of it: numbers, and text that may have a unit."""
    return _single([_position(end.strip()) for end in text.split(":")])


def read_accuracy(text: str) -> str | float:
    """Return a number of units, or a word."""
    try:
        return float(text)
    except ValueError:
        return text
