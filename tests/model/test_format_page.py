"""docs/format.md is enough: a reader written from it reads, runs and re-tabulates files of every kind."""

import json
import math
import re
from pathlib import Path

import pytest
from bdt_files import saved, signed, taken_apart
from compiled import compiled, random_words
from independent_reader import expanded, keys, output_of, read, run, tabulated

from bddtorque.model.bdt_file import ARRAYS, KEYS

PAGE = (Path(__file__).parents[2] / "docs" / "format.md").read_text()
MODELS = [
    {"bits": 2},
    {"bits": 4},
    {"bits": 3, "accuracy": "paper"},
    {"bits": 3, "source": "recursive"},
    {"bits": 3, "target": "host", "source": "recursive"},
    {"bits": 4, "block_bits": 8},
    {"bits": 3, "accuracy": "paper", "block_bits": 8},
]


@pytest.mark.parametrize("options", MODELS, ids=str)
def test_every_table_is_what_the_page_defines(options: dict) -> None:
    header, blocks = read(saved(**options))
    tables = []
    for block, arrays in zip(header["plan"]["blocks"], blocks, strict=True):
        bits, sign = output_of(block)
        assert len(arrays["roots"]) == bits
        tables.append(expanded(arrays, sign))
        if len(tables[-1]) <= 2**9 or block["kind"] != "function":
            assert tabulated(block) == tables[-1]
    assert keys(header, tables) == header["tables"]
    for torque in header["certificate"]["torques"]:
        assert torque["bound"] == math.fsum(torque["parts"].values()) * (1 + 1e-15)


@pytest.mark.parametrize("options", MODELS, ids=str)
def test_words_from_the_page_alone(options: dict) -> None:
    header, blocks = read(saved(**options))
    defined = header["plan"]["blocks"]
    tables = [expanded(arrays, output_of(block)[1]) for block, arrays in zip(defined, blocks, strict=True)]
    model = compiled(**options)
    q, qd, qdd = random_words(model, 100)
    wanted = model.torque_words(q, qd, qdd).tolist()
    for k in range(len(q)):
        named = zip(("q", "qd", "qdd"), (q[k], qd[k], qdd[k]), strict=True)
        inputs = {f"{name}{j}": int(word) for name, words in named for j, word in enumerate(words, 1)}
        assert run(header["plan"], tables, inputs) == wanted[k]


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
    assert kinds == wires | blocks | {"block", "limbs", "squares", "native"}  # and so the reader above knows them all
