"""What mypy --strict says of a user's code."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def type_errors(code: str, folder: Path) -> list[str]:
    """Return what mypy --strict says of a module that uses bddtorque; nothing if it is right."""
    (folder / "user.py").write_text(code)
    options = ("--strict", "--no-error-summary", "--config-file", "pyproject.toml", "--cache-dir", ".mypy_cache")
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(folder / "user.py")],
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return (ran.stdout + ran.stderr).splitlines()
