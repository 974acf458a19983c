"""Build the wheel, install it in an environment of its own, and run README's ten lines from it: ``make wheel-test``.

    python tests/wheel_trial.py             build the wheel first
    python tests/wheel_trial.py dist/*.whl  try this one

Nothing of the checkout is on the path of what runs. The size of the installation is printed, and compared with what
README states.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOM = 1.1
"""How much larger than stated an installation may be: other versions of what it depends on."""


def ten_lines(readme: str) -> str:
    """Return README's first block of Python."""
    found = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    if found is None:
        raise SystemExit("README.md has no block of Python")
    return found[1]


def stated_megabytes(readme: str) -> int:
    """Return the size of the default installation that README states."""
    found = re.search(r"`pip install \.`.*?(\d+) MB", readme, re.DOTALL)
    if found is None:
        raise SystemExit("README.md does not state the size of `pip install .`")
    return int(found[1])


def run(*command: str | Path, folder: Path) -> str:
    """Run a command, and return what it prints."""
    sys.stdout.write(f"$ {' '.join(map(str, command))[:120].splitlines()[0]}\n")
    return subprocess.run(list(map(str, command)), cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def try_wheel(wheel: Path, folder: Path) -> None:
    """Install a wheel in a new environment and use it there."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=folder).strip())
    before = _bytes(packages)
    run(python, "-m", "pip", "install", "--quiet", "--no-compile", wheel.resolve(), folder=folder)
    megabytes = (_bytes(packages) - before) / 1e6
    (folder / "work").mkdir()
    run(python, "-I", "-c", ten_lines(readme), folder=folder / "work")
    shown = run(folder / "env" / "bin" / "bddtorque", "info", "planar2r.bdt", folder=folder / "work")
    if "bound" not in shown:
        raise SystemExit("`bddtorque info` of the wheel does not show the bound")
    stated = stated_megabytes(readme)
    sys.stdout.write(f"{wheel.name}: README's ten lines run; installed {megabytes:.0f} MB ({stated} MB stated)\n")
    if not stated / ROOM <= megabytes <= stated * ROOM:
        raise SystemExit(f"README.md states {stated} MB for `pip install .`, and it takes {megabytes:.0f} MB")


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def main(given: list[str]) -> None:
    """Try the wheel that is given, or build one."""
    with tempfile.TemporaryDirectory(prefix="bddtorque-wheel-") as name:
        folder = Path(name)
        if not given:
            command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT]
            run(*command, folder=folder)
            given = [str(path) for path in folder.glob("*.whl")]
        (wheel,) = given
        try_wheel(Path(wheel), folder)


if __name__ == "__main__":
    main(sys.argv[1:])
