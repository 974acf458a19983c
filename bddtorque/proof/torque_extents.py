"""Extent of each torque: between what a search reached and what is proved, over all words and within limits.

The one place where this is found out: certificate, summaries, reports and questions all show it. It follows from the
robot, its words and what the certificate holds, so that no file holds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.batch import friction, torques
from bddtorque.dynamics.chain import chain_of
from bddtorque.dynamics.node_ranges import output_ranges
from bddtorque.dynamics.regroup import regrouped
from bddtorque.dynamics.robot_trace import trace_chain
from bddtorque.dynamics.term_trace import traced_terms
from bddtorque.proof.proved_bound import Extent, ProvedBound, TorqueRange
from bddtorque.proof.torque_boxes import input_ends, torque_search
from bddtorque.proof.torque_range import TorqueBox
from bddtorque.robots.robot import Robot
from bddtorque.words.bounded import Interval
from bddtorque.words.formats import Format, limit_run
from bddtorque.words.interface import Interface
from bddtorque.words.joint_friction import friction_reach
from bddtorque.words.portable import sine_cosine

Words = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Within = Mapping[str, tuple[int, int]]
"""The first and the last word of the inputs that do not take all of their words, by name."""
Ends = dict[tuple[int, int], float]
"""A torque by joint and direction: 1 for the largest, −1 for the smallest."""

STATES = 4096
KEPT = 8
STEPS = (2, 3, 4, 6, 8, 11)
"""Changes tried on a word that is searched: its range over these powers of two, both ways, and its ends."""
BOXES, STARTS, GAP = 1024, 1, 0.01
"""For each end of a torque: boxes to look at, climbs before, and how close to what they reach is enough."""
MAX_JOINTS_IN_TERMS = 6
"""Separate terms give the closest ranges; of more joints they take longer to find than all the rest of a plan."""
MARGIN = 1e-6
"""Relative to the range of the recursion, which adds the magnitudes of all its parts. Regrouping and the Fourier step
leave out what is below 1e-12 of the parts, at most 5⁶ times in a coefficient."""


def torque_reach(
    robot: Robot, inputs: Mapping[str, Interval], angles: Mapping[str, Interval] | None = None
) -> list[Interval]:
    """Return a sound range of each torque, N·m or N, friction included, over the ranges of its inputs.

    The closer of two ranges counts: of the recursion, and of the separate terms, each harmonic at its amplitude.

    Parameters
    ----------
    inputs
        Of q1.., qd1.., qdd1..: positions of joints that slide, all velocities and accelerations.
    angles
        Positions of joints that turn; those that are not given may be any.
    """
    graphs = [trace_chain(*regrouped(chain_of(robot)))]
    if robot.degrees_of_freedom <= MAX_JOINTS_IN_TERMS:
        with suppress(BddTorqueError):  # too many harmonics
            graphs.append(traced_terms(robot)[1])
    found = [output_ranges(graph, inputs, angles) for graph in graphs]
    anywhere = output_ranges(graphs[0], inputs) if angles else found[0]
    reach = []
    for j, joint in enumerate(robot.joints):
        margin = MARGIN * anywhere[j].magnitude
        own = Interval(max(each[j].low for each in found) - margin, min(each[j].high for each in found) + margin)
        if joint.friction is not None:
            own = own + friction_reach(joint.friction, inputs[f"qd{j + 1}"])
        reach.append(own)
    return reach


def torque_ranges(robot: Robot, formats: Interface, outputs: Sequence[ProvedBound]) -> tuple[TorqueRange, ...]:
    """Return what is known of the range of each torque, given what the certificate holds of it."""
    words = formats.words
    runs = {name: limit_run(word) for name, word in words.items()}
    within = {name: run for name, run in runs.items() if run is not None}
    known: Ends = {}
    for j, proved in enumerate(outputs):
        known[j, 1], known[j, -1] = proved.high, proved.low
    everywhere = _extents(robot, words, {}, known, bool(within))
    limited: list[Extent | None] = [None] * len(outputs)
    if within:
        known = {
            (j, side): each.high if side > 0 else each.low for j, each in enumerate(everywhere) for side in (1, -1)
        }
        inside = _extents(robot, words, within, known, True)
        everywhere = [_with_states_of(*pair) for pair in zip(everywhere, inside, strict=True)]
        limited = [*inside]
    found = []
    for proved, word, extent, own in zip(outputs, formats.tau, everywhere, limited, strict=True):
        low, high = sorted((word.sign * word.low, word.sign * word.high))
        found.append(TorqueRange(proved.name, proved.unit, low, high, proved.bound_si, extent, own))
    return tuple(found)


def _extents(robot: Robot, words: Mapping[str, Format], within: Within, known: Ends, boxes: bool) -> list[Extent]:
    """Return how large each torque can be; `known` bounds it, and boxes of positions are looked at where asked for.

    Boxes take a while, and code that is compiled once: over all words they are for comparison with the limits.
    """
    low, high = input_ends(words, within)
    inputs, angles = {}, {}
    for name, *ends in zip(words, low.tolist(), high.tolist(), strict=True):
        if words[name].kind == "range":
            inputs[name] = Interval(*ends)
        elif name in within:
            angles[name] = Interval(*ends)
    bounds = dict(known)
    for j, reach in enumerate(torque_reach(robot, inputs, angles)):
        bounds[j, 1], bounds[j, -1] = min(bounds[j, 1], reach.high), max(bounds[j, -1], reach.low)
    if not within:
        box = TorqueBox(robot, tuple(low.tolist()), tuple(high.tolist()))
        for j in range(robot.degrees_of_freedom):
            closer = box.closer_range(j)
            if closer is not None:
                bounds[j, 1], bounds[j, -1] = min(bounds[j, 1], closer.high), max(bounds[j, -1], closer.low)
    starts: list[list[int]] = []
    if boxes and robot.degrees_of_freedom <= MAX_JOINTS_IN_TERMS:
        for (j, side), bound in bounds.items():
            search = torque_search(robot, words, j, side, within, STARTS)
            if search is not None:
                search.run(GAP, None, BOXES)
                bounds[j, side] = side * min(side * bound, side * search.bound)
                starts.append(_nearest(words, within, search.point()))
    reached = _search(robot, words, within, np.array(starts, dtype=np.int64).reshape(-1, len(words)))
    return [
        Extent(
            min(bounds[j, -1], reached[j, -1][0]), reached[j, -1][0], reached[j, 1][0],
            max(bounds[j, 1], reached[j, 1][0]), reached[j, -1][1], reached[j, 1][1],
        )
        for j in range(robot.degrees_of_freedom)
    ]  # fmt: skip


def largest_found(robot: Robot, formats: Interface) -> list[float]:
    """Return a large magnitude of each torque, as a short search over all words finds it."""
    words = formats.words
    reached = _search(robot, words, {}, np.empty((0, len(words)), np.int64))
    return [max(reached[j, 1][0], -reached[j, -1][0]) for j in range(robot.degrees_of_freedom)]


def _with_states_of(extent: Extent, other: Extent) -> Extent:
    """Return what is known of a torque, with what was reached where another extent was looked for."""
    low, high = extent, extent
    if other.low_reached < extent.low_reached:
        low = other
    if other.high_reached > extent.high_reached:
        high = other
    return Extent(
        min(extent.low, low.low_reached), low.low_reached, high.high_reached, max(extent.high, high.high_reached),
        low.low_state, high.high_state,
    )  # fmt: skip


def _nearest(words: Mapping[str, Format], within: Within, point: Floats) -> list[int]:
    """Return the words nearest to a point, within their ends; those of angles are counted on beyond half a turn."""
    nearest = []
    for (name, word), x in zip(words.items(), point.tolist(), strict=True):
        own = int(word.quantise(x))
        first, last = within.get(name, (word.lowest, word.highest))
        if own < first and word.kind == "angle" and own + (1 << word.bits) <= last:
            own += 1 << word.bits
        nearest.append(min(max(own, first), last))
    return nearest


def _search(
    robot: Robot, words: Mapping[str, Format], within: Within, starts: Words
) -> dict[tuple[int, int], tuple[float, tuple[int, ...]]]:
    """Return the largest and the smallest of each torque found, and its words.

    Of random states, those with the motion at its ends, and of `starts`; the best are improved word by word.
    """
    chain, n, rng = chain_of(robot), robot.degrees_of_freedom, np.random.default_rng(0)
    formats = list(words.values())
    ends = [within.get(name, (word.lowest, word.highest)) for name, word in words.items()]
    around = [word.kind == "angle" and name not in within for name, word in words.items()]

    def values(states: Words) -> Floats:
        columns = [word.dequantise(word.held(states[:, k])) for k, word in enumerate(formats)]
        q, qd, qdd = np.split(np.stack(columns, axis=1), 3, axis=1)
        tau = torques(chain, q, qd, qdd, sine_cosine(q))
        return tau + friction(robot, qd) if robot.has_friction else tau

    states = np.stack([rng.integers(*each, STATES, endpoint=True) for each in ends], axis=1)
    for column, each in enumerate(ends[n:], n):  # torques are largest where the motion is
        states[:, column] = rng.choice(each, STATES)
    states = np.concatenate((states, starts))
    sides = [(j, side) for j in range(n) for side in (1, -1)]
    tau = values(states)
    kept = np.concatenate([states[(side * tau[:, j]).argsort(kind="stable")[-KEPT:]] for j, side in sides])
    own, sign = (np.repeat(each, KEPT) for each in zip(*sides, strict=True))
    rows = np.arange(len(kept))
    for column, (word, each) in enumerate(zip(formats, ends, strict=True)):
        steps = [way << max(0, word.bits - power) for power in STEPS for way in (1, -1)]
        tried = np.repeat(kept[:, None, :], len(steps) + 3, axis=1)
        moved = kept[:, None, column] + np.array(steps)
        tried[:, 1:-2, column] = word.held(moved) if around[column] else np.clip(moved, *each)
        tried[:, -2:, column] = each
        tau = values(tried.reshape(-1, len(formats))).reshape(*tried.shape[:2], n)
        kept = tried[rows, (sign[:, None] * tau[rows, :, own]).argmax(axis=1)]
    tau = values(kept)
    found = {}
    for k, (j, side) in enumerate(sides):
        best = k * KEPT + int((side * tau[k * KEPT : (k + 1) * KEPT, j]).argmax())
        state = tuple(int(word.held(place)) for word, place in zip(formats, kept[best], strict=True))
        found[j, side] = float(tau[best, j]), state
    return found
