"""The notebooks run, and print what is stored in them."""

import contextlib
import io
import json

import pytest
from pages import ROOT

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["choose_bits", "first_arm"]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_shows(path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    pytest.importorskip("matplotlib").use("agg")
    names: dict[str, object] = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("".join(cell["source"]), str(path), "exec"), names)
        stored = ["".join(each["text"]) for each in cell["outputs"] if each.get("name") == "stdout"]
        assert printed.getvalue() == "".join(stored)
