"""The application itself: help, version, bad use, interruption, start-up."""

import io
import re
import subprocess
import sys
from contextlib import suppress
from types import SimpleNamespace

import numba
import pytest

import bddtorque
from bddtorque.base.errors import BddTorqueError
from bddtorque.base.workers import step
from bddtorque.cli import console
from bddtorque.cli.app import COMMANDS, main
from bddtorque.cli.progress import NUMBA, ShownProgress


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_version(run):
    assert run("--version") == (0, f"bddtorque {bddtorque.__version__}\n", "")


def test_as_a_module():
    ran = subprocess.run([sys.executable, "-m", "bddtorque", "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout == f"bddtorque {bddtorque.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(run, command):
    ran = run(command, "--help")
    assert ran.code == 0
    assert f"Example: bddtorque {command}" in ran.out
    shown = " ".join(run(command, "--help-all").out.split())
    for option in re.findall(r" (--[a-z-]+)", "".join(re.findall(r"Example: .*(?:\n  +\S.*)*", ran.out))):
        assert re.search(rf"{option}\b", shown.split("Example:")[0]), option


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["--help", "--help-all"])
def test_help_fits_eighty_columns_and_pads_nothing(run, monkeypatch, command, option):
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(command, option).out.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert [line for line in lines if line != line.rstrip()] == []
    assert [line for line in lines if "<bool>" in line or "\x1b" in line] == []


def test_help_of_compile_fits_a_screen_and_help_all_has_the_rest(run):
    short, whole = run("compile", "--help").out, run("compile", "--help-all").out
    assert len(short.splitlines()) <= 50
    assert "--bits BITS" in short
    assert "--snap" not in short
    assert "--help-all shows every option; more for: measured data instead of a robot" in short
    assert all(flag in whole for flag in ("--bits BITS", "--snap X", "--samples FILE", "RANGE is 1.5"))


def test_help_all_of_a_command_without_groups_is_its_help(run):
    assert run("info", "--help-all").out == run("info", "--help").out


def test_help_is_coloured_on_a_terminal_only(monkeypatch):
    monkeypatch.setattr(console.sys, "stdout", SimpleNamespace(isatty=lambda: True))
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert console.styled("Options", 1) == "\x1b[1mOptions\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert console.styled("Options", 1) == "Options"


def test_completion_can_be_installed(run):
    shown = run("--help").out
    assert "--install-completion" in shown
    assert "--show-completion" in shown


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        (["co"], ["compile"]),
        (["compile", "planar2r", "--target", "i"], ["integer"]),
        (["compile", "planar2r", "--chip", "cortex-m4"], ["cortex-m4", "cortex-m4f"]),
        (["plan", "planar2r", "--quantity", "ma"], ["mass_matrix"]),
        (["compile", "planar2r", "--precision", "s"], ["single"]),
    ],
)
def test_names_are_completed(typed, values, monkeypatch, capsys):
    monkeypatch.setenv("_BDDTORQUE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", " ".join(["bddtorque", *typed]))
    monkeypatch.setenv("COMP_CWORD", str(len(typed)))
    with suppress(SystemExit):
        main([])
    assert capsys.readouterr().out.split() == values


def test_nothing_given_shows_help_and_is_bad_use(run):
    ran = run()
    assert ran.code == 2
    assert all(command in ran.out + ran.err for command in COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "unknown command 'nonsense'; known: robots, lint, compile"),
        (["compile"], "compile needs SPEC (a name, a specification or a robot) or --samples FILE"),
        (
            ["compile", "planar2r", "--bots", "8"],
            "unknown option '--bots'; did you mean '--bits'? See bddtorque compile --help",
        ),
        (["info"], "FILE is missing; see bddtorque info --help"),
        (["eval", "a.bdt", "b.csv", "c.csv"], "unexpected argument 'c.csv'"),
        (["compil"], "unknown command 'compil'; did you mean 'compile'?"),
        (["compile", "planar2r", "--bits"], "--bits needs a value; see bddtorque compile --help"),
        (["verify", "a.bdt", "--coq"], "--coq needs a value; see bddtorque verify --help"),
        (["sweep", "planar2r", "--states", "many"], "--states must be an integer, got 'many'"),
        (["sweep", "planar2r", "--search=-1"], "--search must be at least 0, got -1"),
        (["ask", "a.bdt", "--at-least", "x"], "--at-least must be a number, got 'x'"),
    ],
)
def test_bad_use_is_one_line(refused, arguments, said):
    assert said in refused(*arguments)


