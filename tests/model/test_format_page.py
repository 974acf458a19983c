"""docs/format.md is enough: the independent reader, written from it, proves and runs files of every kind."""

import json
import re
from pathlib import Path

import pytest
from bdt_files import saved, signed, taken_apart
from compiled import compiled, random_words

from bddtorque.independent import check_bytes
from bddtorque.independent.archive import entries_of, header_of
from bddtorque.independent.cascade import run
from bddtorque.independent.plan import plan_of
from bddtorque.independent.tables import table_of
from bddtorque.model.bdt_file import ARRAYS, KEYS

PAGE = (Path(__file__).parents[2] / "docs" / "format.md").read_text()
MODELS = [
    {"bits": 2},
    {"bits": 4},
    {"bits": 4, "block_bits": 8},
    {"bits": 3, "accuracy": "paper"},
    {"bits": 3, "source": "recursive"},
    {"bits": 4, "block_bits": 8, "products": "partial"},
    {"bits": 3, "accuracy": "paper", "block_bits": 10},
]


@pytest.mark.parametrize("options", MODELS, ids=str)
def test_the_reader_written_from_the_page_proves_the_file_and_runs_it(options: dict) -> None:
    """`bddtorque/independent` imports nothing of the package: what it knows of files stands in the page."""
    data, model = saved(**options), compiled(**options)
    assert all(finding.passed for finding in check_bytes(data))
    entries = entries_of(data)
    plan = plan_of(header_of(entries)["plan"])
    tables = [table_of(entries, k, block) for k, block in enumerate(plan.blocks)]
    states = random_words(model, 100)
    wanted = model.torque_words(*states).tolist()
    assert len(wanted) == 100
    for k, torques in enumerate(wanted):
        named = zip(("q", "qd", "qdd"), (words[k] for words in states), strict=True)
        inputs = {f"{name}{j}": int(word) for name, words in named for j, word in enumerate(words, 1)}
        found = run(plan, tables, inputs)
        assert [max(o.low, min(o.high, word)) for o, word in zip(plan.outputs, found, strict=True)] == torques


@pytest.mark.parametrize("options", [*MODELS, {"bits": 8}, {"bits": (5, 6), "input_bits": 7}], ids=str)
def test_a_file_written_from_the_page_is_the_file(options: dict) -> None:
    assert signed(*taken_apart(saved(**options))) == saved(**options)


def keys_in(plain: object) -> set[str]:
    """Return every key there is in plain data, but names of entries."""
    if isinstance(plain, dict):
        return {key for key in plain if "/" not in key}.union(*map(keys_in, plain.values()))
    return set().union(*map(keys_in, plain)) if isinstance(plain, list) else set()


def test_the_page_names_every_key() -> None:
    used = set().union(*(keys_in(taken_apart(saved(**options))[0]) for options in MODELS))
    named = set(re.findall(r"`([a-z_]+)`", PAGE))
    assert used - named == set()
    assert set(KEYS) | set(ARRAYS) <= named


def test_the_page_names_every_kind_of_wire_block_and_method() -> None:
    plans = [taken_apart(saved(**options))[0]["plan"] for options in MODELS]
    kinds = {each["kind"] for plan in plans for each in (*plan["wires"], *plan["blocks"])}
    kinds |= {wire["method"] for plan in plans for wire in plan["wires"] if wire["kind"] == "product"}
    assert {json.dumps(kind) for kind in kinds} <= set(re.findall(r'"[a-z_]+"', PAGE))
    wires, blocks = {"input", "angle_sum", "lookup", "product", "sum"}, {"function", "product", "square"}
    assert kinds == wires | blocks | {"blocks", "partial", "squares"}  # and so the reader knows them all
