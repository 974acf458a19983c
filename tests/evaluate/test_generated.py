"""Generated modules are known by what they hold and by the code they call: an update runs nothing kept before it."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bddtorque.evaluate import code_writer as generated

SOURCE = "x = 3\n"


def test_one_source_is_one_module(tmp_path: Path) -> None:
    first = generated.generated_module(SOURCE, tmp_path)
    assert first.x == 3
    assert generated.generated_module(SOURCE, tmp_path) is first
    assert len(list(tmp_path.glob("*.py"))) == 1


def test_other_code_of_ours_is_another_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = generated.generated_module(SOURCE, tmp_path)
    monkeypatch.setattr(generated, "_called", lambda: "another state")
    assert generated.generated_module(SOURCE, tmp_path).__name__ != first.__name__


def test_the_code_that_is_called_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("evaluate/code_writer.py", "evaluate/single.py", "base/jit.py", "words/rounding.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(generated, "__file__", str(tmp_path / "evaluate" / "generated.py"))
    called = set()
    for name in ("evaluate/single.py", "base/jit.py", "words/rounding.py"):
        called.add(generated._called.__wrapped__())
        (tmp_path / name).write_text("changed")
    called.add(generated._called.__wrapped__())
    assert len(called) == 4
    monkeypatch.undo()
    assert generated._called.__wrapped__() != "unknown"  # every file stands where it is looked for


def test_a_process_without_a_cache_leaves_nothing_behind(tmp_path: Path) -> None:
    code = "from bddtorque.evaluate.code_writer import generated_module, private_folder\n"
    code += "assert generated_module('x = 3\\n', private_folder()).x == 3"
    environment = {**os.environ, "TMPDIR": str(tmp_path), "BDDTORQUE_CACHE": "off"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert list(tmp_path.iterdir()) == []


def test_a_module_that_failed_is_not_there(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            generated.generated_module("x = 3\ny = 1 / 0\n", tmp_path)


def test_no_thread_gets_half_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go = threading.Event(), threading.Event()
    monkeypatch.setattr(sys, "half_a_module", (begun, go), raising=False)
    source = "import sys\nbegun, go = sys.half_a_module\nbegun.set()\ngo.wait()\nwhole = 3\n"
    found: list[bool] = []
    threads = [
        threading.Thread(target=lambda: found.append(hasattr(generated.generated_module(source, tmp_path), "whole")))
        for _ in range(2)
    ]
    threads[0].start()
    begun.wait()
    threads[1].start()
    threads[1].join(0.05)  # time to take what is there
    go.set()
    for thread in threads:
        thread.join()
    assert found == [True, True]
