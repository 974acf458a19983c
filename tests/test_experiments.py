"""The runner of all experiments, and the list of them."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parent.parent / "experiments"
SCRIPTS = sorted(path.name for path in FOLDER.glob("*.py") if '__name__ == "__main__"' in path.read_text())
OK = 'import sys\nprint("hello", *sys.argv[1:])\nif __name__ == "__main__":\n    sys.exit(0)\n'
FAILING = 'if __name__ == "__main__":\n    raise SystemExit(1)\n'


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """Return the runner, for a folder of four scripts and a helper."""
    monkeypatch.syspath_prepend(FOLDER)
    spec = importlib.util.spec_from_file_location("run_all", FOLDER / "run_all.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "run_all", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    monkeypatch.setattr(module, "RESULTS", tmp_path / "results")
    for name, text in (("bench_a", OK), ("b_fails", FAILING), ("c", OK), ("forms", OK), ("helper", "x = 1\n")):
        (tmp_path / f"{name}.py").write_text(text)
    return module


def test_every_script_runs_once_whatever_becomes_of_the_others(runner: ModuleType, tmp_path: Path) -> None:
    outcomes = runner.run_all(runner.scripts(), quick=True, jobs=2)
    assert [each.script for each in outcomes] == ["b_fails.py", "c.py", "forms.py", "bench_a.py"]
    assert [each.verdict for each in outcomes] == ["FAILED (exit code 1)", *["as expected"] * 3]
    assert (tmp_path / "results" / "c.txt").read_text() == "hello --quick\n"
    assert all(0 < each.processor_seconds < 60 for each in outcomes)


def test_goals_that_are_missed_are_counted_and_fail_nothing(runner: ModuleType, tmp_path: Path) -> None:
    goals = (
        "from reporting import Verdicts\nv = Verdicts()\nv.goal('fast', '<= 1', '2', False)\nv.goal('a', 1, 1, True)\n"
    )
    (tmp_path / "reporting.py").write_text((FOLDER / "reporting.py").read_text())
    (tmp_path / "goals.py").write_text(f"{goals}v.show()\nif __name__ == '__main__':\n    v.exit()\n")
    (outcome,) = runner.run_all([tmp_path / "goals.py"], quick=False, jobs=1)
    assert (outcome.code, outcome.verdict) == (0, "as expected, 1 goals missed")


def test_scripts_by_name(runner: ModuleType) -> None:
    assert [path.name for path in runner.scripts(["c", "bench_a.py"])] == ["bench_a.py", "c.py"]
    with pytest.raises(SystemExit, match="helper"):
        runner.scripts(["helper"])


def test_the_list_has_every_script_and_no_other() -> None:
    listed = re.findall(r"^\| `([a-z_0-9]+\.py)` \|", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert sorted(listed) == SCRIPTS
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_says_how_it_is_run_and_can_be_quick(script: str) -> None:
    text = (FOLDER / script).read_text()
    assert f"python experiments/{script}" in text
    assert "--quick" in text


@pytest.mark.everything
@pytest.mark.parametrize("script", [name for name in SCRIPTS if name not in ("run_all.py", "same_digest.py")])
def test_every_script_runs_quickly_and_finds_what_it_expects(script: str) -> None:
    ran = subprocess.run(
        [sys.executable, str(FOLDER / script), "--quick"], capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
