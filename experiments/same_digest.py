"""The same specification gives the same digest: other Pythons, NumPys, engines, workers, caches and processors.

    python experiments/same_digest.py [--quick] [--full] [--bits 4] [--arms ur5,panda] [--python PATH ...]
                                      [--install FOLDER] [--numpy 1.26.4]

Every row compiles arms (three small ones; with `--full` all) in a process of its own and compares models and diagrams
with those of the first row. Tried is what is to be had here: other interpreters that have the packages bddtorque needs
(those that have not, or that are not there, are named; `--install` makes an environment in a folder for each), an old
NumPy (`--numpy`, with `--install`), CUDD and its substitute in Python, processes, threads, the cache, the order of
sets, other kernels of NumPy's linear algebra, and NumPy and Numba without the newer instructions of the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reporting import Check, finish, show_table, write_csv

from bddtorque.spec import spec_names

ROOT = Path(__file__).parents[1]
SMALL = ("planar2r", "planar3r_b", "scara")
VERSIONS = ("3.11", "3.12", "3.13")
NEEDED = "numpy, numba, dd, mpmath, rich, typer"
WIDE = ("X86_V3", "X86_V4", "AVX512_ICL", "AVX512_SPR", "AVX2", "FMA3", "AVX512F", "AVX512_SKX", "ASIMDDP", "SVE")
"""Instructions beyond those that every processor of a kind has, by the names that NumPy's versions have for them."""

ABOUT = f"""
import json, sys, {NEEDED}
try:
    from numpy._core._multiarray_umath import __cpu_dispatch__ as dispatched
except ImportError:
    from numpy.core._multiarray_umath import __cpu_dispatch__ as dispatched
about = {{"python": sys.version.split()[0], "numpy": numpy.__version__, "numba": numba.__version__}}
print(json.dumps({{**about, "dispatched": list(dispatched)}}))
"""
CHILD = """
import json, sys, tempfile
import bddtorque as bt
from bddtorque.base.caching import Cache

def main():
    arms, bits, how = sys.argv[1].split(","), int(sys.argv[2]), json.loads(sys.argv[3])
    made, executor, cache = how.pop("executor", None), None, None
    if made == "threads":
        from concurrent.futures import ThreadPoolExecutor
        executor = ThreadPoolExecutor(2)
    elif made == "processes":
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor
        executor = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
    if "cache" in how:
        cache = Cache(how.pop("cache"))
    found = {}
    for arm in arms:
        for target in ("tables", "float"):
            model = bt.compile(arm, bits=bits, target=target, cache=cache, executor=executor, **how)
            found[arm + " " + target] = [model.digest, model.diagram_digest, model.report["engine"]]
    if executor:
        executor.shutdown()
    print(json.dumps([found, 0 if cache is None else cache.hits]))

if __name__ == "__main__":
    main()
"""


@dataclass(frozen=True)
class Variation:
    """One way to compile: by which interpreter, under which environment, how."""

    what: str
    python: str = sys.executable
    environment: dict[str, str] = field(default_factory=dict)
    how: dict[str, object] = field(default_factory=dict)


def about(python: str) -> dict[str, object] | str:
    """Return the versions of an interpreter and its packages, or why it cannot be used."""
    try:
        done = subprocess.run([python, "-c", ABOUT], capture_output=True, text=True, timeout=120, check=False)
    except OSError as problem:
        return str(problem)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def interpreters() -> dict[str, str]:
    """Return one interpreter of each version that is to be had on this machine, by version."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = {}
    for version in VERSIONS:
        places = [
            shutil.which(f"python{version}"),
            *map(str, sorted(root.glob(f"{version}.*/bin/python"), reverse=True)),
        ]
        for place in filter(None, places):
            done = subprocess.run([place, "--version"], capture_output=True, text=True, check=False)
            if done.returncode == 0 and done.stdout.startswith(f"Python {version}."):
                found[version] = place
                break
    return found


def installed(python: str, folder: Path, more: tuple[str, ...] = ()) -> str:
    """Return an interpreter with all that bddtorque needs, in an environment that is made if it is not there."""
    place = folder / "bin" / "python"
    if not place.exists():
        needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(place), "-m", "pip", "install", "--quiet", *needed, *more], check=True)
    return str(place)


def others(given: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Give the interpreters to try besides this one, each with a name; say which are missing."""
    yield from ((path, path) for path in given.python)
    if given.quick:
        return
    found = interpreters()
    here = ".".join(map(str, sys.version_info[:2]))
    for version in VERSIONS:
        if version not in found:
            print(f"skipped: Python {version}, there is none on this machine")
            continue
        python = found[version]
        if given.install:
            python = installed(python, given.install / version)
        elif version == here:
            continue
        yield f"Python {version}", python
    if given.numpy and given.install and here in found:
        folder = given.install / f"{here}-numpy{given.numpy}"
        yield f"NumPy {given.numpy}", installed(found[here], folder, (f"numpy=={given.numpy}",))
    elif given.numpy:
        print("skipped: another NumPy, for which --install and a Python of this version are required")


