"""What is said of a command line that cannot be read, in the words of all other messages."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Collection, Sequence
from typing import Any

from bddtorque.base.errors import nearest, unknown

UNREADABLE = re.compile(r"\b(?:path|file|directory) '(.*)' is not readable", re.IGNORECASE)
EXTRA = re.compile(r"unexpected extra arguments?(?:\(s\))? \((.*)\)")


def usage_message(problem: Any, arguments: Sequence[str], commands: Collection[str]) -> str:
    """Return one line about a usage error of click, from its kind: what is wrong, what was expected, what was found."""
    message, parameter = str(problem.format_message()).rstrip("."), getattr(problem, "param", None)
    kind = type(problem).__name__
    if kind == "NoSuchOption":
        name = problem.option_name
        known = [flag for each in problem.ctx.command.get_params(problem.ctx) for flag in each.opts]
        return f"unknown option '{name:.60}'{nearest(name, known)}"
    if kind == "MissingParameter" and parameter is not None:
        return f"{parameter.metavar or parameter.opts[0]} is missing"
    if kind == "BadOptionUsage" and "requires an argument" in message:
        return f"{problem.option_name} needs a value"
    if kind == "BadParameter" and parameter is not None and (expected := _expected(message)):
        found = _value(parameter.opts, arguments)
        return f"{_flag(parameter)} must be {expected}" + ("" if found is None else f", got {found!r:.60}")
    if unread := UNREADABLE.search(message):  # in the words of `read_whole`
        return f"{unread[1]:.200}: cannot be read: {os.strerror(errno.EACCES)}"
    if given := re.match(r"No such command '(.*?)'", message):
        return unknown("command", given[1], commands)
    if extra := EXTRA.search(message):
        return f"unexpected argument '{extra[1].split()[0]:.60}'"
    return message


def _flag(parameter: Any) -> str:
    """Return the name by which a user knows a parameter."""
    return str(max(parameter.opts, key=len)) if parameter.param_type_name == "option" else str(parameter.metavar)


def _expected(message: str) -> str:
    """Return what a value must be, from what click or pydantic say of it; nothing where they say something else."""
    if found := re.search(r"is not one of ('.*')", message):
        return " or ".join(found[1].rsplit(", ", 1))
    if found := re.search(r"greater than or equal to (\S+)|range x>=(\S+?)\.?$", message):
        return f"at least {found[1] or found[2]}"
    if re.search(r"valid integer", message):
        return "an integer"
    return "a number" if re.search(r"valid (number|float)", message) else ""


def _value(flags: Sequence[str], arguments: Sequence[str]) -> str | None:
    """Return what follows a flag on the command line."""
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=True):
        flag, equals, value = argument.partition("=")
        if flag in flags:
            return value if equals else following
    return None
