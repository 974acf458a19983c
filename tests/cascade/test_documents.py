"""The plans in cascade/ are those the planner makes today."""

from __future__ import annotations

import runpy
from difflib import unified_diff
from pathlib import Path

import pytest

from bddtorque.spec import spec_names

FOLDER = Path(__file__).parents[2] / "cascade"
plan_document = runpy.run_path(str(FOLDER / "write.py"))["plan_document"]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.everything] if name in ("panda", "stanford") else [])
        for name in spec_names()
    ],
)
def test_the_committed_plan_is_the_plan_of_today(name):
    kept, made = (FOLDER / f"{name}.txt").read_text(encoding="utf-8"), plan_document(name)
    changed = "\n".join(list(unified_diff(kept.splitlines(), made.splitlines(), "committed", "today", "", "", 0))[:20])
    assert kept == made, f"`make cascade` writes it anew, if it was meant to change:\n{changed}"


def test_there_is_one_file_for_every_spec():
    assert sorted(file.stem for file in FOLDER.glob("*.txt")) == sorted(spec_names())


def test_what_could_not_be_had_is_said():
    text = (FOLDER / "panda.txt").read_text(encoding="utf-8")
    assert "source recursive" in text and "114,934" in text.split("Why not terms")[1]
    others = [file.read_text(encoding="utf-8") for file in FOLDER.glob("*.txt") if file.stem != "panda"]
    assert all("source terms" in text and "Why not" not in text for text in others)
