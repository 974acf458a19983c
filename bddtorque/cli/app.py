"""The application: its commands, what it does with errors, and its exit codes.

    0    done
    1    finished, but a check failed: a file that does not verify, more error found than proved
    2    bad use: arguments, files or robots that cannot be used; one line on standard error says why
    130  interrupted
    141  whoever reads standard output closed it early (128 + SIGPIPE), as in ``bddtorque verify f.bdt | head -1``

A new command is a file with a function of its name, whose text ends with examples, and its name in `COMMANDS`.
"""

from __future__ import annotations

import contextlib
import errno
import inspect
import io
import logging
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from bddtorque.base.errors import LONGEST_LINE, BddTorqueError, one_line
from bddtorque.base.files import WouldOverwriteError, command_files
from bddtorque.base.version import __version__
from bddtorque.cli.console import for_shell, say
from bddtorque.cli.help_text import PlainHelpCommand, PlainHelpGroup, usage_message
from bddtorque.cli.options import ready_command

BAD_USE, INTERRUPTED, BROKEN_PIPE = 2, 130, 141
NARROWEST = 20
"""Columns; a terminal that claims fewer is not believed."""
# typer carries click within it or depends on it, by version; either way this is click.ClickException
CLICK_PROBLEM: type[Exception] = typer.BadParameter.__mro__[2]

COMMANDS = (
    "robots", "lint", "compile", "plan", "terms", "info", "eval", "sweep", "bench", "warm-up", "ask", "verify",
    "report", "export",
)  # fmt: skip


def command_named(name: str) -> Callable[..., Any]:
    """Return the function of a command."""
    function = f"{name.replace('-', '_')}_command"
    command: Callable[..., Any] = getattr(import_module(f"bddtorque.cli.{function}"), function)
    return command


class CommandGroup(PlainHelpGroup):
    """The application. It makes the command that is asked for, and no other: options take long to import."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name; None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        single = typer.Typer(context_settings=CONTEXT, add_completion=False)
        add_command(single, cmd_name, command_named(cmd_name))
        return typer.main.get_command(single)

    def help_line(self, ctx: Any, name: str) -> str:
        """Return what a command does, in a line."""
        return inspect.cleandoc(command_named(name).__doc__ or "").partition("\n\n")[0]


CONTEXT = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="bddtorque",
    cls=CommandGroup,
    help="Compile robot dynamics into fixed-point code with a proved worst-case error.",
    epilog="Example: bddtorque compile planar2r --bits 12 -o planar2r.bdt",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=CONTEXT,
)


def add_command(application: typer.Typer, name: str, command: Callable[..., Any]) -> None:
    """Add a command with plain help, which ends with the examples of its text, and with messages that name flags."""
    application.command(name, cls=PlainHelpCommand)(ready_command(command))


def _show_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"bddtorque {__version__}\n")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Take what stands before the command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    return run_application(app, "bddtorque", arguments)


def run_application(application: typer.Typer, program: str, arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit code; `program` is what the user types before the arguments."""
    _replace_closed_streams()
    if os.environ.get("COLUMNS", "").isdecimal() and int(os.environ["COLUMNS"]) < NARROWEST:
        del os.environ["COLUMNS"]
    for stream in (sys.stdout, sys.stderr):  # a terminal without · and ± is no reason to fail
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    handler = ToStandardError()
    handler.setFormatter(logging.Formatter("bddtorque: %(message)s"))
    logging.getLogger("bddtorque").addHandler(handler)
    try:
        with command_files():
            code = application(arguments, prog_name=program, standalone_mode=False)
        if code == INTERRUPTED:
            return _interrupted()
        sys.stdout.flush()  # here, where it can be said that the disk is full
        return code if isinstance(code, int) else 0
    except CLICK_PROBLEM as problem:
        if type(problem).__name__ == "NoArgsIsHelpError":  # the message is the help itself
            sys.stdout.write(f"{problem}\n")
            return BAD_USE
        given = sys.argv[1:] if arguments is None else arguments
        message = usage_message(problem, given, COMMANDS)
        if message.endswith(os.strerror(errno.EACCES)):  # no option would help
            return _refused(message)
        see = " See" if message.endswith("?") else "; see"
        command = "".join(f"{name} " for name in given[:1] if name in COMMANDS)
        return _refused(f"{message}{see} {program} {command}--help")
    except (BddTorqueError, WouldOverwriteError, MemoryError) as problem:
        return _refused(str(problem) or "not enough memory")
    except OSError as problem:  # a name that is too long, standard output on a full disk
        return _failed(problem)
    except SystemExit as end:  # rich and click end so where standard output is a broken pipe, with code 1
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        return _failed(end.__context__)
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except Exception as problem:
        if not _of_interruption(problem):
            raise
        return _interrupted()
    finally:
        logging.getLogger("bddtorque").removeHandler(handler)


class ToStandardError(logging.Handler):
    """Writes to what standard error is at the time: above the bar, while one is drawn."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        sys.stderr.write(f"{self.format(record)}\n")


class ClosedOutput(io.TextIOBase):
    """Stands for a standard output that was closed before the command began: what would be lost is an error."""

    def write(self, _text: str) -> int:
        """Refuse."""
        raise OSError(errno.EBADF, "standard output is closed")


def _replace_closed_streams() -> None:
    """Put something in the place of standard streams that are closed, and of their descriptors.

    Otherwise the first files to be opened would get these descriptors, and what libraries write to them.
    """
    if None in (sys.stdin, sys.stdout, sys.stderr):
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(descriptor)
    if sys.stdout is None:
        sys.stdout = ClosedOutput()
    if sys.stderr is None:
        sys.stderr = io.StringIO()


def _refused(message: str) -> int:
    say(one_line(" ".join(for_shell(message).split()), LONGEST_LINE))
    return BAD_USE


def _failed(problem: OSError) -> int:
    """Say what the system refused; whoever closed our output early knows it, and needs no line."""
    try:
        sys.stdout.flush()
    except OSError:  # Python would try again at its end, and complain in its own words
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(problem, BrokenPipeError):
        return BROKEN_PIPE
    where = problem.filename if isinstance(problem.filename, str) else "output"
    return _refused(f"{where:.200}: {problem.strerror or problem}")


def _of_interruption(problem: BaseException | None) -> bool:
    """Tell if an exception came while Ctrl-C was dealt with: libraries that clean up may fail, and hide it."""
    return problem is not None and (isinstance(problem, KeyboardInterrupt) or _of_interruption(problem.__context__))


def _interrupted() -> int:
    say("interrupted")
    return INTERRUPTED
