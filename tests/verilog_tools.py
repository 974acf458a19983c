"""Exported Verilog in the tools of others: simulators, linters, synthesis."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

needs_iverilog = pytest.mark.skipif(
    shutil.which("iverilog") is None, reason="Icarus Verilog is not installed here (Debian: iverilog)"
)
needs_verilator = pytest.mark.skipif(
    shutil.which("verilator") is None, reason="Verilator is not installed here (Debian: verilator)"
)
needs_yosys = pytest.mark.skipif(shutil.which("yosys") is None, reason="Yosys is not installed here (Debian: yosys)")


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a tool in a folder."""
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def simulate(folder: Path, *sources: str) -> list[str]:
    """Return the lines that a test bench prints in Icarus Verilog."""
    built = run(["iverilog", "-g2001", "-Wall", "-o", "tb", *sources], folder)
    assert (built.returncode, built.stdout, built.stderr) == (0, "", "")
    return run(["vvp", "tb"], folder).stdout.splitlines()


def lint(folder: Path, *sources: str) -> str:
    """Return what Verilator complains about."""
    top = Path(sources[-1]).stem
    return run(["verilator", "--lint-only", "-Wall", "--top-module", top, *sources], folder).stderr
