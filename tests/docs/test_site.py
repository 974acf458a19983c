"""The pages build without a warning, and all of them can be reached."""

import subprocess
import sys

import plain_english
import pytest
from pages import NAMES, ROOT, links, text_of


@pytest.mark.everything  # `make docs` does it too, in every run of CI
def test_the_site_builds_strictly(tmp_path):
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "site" / "getting-started" / "index.html").exists()
    reference = (tmp_path / "site" / "api-robots" / "index.html").read_text(encoding="utf-8")
    assert "block_bits" in reference and "Annotated" not in reference  # types, not what checks them
    assert not list((tmp_path / "site").rglob("*.py"))


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("docs/") and name != "docs/index.md"])
def test_every_page_is_linked_from_the_first(name):
    page = name.removeprefix("docs/")
    folder, _, own = page.rpartition("/")
    first = f"docs/{folder}/index.md" if folder and own != "index.md" else "docs/index.md"
    assert (own if folder and own != "index.md" else page) in links(first)
    assert f"{page}\n" in text_of("mkdocs.yml")


def test_the_check_of_language_finds_what_it_is_for(monkeypatch, tmp_path):
    """`make lint` runs it on all pages; here it is seen to find something."""
    (tmp_path / "bddtorque").mkdir()
    (tmp_path / "bddtorque" / "__init__.py").write_text('__all__ = ["rounded", "compile"]\n', encoding="utf-8")
    bad = "One table a block, whole numbers: 3 required,\n2 given.\n<<<<<<< HEAD\n"
    (tmp_path / "README.md").write_text(bad, encoding="utf-8")
    (tmp_path / "good.md").write_text("One table per block.\n", encoding="utf-8")
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    monkeypatch.setattr(plain_english, "ROOT", tmp_path)
    found = plain_english.findings()
    assert [each.split(":")[0] for each in found] == ["README.md"] * 4 + ["bddtorque.rounded"]
