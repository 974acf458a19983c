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
from bddtorque.evaluate.state_arrays import TORQUE_ARRAYS
from bddtorque.export.c_interface import Interface
from bddtorque.export.c_text import filled, real, rows
from bddtorque.model.model import Model
from bddtorque.plan.reference import run_plan
from bddtorque.words.formats import TURN, Format, limits

SEED = 20240607
MOST_VECTORS = 100_000
Words = npt.NDArray[np.int64]


def check_exported(model: object) -> None:
    """Refuse to export what is no model."""
    if not isinstance(model, Model):
        raise BddTorqueError(f"export needs a Model, as bt.compile and bt.load return, got {type(model).__name__}")


def check_vectors(vectors: object) -> None:
    """Refuse a number of self-test states that is out of range."""
    if type(vectors) is not int or not 1 <= vectors <= MOST_VECTORS:
        raise BddTorqueError(f"vectors must be between 1 and {MOST_VECTORS:,}, got {vectors!r:.40}")


def make_vectors(model: Model, interface: Interface, count: int) -> tuple[dict[str, Words], Words]:
    """Return `count` states: a half drawn evenly, a quarter from corners, a quarter from all numbers of the type.

    Words (N, n) of every array, outputs last, by name; and how many are out of range, (N,).
    """
    rng = np.random.default_rng(SEED)
    states = {array: _states(formats, count, rng, interface.bits) for array, formats in interface.arrays.items()}
    outside = np.zeros(count, np.int64)
    for array, words in states.items():
        for place, word in enumerate(interface.arrays[array]):
            outside += _outside(word, words[:, place])
    return {**states, interface.result: output_words(model, interface, states)}, outside


def output_words(model: Model, interface: Interface, states: Mapping[str, Words]) -> Words:
    """Return output words by the plain interpreter, (N, n)."""
    named: dict[str, Any] = {
        name: states[array][:, place] for array, names in interface.names.items() for place, name in enumerate(names)
    }
    plan = model.plan
    return np.stack(run_plan(plan, model.tables, named), axis=1)


def _states(formats: Any, count: int, rng: np.random.Generator, bits: int) -> Words:
    columns = []
    for word in formats:
        drawn = rng.integers(word.lowest, word.highest, count, endpoint=True)
        corners = rng.choice([word.lowest, word.lowest + 1, -1, 0, 1, word.highest - 1, word.highest], count)
        wild = rng.integers(-(1 << (bits - 1)), 1 << (bits - 1), count)
        kind = np.arange(count) % 4
        columns.append(np.where(kind == 1, corners, np.where(kind == 3, wild, drawn)))
    return np.stack(columns, axis=1)


def _outside(word: Format, words: Words) -> Words:
    first, last = limits(word)
    held = word.held(words) if word.kind == "angle" else words
    within = (held >= first) & (held <= last) if first <= last else (held >= first) | (held <= last)
    return (~within).astype(np.int64)


def selftest_text(model: Model, prefix: str, interface: Interface, count: int, floats: bool) -> str:
    """Return the C file with the vectors and a main: prints OK and returns 0, or says what differs and returns 1."""
    vectors, outside = make_vectors(model, interface, count)
    arrays = "\n".join(
        f"static const {interface.type} {name}[VECTORS][{words.shape[1]}] = {{\n{rows(words)}\n}};\n"
        for name, words in vectors.items()
    )
    check, call = _float_check(model, prefix, interface, max(count // 4, 1)) if floats else ("", "")
    given = ", ".join(f"{array}[state]" for array in interface.arrays)
    what = "joint" if interface.function == "torque_words" else "output"
    return f"""\
/* {prefix}_selftest.c: states and the words they must give; written by bddtorque. */
#include <stdio.h>

#include "{prefix}.h"

#define OUTPUTS {interface.count(prefix, interface.result)}
#define VECTORS {count}

{arrays}
static const int outside[VECTORS] = {{
{filled(outside)}
}};
{check}
int main(void)
{{
    {interface.type} found[OUTPUTS];
    int state, {what}, beyond, wrong = 0;

    for (state = 0; state < VECTORS; state++) {{
        beyond = {prefix}_{interface.function}({given}, found);
        if (beyond != outside[state]) {{
            printf("state %d: expected %d words out of range, got %d\\n", state, outside[state], beyond);
            wrong++;
        }}
        for ({what} = 0; {what} < OUTPUTS; {what}++) {{
            if (found[{what}] != {interface.result}[state][{what}]) {{
                printf("state %d, {what} %d: expected word %ld, got %ld\\n", state, {what},
                    (long){interface.result}[state][{what}], (long)found[{what}]);
                wrong++;
            }}
        }}
    }}
{call}    if (wrong) {{
        printf("FAILED: %d differ\\n", wrong);
        return 1;
    }}
    printf("OK: %d states\\n", VECTORS);
    return 0;
}}
"""


def _float_check(model: Model, prefix: str, interface: Interface, count: int) -> tuple[str, str]:
    """Return the float states with the torques they must give and a function that tries them, and its call."""
    rng = np.random.default_rng(SEED)
    states, words = [], {}
    for quantity in TORQUE_ARRAYS[:-1]:
        formats = getattr(model.formats, quantity)
        # a little beyond the range, and for angles a few turns
        spans = [3 * TURN if word.kind == "angle" else 0.6 * (word.high - word.low) for word in formats]
        centres = [word.offset + word.sign * word.centre for word in formats]
        states.append(np.array(centres) + np.array(spans) * rng.uniform(-1, 1, (count, len(spans))))
        words[quantity] = formats.quantise(states[-1])
    torques = model.formats.tau.dequantise(output_words(model, interface, words))
    arrays = "\n".join(
        f"static const double {name}[FLOAT_VECTORS * OUTPUTS] = {{\n"
        + ",\n".join("    " + ", ".join(map(real, row)) for row in values)
        + "\n};\n"
        for name, values in zip(("real_q", "real_qd", "real_qdd", "real_tau"), (*states, torques), strict=True)
    )
    check = f"""
#define FLOAT_VECTORS {count}

{arrays}
static int float_differences(void)
{{
    double found[OUTPUTS];
    int state, joint, wrong = 0;

    for (state = 0; state < FLOAT_VECTORS; state++) {{
        const int first = state * OUTPUTS;

        if ({prefix}_torque(real_q + first, real_qd + first, real_qdd + first, found) < 0) {{
            printf("float state %d: taken for no numbers\\n", state);
            wrong++;
            continue;
        }}
        for (joint = 0; joint < OUTPUTS; joint++) {{
            if (found[joint] != real_tau[first + joint]) {{
                printf("float state %d, joint %d: expected %.17g, got %.17g\\n", state, joint,
                    real_tau[first + joint], found[joint]);
                wrong++;
            }}
        }}
    }}
    return wrong;
}}
"""
    return check, "    wrong += float_differences();\n"
