"""docs/architecture.md keeps step with the package: its pictures are drawn from the code, its paths exist."""

import re
import subprocess
import sys

import pytest
from pages import ROOT, text_of

DRAW = ROOT / "docs" / "images" / "draw.py"


def test_the_pictures_are_what_the_code_gives():
    ran = subprocess.run([sys.executable, str(DRAW), "--check"], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_picture_out_of_date_is_noticed(tmp_path):
    (tmp_path / "docs" / "images").mkdir(parents=True)
    copy = tmp_path / "docs" / "images" / "draw.py"
    copy.write_text(DRAW.read_text())
    for name in ("pyproject.toml", "bddtorque"):
        (tmp_path / name).symlink_to(ROOT / name)
    for picture in DRAW.parent.glob("*.svg"):
        (copy.parent / picture.name).write_text(picture.read_text().replace("base/", "basement/"))
    ran = subprocess.run([sys.executable, str(copy), "--check"], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "layers.svg is out of date" in ran.stderr


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([a-z_]+/[\w/.<>]*)`", text_of("docs/architecture.md")))))
def test_paths_that_the_page_names_exist(path):
    if "<" not in path:
        assert any((folder / path).exists() for folder in (ROOT, ROOT / "bddtorque")), path
