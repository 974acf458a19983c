"""The plans in cascade/ and the terms in tables/ are those that are made today."""

from __future__ import annotations

import sys
from difflib import unified_diff
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bddtorque.compiler.pinning import load_pinned
from bddtorque.plan.blocks import FunctionBlock, ProductBlock
from bddtorque.plan.plan import plan_from_plain
from bddtorque.plan.wires import Lookup, Product
from bddtorque.spec import spec_names

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "cascade"
TERMS = ROOT / "tables" / "planar2r_terms"
sys.path[:0] = [str(FOLDER), str(ROOT / "tests" / "export")]
write, write_terms, logic_truth = (import_module(name) for name in ("write", "write_terms", "logic_truth"))


def compare(file: Path, made: bytes, command: str) -> None:
    kept, text = file.read_text(encoding="utf-8"), made.decode()
    changed = "\n".join(list(unified_diff(kept.splitlines(), text.splitlines(), "committed", "today", "", "", 0))[:20])
    assert kept == text, f"`make {command}` writes {file.name} anew, if it was meant to change:\n{changed}"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.everything] if name in ("panda", "stanford", "puma560") else [])
        for name in write.PLANS
    ],
)
def test_the_committed_plan_is_the_plan_of_today(name):
    for suffix, made in write.documents(name).items():
        compare(FOLDER / f"{name}.{suffix}", made, "cascade")


def test_there_is_one_file_of_each_kind_for_every_plan():
    assert set(spec_names()) < set(write.PLANS)
    for suffix in ("txt", "json", "svg"):
        assert sorted(file.stem for file in FOLDER.glob(f"*.{suffix}")) == sorted(write.PLANS)


@pytest.mark.parametrize(("shown", "folder"), [(write.SHOWN, FOLDER), (write_terms.SHOWN, TERMS)])
def test_copies_that_a_page_shows_are_copies(shown, folder):
    assert shown.read_bytes() == (folder / shown.name).read_bytes()
    assert f"(images/{shown.name})" in (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


def test_what_could_not_be_had_is_said():
    text = (FOLDER / "panda.txt").read_text(encoding="utf-8")
    assert "source recursive" in text and "114,934" in text.split("Why not terms")[1]
    for file in FOLDER.glob("*.txt"):
        text, slow = file.read_text(encoding="utf-8"), file.stem in ("stanford", "puma560")
        assert ("source terms" in text) == (not slow and file.stem != "panda") == ("Why not" not in text)
        assert ("operations a state, the recursion" in text) == slow


def test_the_papers_plan_shows_its_cascade_of_two_word_blocks():
    """The Boolean/BDD paper, Fig. 4b: a term of three words is two tables of two words."""
    plan = plan_from_plain(load_pinned(FOLDER / "planar2r_paper.json"))
    (product,) = (wire for wire in plan.wires if isinstance(wire, Product))
    first, last = plan.wires[product.left], plan.wires[product.right]
    assert isinstance(first, Lookup)
    assert [plan.wires[source].name for source in (*first.sources, product.right)] == ["q2", "qd1", "qd2"]
    blocks = [plan.blocks[first.block], plan.blocks[product.block]]
    assert [type(block) for block in blocks] == [FunctionBlock, ProductBlock]
    assert [block.input_widths for block in blocks] == [(10, 10), (10, 10)]
    drawn = ElementTree.parse(FOLDER / "planar2r_paper.svg")
    texts = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {first.name, product.name, last.name, "b4: 10+10 → 7 bits"} <= set(texts)


def test_the_ten_terms_are_those_of_today_and_all_named():
    made = write_terms.files()
    assert sorted(made) == sorted(file.name for file in TERMS.iterdir())
    for name, data in made.items():
        compare(TERMS / name, data, "tables")
    readme = (ROOT / "tables" / "README.md").read_text(encoding="utf-8")
    assert all(f"(planar2r_terms/{name})" in readme for name in made)


def test_the_ten_terms_are_the_equations_rounded():
    names = {"tau1": ["J11", "J12", "C1_22", "C1_12", "G1a", "G1b"], "tau2": ["J21", "J22", "C2_11", "G2"]}
    for torque, terms in names.items():
        for k, name in enumerate(terms):
            lines = (TERMS / f"{name}.pla").read_text().splitlines()
            bits = int(lines[2].split()[1])
            pins = [pin.rpartition("_") for pin in lines[3].split()[1:]]
            rows = [line.split() for line in lines if line[0] in "01-"]
            sign = -1 if "subtracted from" in lines[0] else 1
            for index, wanted in logic_truth.entries(torque, k, 4):
                given = logic_truth.TERMS[torque][k][0]
                words = {word: index >> (4 * (len(given) - 1 - place)) & 15 for place, word in enumerate(given)}
                words["q1_plus_q2"] = (words.get("q1", 0) + words.get("q2", 0)) & 15
                spelt = "".join(str(words[word] >> int(bit) & 1) for word, _, bit in pins)
                covering = [int(word, 2) for cube, word in rows if spelt.startswith(cube.rstrip("-"))]
                word = covering[0] if covering else 0
                assert sign * (word - ((word >> (bits - 1)) << bits)) == wanted
