"""The pages build without a warning, and all of them can be reached."""

import subprocess
import sys

import pytest
from pages import NAMES, ROOT, links, text_of


def test_the_site_builds_strictly(tmp_path):
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "site" / "getting-started" / "index.html").exists()


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("docs/") and name != "docs/index.md"])
def test_every_page_is_linked_from_the_first(name):
    page = name.removeprefix("docs/")
    assert page in links("docs/index.md")
    assert f": {page}\n" in text_of("mkdocs.yml")
