"""Experiments: the two verdicts of a check, the runner of all scripts, and the list of them."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parent.parent / "experiments"
SCRIPTS = sorted(path.name for path in FOLDER.glob("*.py") if '__name__ == "__main__"' in path.read_text())
TOOLS = ("run_all.py", "machines.py")
"""They have no figures of their own to check; tests/machines/test_machines_script.py runs the second."""
CHECKED = [name for name in SCRIPTS if name not in TOOLS]
OK = """
import sys
from reporting import TIMED, Check, at_most, below, finish
print("hello", *sys.argv[1:])
checks = [
    Check("F01", "error", 2e-15, below(1e-12), below(1e-12)),
    Check("F22", "speed-up", 5.46, 5.46, 6),
    Check("F13", "products", 665, 665, 852, "another program"),
    Check("ours", "ns", 12.5, TIMED, goal=at_most(10)),
]
if __name__ == "__main__":
    finish(checks)
"""
CHANGED = OK.replace("5.46, 5.46, 6", "5.38, 5.46, 6")
FAILING = OK.replace("checks = [", "raise SystemExit(3)\nchecks = [")
SKIPPED = OK.replace(
    "checks = [", "from reporting import require\nrequire(['', 'it needs a tool: apt-get install tool'])\nchecks = ["
)
SILENT = 'if __name__ == "__main__":\n    print("as expected")\n'
REFUTED_MAY_HAVE = ("confirmed", "refuted", "open")
PAPER = "paper: 1 confirmed, 1 refuted, 1 open"


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """Return the runner, for a folder of a few scripts and a helper."""
    monkeypatch.syspath_prepend(FOLDER)
    spec = importlib.util.spec_from_file_location("run_all", FOLDER / "run_all.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "run_all", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    monkeypatch.setattr(module, "RESULTS", tmp_path / "results")
    (tmp_path / "reporting.py").write_text((FOLDER / "reporting.py").read_text())
    for name, text in (
        ("bench_a", OK), ("b_changed", CHANGED), ("b_fails", FAILING), ("b_silent", SILENT),
        ("b_skipped", SKIPPED), ("c", OK), ("forms", OK),
        ("helper", "x = 1\n"),
    ):  # fmt: skip
        (tmp_path / f"{name}.py").write_text(text)
    return module


def test_every_script_runs_once_whatever_becomes_of_the_others(runner: ModuleType, tmp_path: Path) -> None:
    outcomes = runner.run_all(runner.scripts(), quick=True, jobs=2)
    names = ["b_changed.py", "b_fails.py", "b_silent.py", "b_skipped.py", "c.py", "forms.py", "bench_a.py"]
    assert [each.script for each in outcomes] == names
    assert [each.code for each in outcomes] == [1, 3, 0, 77, 0, 0, 0]
    fine = f"regression: 3 as recorded, 0 changed, 1 timed; {PAPER}"
    changed = f"regression: 2 as recorded, 1 changed, 1 timed; {PAPER}"
    failed = [f"FAILED (exit code {code})" for code in (3, 0)]
    skipped = "skipped: it needs a tool: apt-get install tool"
    assert [each.verdict for each in outcomes] == [changed, *failed, skipped, fine, fine, fine]
    assert [each.failed for each in outcomes] == [True, True, True, False, False, False, False]
    assert (tmp_path / "results" / "c.txt").read_text().startswith("hello --quick\n")
    assert all(each.processor_seconds > 0 for each in outcomes)
    refuted = [{"fact": "F01", "verdict": "confirmed"}, {"fact": "F13", "verdict": "open"}]
    assert runner.facts(outcomes) == [*refuted, {"fact": "F22", "verdict": "refuted"}]


def test_a_script_whose_figure_is_not_as_recorded_exits_with_1(runner: ModuleType, tmp_path: Path) -> None:
    for name, code in (("c", 0), ("b_changed", 1)):
        ran = subprocess.run([sys.executable, tmp_path / f"{name}.py"], capture_output=True, text=True, check=False)
        assert ran.returncode == code, ran.stdout + ran.stderr
    shown = "F22, speed-up: paper: refuted (6 there, 5.38 here); regression: CHANGED (5.46 recorded, 5.38 here)"
    assert shown in ran.stdout.splitlines()
    assert (
        "F13, products: paper: open (852 there, 665 here), another program; regression: 665 as recorded" in ran.stdout
    )
    assert "ours, ns: timed: 12.5; goal missed (at most 10)" in ran.stdout


@pytest.fixture
def reporting(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("reporting")


def test_what_a_figure_may_be(reporting: ModuleType) -> None:
    for rule, good, bad in (
        (reporting.below(1), 0.99, 1.0),
        (reporting.above(1), 1.01, 1.0),
        (reporting.at_most(1), 1.0, 1.01),
        (reporting.at_most([1, 2]), [1, 2], [2, 1]),
        (reporting.between(1, 2), [1.5, 1.9], [1.5, 2.0]),
        (reporting.near((1.0, 100.0), relative=0.01), [1.005, 99.5], [1.0, 102.0]),
        (reporting.near(1.0, absolute=0.1), 1.05, 1.2),
        ("141m+101a", "141m+101a", "144m+98a"),
        ({4}, {4.0}, {4, 5}),
    ):
        assert reporting.matches(good, rule)
        assert not reporting.matches(bad, rule)
        assert not reporting.matches(float("nan"), rule)


def test_pages_show_the_figures_that_are_written_for_them(reporting: ModuleType) -> None:
    page = (FOLDER.parent / "docs" / "papers.md").read_text()
    assert all(f"(images/{name})" in page and (reporting.PAGES / name).is_file() for name in reporting.SHOWN)
    drawn = {
        f"{name}.svg" for path in FOLDER.glob("*.py") for name in re.findall(r'save_figure\("(\w+)"', path.read_text())
    }
    assert reporting.SHOWN - drawn == {"comparison_word.svg"}  # one figure a cost model


def test_one_refutation_refutes_a_fact(reporting: ModuleType) -> None:
    assert reporting.overall(["confirmed", "refuted", "open"]) == "refuted"
    assert reporting.overall(["confirmed", "open"]) == "open"
    assert reporting.overall(["confirmed"]) == "confirmed"


def test_scripts_by_name(runner: ModuleType) -> None:
    assert [path.name for path in runner.scripts(["c", "bench_a.py"])] == ["bench_a.py", "c.py"]
    with pytest.raises(SystemExit, match="helper"):
        runner.scripts(["helper"])


def test_the_list_has_every_script_and_no_other() -> None:
    listed = re.findall(r"^\| `([a-z_0-9]+\.py)` \|", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert sorted(listed) == SCRIPTS
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("script", [*CHECKED, "run_all.py"])
def test_every_script_says_how_it_is_run_and_can_be_quick(script: str) -> None:
    text = (FOLDER / script).read_text()
    assert f"python experiments/{script}" in text
    assert "--quick" in text


@pytest.mark.parametrize("script", CHECKED)
def test_every_script_ends_with_its_checks_and_no_verdict_is_a_constant(script: str) -> None:
    tree = ast.parse((FOLDER / script).read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    main = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "main")
    last = main.body[-1]
    assert isinstance(last, ast.Expr), f"{script}: main() must end with finish(...)"
    assert ast.unparse(last).startswith("finish("), f"{script}: main() must end with finish(...)"
    checks = [call for call in calls if call.func.id == "Check"]
    assert checks
    for call in checks:
        given = dict(zip(("fact", "what", "ours", "recorded", "paper"), call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords}
        assert not isinstance(given["ours"], ast.Constant), f"{script}:{call.lineno}: ours is a constant"
        assert ast.unparse(given["ours"]) != ast.unparse(given["recorded"]), f"{script}:{call.lineno}: always the same"


@pytest.mark.everything
@pytest.mark.parametrize("script", [name for name in CHECKED if name != "same_digest.py"])
def test_every_script_runs_quickly_and_finds_what_was_recorded(script: str) -> None:
    ran = subprocess.run([sys.executable, str(FOLDER / script), "--quick"], capture_output=True, text=True, check=False)
    if ran.returncode == 77:
        pytest.skip(ran.stdout.strip())
    assert ran.returncode == 0, ran.stdout + ran.stderr
    stated = verdicts_of_the_docs()
    for fact, verdict in re.findall(r"^(F\d\d), .*?: paper: (\w+) \(", ran.stdout, re.MULTILINE):
        allowed = {"confirmed": ("confirmed", "open"), "open": ("confirmed", "open"), "refuted": REFUTED_MAY_HAVE}
        assert verdict in allowed[stated[fact]], f"{script} finds {fact} {verdict}, docs/papers.md says {stated[fact]}"


def verdicts_of_the_docs() -> dict[str, str]:
    """Return the verdict on each fact in docs/papers.md."""
    text = (FOLDER.parent / "docs" / "papers.md").read_text()
    return dict(re.findall(r"^\| (F\d\d) \|.*\| \**(confirmed|refuted|open|ours)\** \| [^|]*\|$", text, re.MULTILINE))
