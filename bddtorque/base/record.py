"""`Record`: a dataclass that says in the type of each field how it is read; folders of records."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated, Any, ClassVar, TypeVar, get_origin, get_type_hints

from bddtorque.base.errors import BddTorqueError, refusals_about
from bddtorque.base.plain import plain_of, table

Kind = TypeVar("Kind", bound="Record")
Reader = Callable[[Any, str], Any]
"""Takes a value and what messages call it, and returns the value that is kept."""


@dataclass(frozen=True)
class ShellOption:
    """A field as it is given at a shell; commands make their options from it."""

    help: str
    metavar: str | None = None  # what stands for the value; None for an option without one
    parse: Callable[[Any, str], Any] | None = None  # from text, or from all texts of an option that can be repeated
    repeats: bool = False
    flags: tuple[str, ...] = ()  # besides its own name
    of_robot: bool = False  # whether it says something of the robot, and not of what is compiled


def option(default: Any, metavar: str | None, about: str, *flags: str) -> Any:
    """Return a field of an `OptionRecord`: its default, and how the command line shows it; flags beside its name."""
    return field(default=default, metadata={"metavar": metavar, "help": about, "flags": flags})


@dataclass(frozen=True, kw_only=True)
class OptionRecord:
    """Options of one thing that a command does, whose fields the command line is made from; to be derived from."""

    asked_by: ClassVar[str]
    """Flags that ask for it on the command line."""
    panel: ClassVar[str | None] = None
    """The group of options that its fields belong to in ``--help``."""


class Record:
    """A frozen dataclass: what a field of type ``Annotated[type, reader]`` is given goes through its reader.

    None passes where it is the default. ``Annotated[type, reader, ShellOption(...)]`` is an option of commands too.
    """

    _readers: ClassVar[dict[str, Reader]]

    @classmethod
    def readers(cls) -> dict[str, Reader]:
        """Return the reader of each key."""
        if "_readers" not in cls.__dict__:
            hints = get_type_hints(cls, include_extras=True)
            cls._readers = {name: h.__metadata__[0] for name, h in hints.items() if get_origin(h) is Annotated}
        return cls._readers

    @classmethod
    def shell_options(cls) -> dict[str, ShellOption]:
        """Return the fields that commands have options for."""
        hints = get_type_hints(cls, include_extras=True)
        known = {name: h.__metadata__[1:] for name, h in hints.items() if get_origin(h) is Annotated}
        return {name: more[0] for name, more in known.items() if more}

    def __post_init__(self) -> None:
        for name, read in self.readers().items():
            value = getattr(self, name)
            if value is not None or getattr(type(self), name, ...) is not None:
                with refusals_about(name):
                    object.__setattr__(self, name, read(value, name))

    def to_plain(self) -> dict[str, Any]:
        """Return numbers, strings, lists and dicts only, in a fixed order; what is left open is left out."""
        plain = {name: plain_of(getattr(self, name)) for name in self.readers()}
        return {name: value for name, value in plain.items() if value is not None}


def as_record(kind: type[Kind]) -> Reader:
    """Return the reader of a record from a table of its keys."""

    def read(given: object, name: str) -> Kind:
        if isinstance(given, kind):
            return given
        values = table(given, (), name, kind.readers())
        try:
            return kind(**values)
        except BddTorqueError as problem:
            raise BddTorqueError(f"{name}, {problem}") from None

    return read


def records_in(package: str, path: Iterable[str]) -> dict[str, Any]:
    """Return the records of the modules in a package by their names, in the order of the modules' names."""
    modules = (import_module(f"{package}.{each.name}") for each in sorted(iter_modules(path), key=lambda m: m.name))
    return {module.RECORD.name: module.RECORD for module in modules}
