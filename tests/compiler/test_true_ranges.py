"""Every quantity of random small robots: true values, never clamped, lie where the certificate says they do.

Comparisons with clamp(true) cannot see words that are too narrow: a value that is clipped where the certificate says
that it cannot saturate agrees with a truth that is clipped alike.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from small_models import own_options
from strategies import GEOMETRIES, random_rotation, random_tree

import bddtorque as bt
from bddtorque.base.plain import matrix, vector
from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.dynamics.quantities.jacobian import Jacobian
from bddtorque.dynamics.quantity import ANY
from bddtorque.robots.parts import Frame
from bddtorque.robots.robot import Robot
from bddtorque.words.bounded import Interval

STATES = 300
TURN, SLIDE = "revolute", "prismatic"
STRUCTURES = (
    ([TURN, TURN], [0, 1], [0, 3]),
    ([TURN, SLIDE, TURN], [0, 1, 2], [0, 0, -2]),
    ([SLIDE, SLIDE], [0, 1], [0, -2]),
    ([TURN, TURN, TURN], [0, 1, 1], [0, 0, 2]),
    ([TURN, SLIDE, TURN], [0, 1, 2], [0, 0, 0]),
    ([TURN, SLIDE, TURN], [0, 1, 1], [0, 0, 0]),
)
"""Kinds, carriers (0 is the base) and multipliers (0: driven) of members; followers follow the first."""
FLOAT_ERROR = 1e-9
"""Of the largest value: what float64 may lose."""


def small_robot(seed: int) -> Robot:
    """Return a robot of one of the structures, with random numbers; its tip is on its last member."""
    kinds, parents, follows = STRUCTURES[seed % len(STRUCTURES)]
    rng = np.random.default_rng([seed, 1])
    geometry = seed // len(STRUCTURES) % len(GEOMETRIES)
    robot = random_tree(kinds, parents, follows, len(GEOMETRIES) * seed + geometry, 0.0)
    tip = Frame(matrix(random_rotation(rng), "tip"), vector(rng.uniform(-0.5, 0.5, 3), "tip"), f"j{len(kinds) - 1}")
    return replace(robot, tip=tip)


def compiled(seed: int, quantity: str, target: str) -> bt.Model:
    robot = small_robot(seed)
    slides = [joint.name for joint in robot.joints if not joint.kind.turns]
    options: dict[str, Any] = {"bits": 10 if target == "float" else 4, "target": target}
    if target != "tables":
        options["accuracy"] = 2.0
    if slides:
        options["position"] = dict.fromkeys(slides, (-0.3, 0.5))
    needed = QUANTITIES[quantity].ranges
    options |= {name: size for name, size in (("velocity", 1.5), ("acceleration", 4.0)) if name in needed}
    if "torque" in needed:
        options["torque"] = "auto" if seed % 3 else 20.0  # some can saturate, and say how far
    options |= own_options(quantity)
    return bt.compile(robot, quantity=quantity, workers=1, cache=None, **options)


def telling_words(model: bt.Model, seed: int) -> dict[str, np.ndarray]:
    """Return words by name, (N,): random ones, and combinations of ends, zeros and eighths of the range."""
    rng = np.random.default_rng([seed, 2])
    words = {}
    for name, word in model.formats.words.items():
        even = rng.integers(word.lowest, word.highest, STATES, endpoint=True)
        special = rng.choice([word.highest, *range(word.lowest, word.highest, -word.lowest // 4)], STATES)
        words[name] = np.concatenate([even, special])
    return words


def check_true_ranges(model: bt.Model, seed: int) -> None:
    words = telling_words(model, seed)
    true = model.true_values(words)
    every = zip(true.T, model.formats.results.values(), model.certificate.outputs, strict=True)
    for values, word, proved in every:
        allowed = FLOAT_ERROR * max(1.0, np.abs(true).max())
        assert proved.low - allowed <= values.min() and values.max() <= proved.high + allowed, proved.name
        units = word.units(values)
        beyond = max(word.lowest - units.min(), units.max() - word.highest)
        if proved.saturation == "cannot":
            assert beyond <= proved.bound + allowed / word.lsb, proved.name


CASES = [
    pytest.param(seed, target, marks=[] if target == "float" and seed < len(STRUCTURES) else [pytest.mark.everything])
    for target, seeds in (("float", 36), ("integer", 6), ("tables", 6))
    for seed in range(seeds)
]


@pytest.mark.parametrize(("seed", "target"), CASES)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_true_values_are_where_the_certificate_says(quantity: str, seed: int, target: str) -> None:
    check_true_ranges(compiled(seed, quantity, target), seed)


def test_words_that_clip_a_sum_of_axes_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above can fail: with the limit of one axis, a drive that turns the tip twice is clipped."""
    with monkeypatch.context() as patch:
        patch.setattr(
            Jacobian, "known_ranges", lambda self, asked, robot: [ANY] * 3 + [Interval(-1 - 1e-12, 1 + 1e-12)] * 3
        )
        clipped = compiled(0, "jacobian", "float")
    with pytest.raises(AssertionError, match="w"):
        check_true_ranges(clipped, 0)
