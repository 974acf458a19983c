"""Self-test vectors: states with the words that bddtorque gives them, and a small main that tries them.

States are drawn evenly, from the corners of the words, and beyond them; they are the same each time. Expected words
come from the plain interpreter, which shares nothing with the generated code but the plan and the tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.export.c_call import CSignature
from bddtorque.export.c_text import filled, real, rows
from bddtorque.export.folder import fill, template
from bddtorque.model.model import Model
from bddtorque.plan.reference import run_plan
from bddtorque.words.formats import TURN, Format, limits
from bddtorque.words.integer_range import Range, word_range

SEED = 20240607
Words = npt.NDArray[np.int64]


def check_exported(model: object) -> None:
    """Refuse to export what is no model."""
    if not isinstance(model, Model):
        raise BddTorqueError(f"export needs a Model, as bt.compile and bt.load return, got {type(model).__name__}")


def make_vectors(model: Model, signature: CSignature, count: int) -> tuple[dict[str, Words], Words]:
    """Return `count` states: a half drawn evenly, a quarter from corners, a quarter from all numbers of the type.

    Words (N, n) of every array, outputs last, by name; and how many are out of range, (N,).
    """
    rng = np.random.default_rng(SEED)
    states = {
        array: _states(formats, count, rng, word_range(signature.bits, not signature.type_of(array).startswith("u")))
        for array, formats in signature.arrays.items()
    }
    outside = np.zeros(count, np.int64)
    for array, words in states.items():
        for place, word in enumerate(signature.arrays[array]):
            outside += _outside(word, words[:, place])
    return {**states, signature.result: output_words(model, signature, states)}, outside


def output_words(model: Model, signature: CSignature, states: Mapping[str, Words]) -> Words:
    """Return output words by the plain interpreter, (N, n)."""
    named: dict[str, Any] = {
        name: states[array][:, place] for array, names in signature.names.items() for place, name in enumerate(names)
    }
    plan = model.plan
    return np.stack(run_plan(plan, model.tables, named), axis=1)


def _states(formats: Any, count: int, rng: np.random.Generator, of_type: Range) -> Words:
    columns = []
    for word in formats:
        drawn = rng.integers(word.lowest, word.highest, count, endpoint=True)
        near = np.clip([word.lowest, word.lowest + 1, -1, 0, 1, word.highest - 1, word.highest], *of_type)
        corners = rng.choice(near, count)
        wild = rng.integers(of_type.low, of_type.high + 1, count)
        kind = np.arange(count) % 4
        columns.append(np.where(kind == 1, corners, np.where(kind == 3, wild, drawn)))
    return np.stack(columns, axis=1)


def _outside(word: Format, words: Words) -> Words:
    first, last = limits(word)
    held = word.held(words) if word.kind == "angle" else words
    within = (held >= first) & (held <= last) if first <= last else (held >= first) | (held <= last)
    return (~within).astype(np.int64)


def selftest_text(model: Model, prefix: str, signature: CSignature, count: int, floats: bool) -> str:
    """Return the C file with the vectors and a main: prints OK and returns 0, or says what differs and returns 1."""
    vectors, outside = make_vectors(model, signature, count)
    arrays = "\n".join(
        f"static const {signature.type_of(name)} {name}[VECTORS][{words.shape[1]}] = {{\n{rows(words)}\n}};\n"
        for name, words in vectors.items()
    )
    check, call = _float_check(model, prefix, signature, max(count // 4, 1)) if floats else ("", "")
    given = ", ".join(f"{array}[state]" for array in signature.arrays)
    what = "joint" if signature.result in signature.per_joint else "output"
    return fill(
        template("selftest.c"),
        prefix=prefix,
        outputs=signature.count(prefix, signature.result),
        count=count,
        arrays=arrays,
        outside=filled(outside),
        check=check,
        type=signature.type_of(signature.result),
        what=what,
        function=signature.function(prefix),
        given=given,
        result=signature.result,
        call=call,
    )


def _float_check(model: Model, prefix: str, signature: CSignature, count: int) -> tuple[str, str]:
    """Return states in floats with the values they must give, a function that tries them, and its call."""
    rng = np.random.default_rng(SEED)
    states, words = {}, {}
    for array, formats in signature.arrays.items():
        # a little beyond the range, and for angles a few turns
        spans = [3 * TURN if word.kind == "angle" else 0.6 * (word.high - word.low) for word in formats]
        centres = [word.offset + word.sign * word.centre for word in formats]
        values = np.array(centres) + np.array(spans) * rng.uniform(-1, 1, (count, len(spans)))
        states[array] = values
        words[array] = np.stack([word.quantise(values[:, k]) for k, word in enumerate(formats)], axis=1)
    found = output_words(model, signature, words)
    states[signature.result] = np.stack(
        [word.dequantise(found[:, k]) for k, word in enumerate(signature.outputs)], axis=1
    )
    arrays = "\n".join(
        f"static const double real_{name}[FLOAT_VECTORS][{values.shape[1]}] = {{\n"
        + ",\n".join(f"    {{{', '.join(map(real, row))}}}" for row in values)
        + "\n};\n"
        for name, values in states.items()
    )
    given = ", ".join(f"real_{array}[state]" for array in signature.arrays)
    check = fill(
        template("float_selftest.c"),
        count=count,
        arrays=arrays,
        prefix=prefix,
        function=signature.float_function(prefix),
        given=given,
        result=signature.result,
    )
    return check, "    wrong += float_differences();\n"
