"""docs/c.md does what it says: its commands, its Python, its C and its shell, in order, in an empty folder."""

import re
import subprocess
from pathlib import Path

import pytest
from c_programs import needs_compiler

import bddtorque as bt
from bddtorque.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "c.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """Return the blocks of a language, one after another."""
    return "".join(re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))


@needs_compiler
@pytest.mark.slow
def test_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for line in block("console").splitlines():
        assert line.startswith("$ bddtorque ")
        assert main(line.split()[2:]) == 0
    rom = re.search(r"ROM +([\d,]+) bytes", capsys.readouterr().out)
    assert rom
    files = {path.name for path in Path("planar2r_c").iterdir()}
    assert files == set(re.findall(r"^\| `([\w.-]+)` \|", PAGE, re.MULTILINE))
    exec(compile(block("python"), "docs/c.md", "exec"), {})
    Path("program.c").write_text(block("c"))
    ran = subprocess.run(["sh", "-e", "-c", block("sh")], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "OK: 256 states\n" in ran.stdout
    model = bt.load("planar2r.bdt")
    tau = model.torque_words([195, -782], [1024, 0], [0, 205])
    bounds = [f"{bound:.3f}" for bound in model.certificate.bounds]
    said = f"{tau[0]} {tau[1]}, each within {bounds[0]} and {bounds[1]} of the truth; 0 words out of range\n"
    assert ran.stdout.endswith(said)