def test_a_file_that_may_not_be_read_is_said_in_our_words(monkeypatch, refused, tmp_path):
    (tmp_path / "arm.bdt").write_bytes(b"PK")
    monkeypatch.setattr("os.access", lambda *_, **__: False)  # root may read everything
    for command in ("verify", "info", "ask"):
        said = refused(command, tmp_path / "arm.bdt")
        assert said == f"bddtorque: {tmp_path / 'arm.bdt'}: cannot be read: Permission denied\n"


def test_messages_are_one_printable_line_whatever_they_quote(monkeypatch, refused):
    def fail(*_: object) -> None:
        raise BddTorqueError("a name\nwith\x1b[31m colours")

    monkeypatch.setattr("bddtorque.model.model.load", fail)
    assert refused("info", "x.bdt") == "bddtorque: a name\\nwith\\x1b[31m colours\n"


def test_out_of_memory_is_one_line(monkeypatch, refused):
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("bddtorque.model.model.load", fail)
    assert "memory" in refused("info", "x.bdt")


def test_interruption_is_one_line_and_130(monkeypatch, run):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bddtorque.model.model.load", interrupt)
    assert run("info", "x.bdt") == (130, "", "bddtorque: interrupted\n")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_drawn_on_a_terminal_only(monkeypatch):
    for stream, drawn in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr("sys.stderr", stream)
        with ShownProgress("compile") as progress:
            progress.start("compiling [b]arm[/b]", 3.0)
            progress.advance("cos(q1)", 1.0, cached=False)
            progress.advance("sin(q1)", 2.0, cached=True)
            progress.finish()
            progress.finish()
        assert (progress.done, progress.cached, progress.drawn) == (2, 1, drawn)
        assert ("compiling [b]arm[/b]" in stream.getvalue()) == drawn


def test_progress_says_how_long_it_will_take(monkeypatch):
    monkeypatch.setattr("sys.stderr", stream := Terminal())
    with ShownProgress("compile", quiet=True) as progress:
        progress.processors = 2
        progress.start("planning arm", 0.0)  # a step without parts: nothing is known of its time
        progress.finish()
        assert "left" not in stream.getvalue()
        progress.start("compiling arm", 90.0)
        progress.finish()
    assert "about 45 s left" in stream.getvalue()  # before anything is done, by the estimate
    monkeypatch.setattr("sys.stderr", stream := Terminal())
    with ShownProgress("compile", quiet=True) as progress:
        progress.start("compiling arm", 1000.0)
        progress.advance("cos(q1)", 1e-9, cached=False)
    assert "min left" in stream.getvalue()  # at the pace so far
    assert progress.done == 1


def test_one_bar_goes_through_all_parts_of_a_job(monkeypatch):
    monkeypatch.setattr("sys.stderr", stream := Terminal())
    shares = []
    with ShownProgress("sweep", {"planning": 1.0, "sweeping": 3.0}, quiet=True) as progress:
        for place, bits in enumerate((10, 11), 1):
            progress.part(f"{bits} bits", place, 2)
            for what, total in (("planning arm", 0.0), ("proving arm", 0.0), ("sweeping arm", 2.0)):
                with step(progress, what, total):
                    shares.append(progress._bar.tasks[0].completed)
                    if total:
                        progress.advance("states", 1.0, False)
                        shares.append(progress._bar.tasks[0].completed)
        assert progress._bar.tasks[0].completed == 1.0
    eighths = [0, 1, 1, 2.5]  # of a part: a step that nobody foresaw does not move the bar
    assert shares == [place / 2 + share / 8 for place in range(2) for share in eighths]
    assert "sweep 10 bits, 1 of 2: sweeping" in stream.getvalue()
    assert "sweep 11 bits, 2 of 2: planning" in stream.getvalue()


def test_progress_tells_of_numba(monkeypatch):
    monkeypatch.setattr("sys.stderr", stream := Terminal())
    with ShownProgress("bench", quiet=True):
        numba.njit(lambda x: x + 1)(1)
        assert f"bench: {NUMBA}" in stream.getvalue()
    numba.njit(lambda x: x + 2)(1)  # nobody listens any more


def test_our_own_mistakes_are_not_hidden(monkeypatch, run):
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("bddtorque.model.model.load", fail)
    with pytest.raises(ZeroDivisionError):
        run("info", "x.bdt")


def test_starting_imports_nothing_heavy():
    code = "import sys, bddtorque.cli; print([m for m in ('numpy', 'numba', 'dd', 'matplotlib') if m in sys.modules])"
    assert python(code).stdout == "[]\n"


def test_a_terminal_without_unicode_is_no_traceback():
    code = (
        "import io, sys; sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='ascii'); "
        "from bddtorque.cli import main; sys.exit(main(['robots']))"
    )
    ran = python(code)
    assert (ran.returncode, ran.stderr) == (0, "")
