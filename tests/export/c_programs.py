"""Exported C as a program that runs many states: strict warnings are errors, and so is whatever a sanitizer sees."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import bddtorque as bt
from bddtorque.export.c_exporter import c_files
from bddtorque.export.c_text import prefix_of
from bddtorque.plan.wires import Sine

WARNINGS = [
    "-std=c99",
    "-pedantic",
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wconversion",
    "-Wsign-conversion",
    "-Werror",
    "-ffp-contract=off",
]
SANITIZERS = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

needs_compiler = pytest.mark.skipif(
    shutil.which("cc") is None, reason="no C compiler (cc) on this machine: exported C cannot be compiled"
)

WORDS_MAIN = """\
#include <stdio.h>
#include "{prefix}.h"

int main(void)
{{
    int32_t given[3][{n}], found[{n} + 1];

    while (fread(given, sizeof given, 1, stdin) == 1) {{
        found[{n}] = (int32_t){prefix}_torque_words(given[0], given[1], given[2], found);
        if (fwrite(found, sizeof found, 1, stdout) != 1) {{
            return 1;
        }}
    }}
    return 0;
}}
"""
FLOATS_MAIN = """\
#include <stdio.h>
#include "{prefix}.h"

int main(void)
{{
    double given[3][{n}], found[{n} + 1];
    int k;

    while (fread(given, sizeof given, 1, stdin) == 1) {{
        for (k = 0; k < {n}; k++) {{
            found[k] = 1e300;
        }}
        found[{n}] = {prefix}_torque(given[0], given[1], given[2], found);
        if (fwrite(found, sizeof found, 1, stdout) != 1) {{
            return 1;
        }}
    }}
    return 0;
}}
"""


def compiled(files: Mapping[str, str], sources: list[str], folder: Path, flags: list[str] | None = None) -> Path:
    """Write the files, compile some of them and return the program."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="ascii")
    program = folder / "program"
    flags = SANITIZERS if flags is None else flags
    done = subprocess.run(
        ["cc", *WARNINGS, *flags, "-o", program.name, *sources, "-lm"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:2000]
    return program


def run_words(model: bt.Model, words: list[np.ndarray], folder: Path, flags: list[str] | None = None, **options):
    """Return torque words (N, n) and counts of words out of range (N,) from C; `options` are those of the export."""
    files = c_files(model, **options).files
    n, prefix = len(model.formats.q), prefix_of(model.robot.name, options.get("name"))
    files["main.c"] = WORDS_MAIN.format(prefix=prefix, n=n)
    program = compiled(files, [f"{prefix}.c", "main.c"], folder, flags)
    found = _run(program, np.stack(words, axis=1).astype("=i4")).view("=i4").reshape(-1, n + 1)
    assert len(found) == len(words[0])
    return found[:, :n], found[:, n]


def run_floats(model: bt.Model, states: list[np.ndarray], folder: Path):
    """Return torques (N, n) and what the function returned (N,), from the float front end in C."""
    files = c_files(model, floats=True).files
    n, prefix = len(model.formats.q), prefix_of(model.robot.name)
    files["main.c"] = FLOATS_MAIN.format(prefix=prefix, n=n)
    program = compiled(files, [f"{prefix}.c", f"{prefix}_float.c", "main.c"], folder)
    found = _run(program, np.stack(states, axis=1).astype("=f8")).view("=f8").reshape(-1, n + 1)
    assert len(found) == len(states[0])
    return found[:, :n], found[:, n].astype(int)


def _run(program: Path, given: np.ndarray) -> np.ndarray:
    quiet = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}  # a leak checker needs rights that not every sandbox gives
    done = subprocess.run([program], input=given.tobytes(), capture_output=True, check=False, env=quiet)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[:2000]
    assert done.stderr == b""
    return np.frombuffer(done.stdout, np.uint8)


def wild_words(model: bt.Model, count: int, seed: int = 5) -> list[np.ndarray]:
    """Return words of which many are out of range: of every size that 32 bits hold, and the ends of these."""
    rng = np.random.default_rng(seed)
    n = len(model.formats.q)
    sizes = rng.integers(-(2**31), 2**31, (3, count, n)) >> rng.integers(0, 32, (3, count, n))
    ends = rng.choice([-(2**31), -(2**31) + 1, 2**31 - 1, 2**31 - 2], (3, count, n))
    return list(np.where(rng.random((3, count, n)) < 0.1, ends, sizes))


def counted(model: bt.Model, words: list[np.ndarray]) -> np.ndarray:
    """Return how many words of all states are out of range, (3, n), as an evaluator counts them."""
    evaluator = model.evaluator("words", "dense")
    evaluator.torque_words(*words)
    return evaluator.out_of_range


def turned(model: bt.Model) -> bt.Model:
    """Return a model in floats with a constant added to every angle."""
    wires = tuple(replace(wire, rest=Fraction(1, 3)) if isinstance(wire, Sine) else wire for wire in model.plan.wires)
    return replace(model, plan=replace(model.plan, wires=wires))
