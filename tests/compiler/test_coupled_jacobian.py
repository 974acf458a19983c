"""A joint and one that follows it at a right angle, twice as fast: columns of the Jacobian are longer than axes."""

from __future__ import annotations

from functools import cache

import pytest

import bddtorque as bt
from bddtorque.compiler.verify import verify
from bddtorque.dynamics.quantities.jacobian import Jacobian
from bddtorque.dynamics.quantity import ANY
from bddtorque.independent import check_bytes
from bddtorque.model.model import to_bytes
from bddtorque.robots.parts import Follower, Frame, Joint, Link
from bddtorque.robots.robot import Robot
from bddtorque.sweeps import sweep
from bddtorque.words.bounded import Interval

TARGETS = ("float", "integer", "tables")
ANGULAR_AT_ZERO = (0.0, -2.0, 1.0)
"""rad/s per rad/s of the leader at q = 0: its own axis z, and twice the follower's, -y."""


def coupled_arm() -> Robot:
    body = Link("upper", 1.0, (0.1, 0.0, 0.0), ((0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.01)))
    quarter = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
    bevel = Joint("follower", "revolute", quarter, (0.3, 0.0, 0.0), parent="leader")
    lower = Link("lower", 1.0, (0.1, 0.0, 0.0), body.inertia)
    return Robot(
        "coupled",
        (Joint("leader", "revolute", parent=""),),
        (body,),
        tip=Frame(translation=(0.2, 0.0, 0.0), parent="follower"),
        followers=(Follower(bevel, lower, "leader", 2.0),),
    )


@cache
def jacobian(target: str) -> bt.Model:
    return bt.compile(coupled_arm(), quantity="jacobian", target=target, bits=8, workers=1, cache=None)


@pytest.mark.parametrize("target", TARGETS)
def test_the_sum_of_axes_is_neither_clipped_nor_outside_the_certificate(target: str) -> None:
    model = jacobian(target)
    found = model.value([0.0])[3:, 0]
    words, proved = list(model.formats.results.values())[3:], model.certificate.outputs[3:]
    for true, value, word, output in zip(ANGULAR_AT_ZERO, found, words, proved, strict=True):
        assert output.saturation == "cannot"
        assert word.span[0] <= true <= word.span[1], output.name
        assert output.low <= true <= output.high, output.name
        assert abs(value - true) <= output.bound_si, output.name
    assert max(output.high for output in proved) < 2.1  # the words are no wider than they must be


@pytest.mark.parametrize("target", TARGETS)
def test_a_file_whose_range_is_that_of_one_axis_is_refused(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if columns were axes: the largest entry would be 1."""
    with monkeypatch.context() as patch:
        patch.setattr(
            Jacobian, "known_ranges", lambda self, asked, robot: [ANY] * 3 + [Interval(-1 - 1e-12, 1 + 1e-12)] * 3
        )
        clipped = bt.compile(coupled_arm(), quantity="jacobian", target=target, bits=8, workers=1, cache=None)
    assert clipped.certificate.outputs[4].saturation == "cannot"
    assert clipped.value([0.0])[4, 0] > -1.1  # it is -2
    data = to_bytes(clipped)
    for checks in (verify(data, workers=1), check_bytes(data)):
        assert not all(check.passed for check in checks)
    refused = check_bytes(data)[-1]
    assert refused.name in ("ranges", "saturation", "certificate"), refused
    assert "wy1" in [output.output for output in sweep(clipped, 200).refuted_ranges]
