"""Arithmetic without a multiplier, as a processor of the paper's time had to do it: shifts, additions, CORDIC.

Numbers are whole multiples of 2^-FRACTION. Used by `term_times.py`; by itself it does nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np

from bddtorque.graph.graph import Graph, Op

FRACTION = 20
ROUNDS = 18
ONE = 1 << FRACTION
ANGLES = np.array([round(math.atan(2.0**-k) * ONE) for k in range(ROUNDS)])
GAIN = round(ONE * math.prod(1 / math.sqrt(1 + 4.0**-k) for k in range(ROUNDS)))
PI = round(math.pi * ONE)


@numba.njit(nogil=True)
def product(left: int, right: int) -> int:
    """Return left·right, one addition for each bit of the right factor that is set."""
    a, b = abs(left), abs(right)
    total = 0
    while b:
        if b & 1:
            total += a
        a <<= 1
        b >>= 1
    total = (total + (ONE >> 1)) >> FRACTION
    return -total if (left < 0) != (right < 0) else total


@numba.njit(nogil=True)
def sine_cosine(angle: int) -> tuple[int, int]:
    """Return sine and cosine of an angle in rad by CORDIC: three additions a round."""
    while angle > PI:
        angle -= 2 * PI
    while angle < -PI:
        angle += 2 * PI
    flip = angle > PI // 2 or angle < -(PI // 2)
    if flip:
        angle = angle - PI if angle > 0 else angle + PI
    x, y = GAIN, 0
    for k in range(ROUNDS):
        if angle >= 0:
            x, y, angle = x - (y >> k), y + (x >> k), angle - ANGLES[k]
        else:
            x, y, angle = x + (y >> k), y - (x >> k), angle + ANGLES[k]
    return (-y, -x) if flip else (y, x)


@numba.njit(nogil=True)
def steps_of_product(right: int) -> int:
    """Return how many rounds `product` takes: the bits of its right factor."""
    b, rounds = abs(right), 0
    while b:
        b >>= 1
        rounds += 1
    return rounds


def software_states(graph: Graph, formats: Any) -> Callable[..., None]:
    """Return a compiled states(q, qd, qdd, tau) on word arrays (N, n) for a graph; formats as `peer` reads them."""
    return _made(graph, formats, counted=False)


def software_steps(graph: Graph, formats: Any) -> Callable[..., None]:
    """Return the same with one argument more, steps (N,): rounds of products and additions are counted there."""
    return _made(graph, formats, counted=True)


def _made(graph: Graph, formats: Any, counted: bool) -> Callable[..., None]:
    pairs = list(_lines(graph, formats))
    lines = [piece for pair in pairs for piece in pair] if counted else [line for line, _ in pairs]
    body = "\n".join(f"        {line}" for line in lines if line)
    given = "q, qd, qdd, tau, steps" if counted else "q, qd, qdd, tau"
    source = f"def states({given}):\n    for s in range(q.shape[0]):\n{body}\n"
    names: dict[str, Any] = {"product": product, "sine_cosine": sine_cosine, "steps_of_product": steps_of_product}
    exec(compile(source, "<software arithmetic>", "exec"), names)
    function: Callable[..., None] = numba.njit(nogil=True)(names["states"])
    return function


def _lines(graph: Graph, formats: Any) -> Iterator[tuple[str, str]]:
    """Return each line, and the line that counts its steps; shifts are part of a round, signs are free."""

    def take(reference: int) -> str:
        return f"(-v{reference >> 1})" if reference & 1 else f"v{reference >> 1}"

    for k, node in enumerate(graph.nodes):
        match node.op:
            case Op.INPUT:
                quantity = node.name.rstrip("0123456789")
                joint = int(node.name.removeprefix(quantity)) - 1
                word = getattr(formats, quantity)[joint]
                scale = round(word.sign * word.lsb * 2**30)  # words times their unit, exact to 2^-30
                rest = round((word.sign * word.centre + word.offset) * ONE)
                whole = f"({quantity}[s, {joint}]) << {FRACTION}"
                shifted = f"(product({whole}, {scale}) >> {30 - FRACTION})"
                yield f"v{k} = {shifted} + {rest}", f"steps[s] += {abs(scale).bit_length() + (rest != 0)}"
            case Op.CONSTANT:
                yield f"v{k} = {round(node.value * ONE)}", ""
            case Op.SUM:
                yield f"v{k} = {take(node.left)} + {take(node.right)}", "steps[s] += 1"
            case Op.PRODUCT:
                left, right = take(node.left), take(node.right)
                yield f"v{k} = product({left}, {right})", f"steps[s] += steps_of_product({right})"
            case _:
                which = int(node.op is Op.COSINE)
                yield f"v{k} = sine_cosine({take(node.left)})[{which}]", f"steps[s] += {3 * ROUNDS}"
    for j, (reference, word) in enumerate(zip(graph.outputs, formats.tau, strict=True)):
        units = round(word.sign / word.lsb * ONE)
        centre = (ONE >> 1) - round(word.centre / word.lsb * ONE)
        rounded = f"(product({take(reference)}, {units}) + {centre}) >> {FRACTION}"
        line = f"tau[s, {j}] = min(max({rounded}, {word.lowest}), {word.highest})"
        yield line, f"steps[s] += {abs(units).bit_length() + 1}"
