"""Compiled loops that call a model's kernel for one state after another, whatever arrays or numbers it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from bddtorque.model.model import Model
from bddtorque.sweeps.states import input_arrays, random_words

Words = npt.NDArray[np.int64]


def takes_numbers(model: Model) -> bool:
    """Tell if a model is a function of numbers, whose kernel takes words and returns one."""
    return all(array.shape == () for array in model.formats.inputs)


def random_states(model: Model, count: int, seed: int) -> dict[str, Words]:
    """Return random words by array: (N, k) for an array, (N,) for a number."""
    return input_arrays(model.formats, random_words(model.formats, count, seed))


def by_word(model: Model, states: Mapping[str, Words]) -> dict[str, Words]:
    """Return the words of states, (N,), by the names that plans have for them."""
    rows = {array.name: states[array.name].reshape(len(states[array.name]), -1) for array in model.formats.inputs}
    return {name: rows[array.name][:, k] for array in model.formats.inputs for k, name in enumerate(array.word_names)}


def compiled_loop(model: Model, body: str, more: str = "", **names: Any) -> Any:
    """Return a compiled function (array, ..., out, more) that runs lines for each row of `out` that is taken.

    In the lines, ``{rows}`` takes the rows of all arrays of the state ``s``, ``{touch}`` reads them, and ``{call}``
    calls the kernel.
    """
    count = len(model.formats.inputs)
    arrays, rows = ([f"{letter}{k}" for k in range(count)] for letter in "ar")
    taken = f"{', '.join([*rows, 'o'])} = {', '.join(f'{array}[s]' for array in [*arrays, 'out'])}"
    call = f"o[0] = kernel({', '.join(rows)})" if takes_numbers(model) else f"kernel({', '.join([*rows, 'o'])})"
    touch = f"o[:] = {' + '.join(row if takes_numbers(model) else f'{row}.sum()' for row in rows)}"
    text = f"def loop({', '.join([*arrays, 'out'])}{more}):\n{body.format(rows=taken, touch=touch, call=call)}"
    made: dict[str, Any] = dict(names)
    exec(compile(text, "<bddtorque loop>", "exec"), made)
    return numba.njit(made["loop"])


def own_loop(model: Model, kernel: Callable[..., Any]) -> Any:
    """Return the loop that docs/getting-started.md has people write: one compiled call for each row."""
    body = "    for s in range(len(out)):\n        {rows}\n        {call}\n"
    return compiled_loop(model, body, kernel=kernel)
