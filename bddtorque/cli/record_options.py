"""Options of a command from the fields of records: type, metavar and help stand in the record, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import typer

from bddtorque.base.errors import BddTorqueError
from bddtorque.cli.options import OptionTable
from bddtorque.export.export_options import OptionRecord

Record = TypeVar("Record", bound=OptionRecord)


def options_of(*records: type[OptionRecord]) -> OptionTable:
    """Return the option of each field, for `options.takes`; the first record that has it says how it is shown."""
    return OptionTable(lambda: _options(records))


def _options(records: Sequence[type[OptionRecord]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for record in records:
        hints = get_type_hints(record)
        for field in fields(record):
            if field.name not in found and field.metadata:
                metavar, about = field.metadata["metavar"], field.metadata["help"]
                shown = typer.Option(f"--{field.name.replace('_', '-')}", metavar=metavar, help=about)
                found[field.name] = Annotated[_kind(hints[field.name], metavar) | None, shown]
    return found


def _kind(hint: Any, metavar: str | None) -> Any:
    """Return what the command line reads a field as: a number, a flag, or text."""
    if get_origin(hint) is Literal:
        return str
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not type(None)]
    return str if len(kinds) > 1 or (metavar and kinds[0] is bool) else kinds[0]


def record_of(record: type[Record], chosen: dict[str, Any]) -> Record:
    """Return a record from the options that were given and that it has."""
    hints, given = get_type_hints(record), {}
    for field in fields(record):
        value = chosen.get(field.name)
        if value is not None:
            given[field.name] = _yes(field.name, value) if hints[field.name] == bool | None else value
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