def variations(given: argparse.Namespace, folder: Path) -> Iterator[Variation]:
    """Give all ways to compile, the one that decides first."""
    mine = about(sys.executable)
    assert isinstance(mine, dict), mine
    wide = " ".join(name for name in mine["dispatched"] if name in WIDE)
    yield Variation("as it is", how={"workers": 1})
    yield Variation("order of sets: hash seed 1", environment={"PYTHONHASHSEED": "1"}, how={"workers": 1})
    yield Variation("2 processes", how={"workers": 2})
    yield Variation("engine autoref", how={"workers": 1, "engine": "autoref"})
    yield Variation("executor: threads", how={"executor": "threads"})
    yield Variation("executor: spawned processes", how={"executor": "processes"})
    for state in ("empty", "filled"):
        yield Variation(f"cache, {state}", how={"workers": 1, "cache": str(folder / "cache")})
    if wide:
        yield Variation(f"NumPy without {wide}", environment={"NPY_DISABLE_CPU_FEATURES": wide}, how={"workers": 1})
    else:
        print("skipped: NumPy without newer instructions, it uses none here that can be switched off")
    for core in () if given.quick else ("Nehalem", "Haswell", "SkylakeX", "Zen"):
        limits = {"OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": "1" if core == "Zen" else "4"}
        yield Variation(f"linear algebra for {core}", environment=limits, how={"workers": 1})
    if not given.quick:
        plain = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(folder / "numba")}
        yield Variation("Numba for any processor", environment=plain, how={"workers": 1})
    for name, python in others(given):
        found = about(python)
        if isinstance(found, str):
            print(f"skipped: {name} ({python}): {found}")
            continue
        versions = f"{found['python']}, NumPy {found['numpy']}, Numba {found['numba']}"
        yield Variation(f"{name}: {versions}", python=python, how={"workers": 1})


def compiled(variation: Variation, arms: list[str], bits: int, folder: Path) -> tuple[dict[str, list[str]], int, str]:
    """Return digests of model and diagrams, and the engine, by arm and target; hits of the cache; what went wrong."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "BDDTORQUE_CACHE": "off", **variation.environment}
    script = folder / "child.py"
    script.write_text(CHILD)
    command = [variation.python, str(script), ",".join(arms), str(bits), json.dumps(variation.how)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode:
        return {}, 0, done.stderr.strip().splitlines()[-1]
    found, hits = json.loads(done.stdout.splitlines()[-1])
    return found, hits, ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the two-joint arm only, and this interpreter")
    parser.add_argument("--full", action="store_true", help="every built-in arm")
    parser.add_argument("--bits", type=int, default=4)
    parser.add_argument("--arms", help="names, with commas between")
    parser.add_argument("--python", action="append", default=[], help="an interpreter to try, with the packages")
    parser.add_argument("--install", type=Path, help="make an environment in this folder for each Python there is")
    parser.add_argument("--numpy", help="with --install: another NumPy to try as well, such as 1.26.4")
    given = parser.parse_args()
    usual = spec_names() if given.full else SMALL[:1] if given.quick else SMALL
    arms = given.arms.split(",") if given.arms else list(usual)
    rows, first, diagrams = [], {}, {}
    with tempfile.TemporaryDirectory() as name:
        for variation in variations(given, Path(name)):
            began = time.perf_counter()
            found, hits, problem = compiled(variation, arms, given.bits, Path(name))
            first = first or found
            wrong = []
            for arm, (digest, drawn, engine) in found.items():
                if digest != first[arm][0]:
                    wrong.append(arm)
                elif drawn != diagrams.setdefault((arm, engine), drawn):  # the same for one engine
                    wrong.append(f"{arm} (diagrams)")
            if variation.what == "cache, filled" and not hits and not problem:
                problem = "nothing came from the cache"
            verdict = problem or (f"DIFFERS: {', '.join(wrong)}" if wrong else "the same")
            rows.append(
                {
                    "variation": variation.what,
                    "models": len(found),
                    "seconds": round(time.perf_counter() - began, 1),
                    "verdict": verdict,
                }
            )
            print(f"{variation.what}: {verdict}", flush=True)
    print()
    show_table(rows)
    write_csv("same_digest", rows)
    finish([Check("ours", row["variation"], row["verdict"], "the same") for row in rows])


if __name__ == "__main__":
    main()
