"""A slice of `make fuzz`, the corpus of what was found before, and whether the harness finds what it is there for."""

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import run as driver
from fuzz_seeds import read_seeds
from fuzz_targets import BY_NAME, TARGETS, Target, WrongError, check_model, input_of, outcome, remember
from fuzz_worker import tried

CORPUS = Path(__file__).parent / "corpus"
FILES = sorted(path for path in CORPUS.glob("*/*") if path.is_file())
SEED = str(time.time_ns()) if "BDDTORQUE_TEST_ALL" in os.environ else "slice"
"""`make test` tries the same inputs each time; `make test-all`, like `make fuzz`, new ones."""
INPUTS = 1000


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_slice(target: Target, seeds: Path, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_bytes(read_seeds(seeds, "urdf")[0])
    known, found = read_seeds(seeds, target.seeds), Counter[str]()
    for number in range(INPUTS * target.share // sum(each.share for each in TARGETS)):
        result = tried(target, input_of(target, known, SEED, number), tmp_path)
        assert not result.startswith("found"), (SEED, target.name, number, result)
        found[result] += 1
    assert found["refused"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_corpus(path: Path, seeds: Path, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_bytes(read_seeds(seeds, "urdf")[0])
    assert tried(BY_NAME[path.parent.name], path.read_bytes(), tmp_path) in ("accepted", "refused")


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_good_files_are_accepted(target: Target, seeds: Path, tmp_path: Path) -> None:
    """Else all would be refused and nothing found."""
    (tmp_path / "arm.urdf").write_bytes(read_seeds(seeds, "urdf")[0])
    for data in read_seeds(seeds, target.seeds):
        path = tmp_path / f"good{target.suffix}"
        path.write_bytes(data)
        assert outcome(target, path) == "accepted"


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_inputs_are_named_by_seed_and_number(target: Target, seeds: Path) -> None:
    known = read_seeds(seeds, target.seeds)
    inputs = [input_of(target, known, "a", number) for number in range(12)]
    assert inputs == [input_of(target, known, "a", number) for number in range(12)]
    assert len(set(inputs)) > 8 and inputs != [input_of(target, known, "b", number) for number in range(12)]


def test_the_same_digest_with_other_words_is_a_finding(seeds: Path, tmp_path: Path, monkeypatch) -> None:
    data = read_seeds(seeds, "bdt")[0]
    path = tmp_path / "arm.bdt"
    path.write_bytes(data)
    check_model(path)
    remember(seeds)
    monkeypatch.setattr("fuzz_targets._words", lambda model, kind: [[1]])
    with pytest.raises(WrongError, match="the same digest and other words"):
        check_model(path)


BAD = {
    "1": ("while True: pass", "hang"),
    "3": ("raise ZeroDivisionError('no')", "ZeroDivisionError: no"),
    "4": ("import ctypes; ctypes.string_at(0)", "crash: code -11"),
    "6": ("x = bytearray(1 << 33)", "MemoryError"),
}
"""Inputs on which a reader hangs, fails, crashes or takes all memory, and what is said of it."""


def test_the_harness_finds_what_is_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the reader does: the input is found and named, and the rest is tried."""
    script = tmp_path / "worker.py"
    script.write_text(
        f"import sys; sys.path[:0] = {[str(CORPUS.parent), str(CORPUS.parent.parent)]}\n"
        "import fuzz_worker, fuzz_targets\n"
        f"bad = { ({number.encode(): code for number, (code, _) in BAD.items()}) }\n"
        "def check(path):\n"
        "    exec(bad.get(path.read_bytes(), ''))\n"
        "target = fuzz_targets.Target('bad', 'none', '.x', None, check, 1)\n"
        "fuzz_worker.BY_NAME, fuzz_worker.TARGETS = {'bad': target}, ()\n"
        "fuzz_worker.read_seeds = lambda folder, kind: [b'']\n"
        "fuzz_worker.remember = lambda folder: None\n"
        "fuzz_worker.input_of = lambda target, known, seed, number: str(number).encode()\n"
        "fuzz_worker.PROCESSOR_SECONDS = 0.5\n"
        "fuzz_worker.main(*sys.argv[1:])\n"
    )
    monkeypatch.setattr(driver, "WORKER", script)
    found = driver.try_piece(tmp_path, "bad", "seed", 0, 8)
    findings = {str(each["number"]): str(each["what"]) for each in found.findings}
    assert sorted(findings) == sorted(BAD) and len(found.findings) == len(BAD)
    assert all(said in findings[number] for number, (_, said) in BAD.items()), findings
    assert sum(found.counts.values()) == 8


@pytest.mark.everything
def test_the_driver(tmp_path: Path) -> None:
    """All of it once, on few inputs: the table, the exit code, nothing left behind."""
    command = [sys.executable, driver.__file__, "--inputs", "60", "--seed", "x", "--workers", "1"]
    command += ["--target", "states_csv", "plan_tree", "--keep", str(tmp_path / "found")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-1].endswith("0 findings") and "60 inputs" in ran.stdout
    assert not (tmp_path / "found").exists()
