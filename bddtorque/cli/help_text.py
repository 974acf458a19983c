"""The text of ``--help``, which fits 80 columns, and what is said of a command line that cannot be read.

Options that many commands take stand in groups (`CHOICES` in options.py). ``--help`` shows a command's own options
and, of the groups, only those in `DAILY`; it says what else ``--help-all`` lists.
"""

from __future__ import annotations

import errno
import inspect
import os
import re
import shutil
import textwrap
from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from bddtorque.base.errors import nearest, unknown
from bddtorque.cli.console import columns, styled

DAILY = {"bits", "target", "chip", "quantity", "velocity", "acceleration", "torque"}
"""Options of the shared groups that ``--help`` shows too."""
RANGE = (
    "RANGE is 1.5 (that is ±1.5) or -1:2 for all joints, 1.5,-1:2 for one per joint, or elbow=-1:2 by name; "
    'units such as "20 deg/s" are accepted.'
)
ALL = "help_all"
"""Where a context keeps that everything is to be shown."""
NARROWEST, WIDEST, INDENT = 60, 100, 2
UNREADABLE = re.compile(r"\b(?:path|file|directory) '(.*)' is not readable", re.IGNORECASE)
EXTRA = re.compile(r"unexpected extra arguments?(?:\(s\))? \((.*)\)")


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted:
        context.meta[ALL] = True
        typer.echo(context.get_help())
        raise typer.Exit


HelpAllOption = Annotated[bool, typer.Option("--help-all", is_eager=True, callback=_show_all, hidden=True)]
"""Hidden because ``--help`` names it below its options, where there is more to show."""


class PlainHelpCommand(TyperCommand):
    """A command that shows its help as plain text."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of one command."""
        formatter.write("\n".join(_command_lines(self, ctx)) + "\n")


class PlainHelpGroup(TyperGroup):
    """The application: shows its commands, one line or two each, as plain text."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the whole application."""
        rows = [(name, self.help_line(ctx, name)) for name in self.list_commands(ctx)]
        lines = [f"Usage: {ctx.command_path} COMMAND ...", "", *_paragraphs(self.help), "", styled("Commands", 1)]
        lines += [
            *_columns(rows),
            "",
            styled("Options", 1),
            *_columns(_rows(self.get_params(ctx), ctx)),
        ]
        formatter.write("\n".join([*lines, "", *_paragraphs(self.epilog)]) + "\n")

    def help_line(self, ctx: Any, name: str) -> str:
        """Return what a command does, in a line."""
        command = self.get_command(ctx, name)
        return "" if command is None else command.get_short_help_str(300)


def _command_lines(command: Any, ctx: Any) -> Iterator[str]:
    about, start, examples = (command.help or "").partition("Example:")
    parameters = command.get_params(ctx)
    arguments = [each for each in parameters if each.param_type_name == "argument"]
    groups: dict[str, list[Any]] = {}
    for option in parameters:
        if option.param_type_name == "option" and not option.hidden:
            groups.setdefault(getattr(option, "rich_help_panel", None) or "Options", []).append(option)
    whole = ctx.meta.get(ALL) or len(groups) == 1
    shown = groups if whole else {name: _daily(name, options) for name, options in groups.items()}
    usage = [each.metavar if each.required else f"[{each.metavar}]" for each in arguments]
    yield " ".join(["Usage:", ctx.command_path, *usage, "[options]"])
    yield ""
    yield from _paragraphs(about)
    if arguments:
        yield ""
        yield from _columns([(each.metavar, each.help or "") for each in arguments])
    for name, options in shown.items():
        if options:
            yield ""
            yield styled(name, 1)
            yield from _columns(_rows(options, ctx))
    if any(option.metavar == "RANGE" for options in shown.values() for option in options):
        yield ""
        yield from _paragraphs(RANGE)
    if not whole:
        left = [f"{name.partition(' (')[0].lower()}" for name in groups if len(shown[name]) < len(groups[name])]
        yield ""
        yield from _paragraphs(f"--help-all shows every option; more for: {', '.join(left)}.")
    yield ""
    yield from _paragraphs(start + examples)


def _daily(group: str, options: list[Any]) -> list[Any]:
    return options if group == "Options" else [each for each in options if each.name in DAILY]


def _rows(options: list[Any], ctx: Any) -> list[tuple[str, str]]:
    """Return flags and what they do, with the default of those that have one."""
    rows = []
    for option in options:
        flags = ", ".join(sorted(option.opts, key=lambda flag: flag.startswith("--")))
        text, default = option.help or "", option.get_default(ctx, call=False)
        if not option.is_flag:
            flags += f" {option.metavar or option.name.upper()}"
            text += (
                ""
                if default is None or isinstance(default, list | tuple)
                else f" Default: {default:g}."
                if isinstance(default, float)
                else f" Default: {default}."
            )
        rows.append((flags, text))
    return rows


def _width() -> int:
    """Return the columns to fill: those of the terminal within reason, 80 where there is none."""
    return min(max(shutil.get_terminal_size((80, 24)).columns, NARROWEST), WIDEST)


def _columns(rows: list[tuple[str, str]]) -> Iterator[str]:
    return columns(rows, _width(), INDENT)


def _paragraphs(text: str | None) -> Iterator[str]:
    """Give paragraphs as lines, each wrapped; examples that follow each other stand without a gap."""
    paragraphs = [" ".join(part.split()) for part in inspect.cleandoc(text or "").split("\n\n")]
    for number, paragraph in enumerate(paragraphs):
        if number and not paragraph.startswith("Example:"):
            yield ""
        yield from textwrap.wrap(
            paragraph, _width(), break_on_hyphens=False, subsequent_indent="  " * ("Example:" in paragraph)
        )


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
