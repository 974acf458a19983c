"""Where compiled words are farthest from the truth: of a block, of a term, of an output.

The truth is computed in float64 with a proved radius. A robot's truth is its quantity traced from the robot's own
numbers; a function's is its graph, or its law. Everything is evaluated on grids: words of each input along an axis of
its own, so that what depends on few words is computed for these alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.origin import from_robot
from bddtorque.dynamics.graph import Graph, kept
from bddtorque.model.model import Model
from bddtorque.plan.blocks import FunctionBlock, GivenBlock, LawBlock, ProductBlock, SquareBlock
from bddtorque.plan.bound import compose_bounds, planned_facts
from bddtorque.plan.wires import Input
from bddtorque.questions.answers import LargestError
from bddtorque.questions.conditions import Conditions
from bddtorque.questions.enumeration import Piece, pieces, random_words, states_of
from bddtorque.questions.search_work import WORK, Work, work_of
from bddtorque.questions.subjects import Integers, State, Subject, Words, subject
from bddtorque.questions.values import check_witness
from bddtorque.robots.robot import Robot
from bddtorque.sweeps.measuring import subject_of
from bddtorque.sweeps.searching import climb
from bddtorque.words.argument import argument_of, intervals
from bddtorque.words.bounded import ROUND_UP, ULP, Bounded, BoundedArithmetic
from bddtorque.words.formats import Format
from bddtorque.words.integer_range import wrap

MAX_BITS = 24
"""Input bits of what is compared on every state."""
PIECE_BITS = 17
"""States compared at a time: the truth keeps a few dozen arrays."""
COMPARED_STEPS, SEARCHED_STEPS, TRIED_STEPS = 100, 7_500, 60_000
"""Steps of a state compared with the truth: of all states along axes, of a search, and of a random one by itself."""

MAX_TRIED = 500_000
"""Random states, all at once: the truth keeps a few dozen arrays of them too."""

Compared = Callable[[Words], tuple[Integers, Bounded]]
"""Compiled words, and the truth in their units, on a grid of input words."""


def largest_error(
    model: Model,
    of: str,
    *,
    where: Conditions = (),
    within_limits: bool = False,
    work: float | Work = WORK,
    limit: float | None = None,
) -> LargestError:
    """Return the largest |compiled − true| of a block, a term or an output, in units, and a state that has it.

    The answer is exact, up to the stated radius, if every state can be compared. Otherwise it is a bracket: the error
    found by a search or among the compared states, and the bound proved by the certificate. Blocks are always
    compared in full. The other arguments are those of `largest`.
    """
    asked = subject(model, of, where, within_limits)
    answer = _found(model, asked, work_of(work, limit))
    proved, refutes = math.inf, ""  # of a block nothing is proved but by what this does, too
    if asked.kind == "output":
        proved = model.certificate.bounds[asked.place]
    elif asked.kind == "term":
        proved = _term_bound(model, asked)
    if answer.found - answer.radius > proved:
        refutes = f"an error of {answer.found:.6g} units found, {proved:.6g} proved, at the words {answer.state}"
    bound = max(answer.found, min(answer.bound, proved))  # both hold, but for what is refuted
    return replace(answer, bound=bound, refutes=refutes, **asked.about(answer.state))


def _found(model: Model, asked: Subject, work: Work) -> LargestError:
    match asked.kind:
        case "word":
            raise BddTorqueError(
                f"ask: the error is a question about an output, a term or a block; {asked.name} is a word"
            )
        case "block":
            return _of_block(model, asked)
        case "term":
            return _of_term(model, asked, work)
        case "output":
            return _of_output(model, asked, work)


def _of_block(model: Model, asked: Subject) -> LargestError:
    block, table = model.plan.blocks[asked.place], model.tables[asked.place]
    if isinstance(block, GivenBlock):
        detail = "its words were given: the error is as stated when they were"
        return _stated(asked, "stated", detail, block.error / asked.lsb)

    def compared(words: Words) -> tuple[Integers, Bounded]:
        return table.values[table.index(words.values())].astype(np.int64), _block_truth(block, words)

    return replace(_whole(asked, asked.inputs, compared), detail="every entry compared with the exact function")


def _block_truth(block: FunctionBlock | LawBlock | ProductBlock | SquareBlock, words: Words) -> Bounded:
    """Return what a block's words stand for, in units; those of products are exact rationals, of small floats."""
    if isinstance(block, SquareBlock):
        return Bounded(np.floor(next(iter(words.values())).astype(np.float64) ** 2 / 4))
    if isinstance(block, ProductBlock):
        left, right = (
            (each if block.signed else each & ((1 << width) - 1)).astype(np.float64)
            for each, width in zip(words.values(), block.widths, strict=True)
        )
        return Bounded(left * right / (1 << block.shift))
    return block.units(list(words.values()))


def _of_term(model: Model, asked: Subject, work: Work) -> LargestError:
    """Compare a term on all states that it depends on, positions and its own motions, or on some of them."""
    output, word = model.plan.outputs[asked.place], model.formats.tau[asked.place]
    read = set(asked.names) | {name for motion in asked.motions for name in motion}
    # only gravity asks where the first joint stands: all else turns, or slides, with it; friction asks for no position
    first = 1 if () in asked.motions else 2
    if any(len(motion) != 1 or motion[0].startswith("qdd") for motion in asked.motions):
        read |= {f"q{j}" for j in range(first, len(model.formats.q) + 1)}
    inputs = _inputs(model, read)
    scale = 2.0**-output.shift

    def compared(words: Words) -> tuple[Integers, Bounded]:
        compiled = asked.total({name: words[name] for name in asked.names})
        truth = true_terms(model, asked.place, asked.motions, words)
        units = Bounded(word.sign * truth.value / word.lsb, np.abs(truth.radius) / word.lsb * (1 + 1e-12))
        if () in asked.motions:  # the word stands for the torque from its centre on
            units = units - (word.sign * word.offset + word.centre) / word.lsb
        return compiled * scale, units  # type: ignore[return-value]

    if states_of(inputs, asked.within) <= 1 << MAX_BITS:
        answer = _whole(asked, inputs, compared, work)
        return answer if answer.exact else replace(answer, way="states and plan", bound=_term_bound(model, asked))
    answer, tried = _tried(asked, inputs, compared, work)
    detail = f"{tried:,} random states tried; proved by the errors of the term's own words"
    bound = _term_bound(model, asked)
    return replace(answer, way="states and plan", detail=detail, bound=bound, stopped=work.stopped or "work")


def _term_bound(model: Model, asked: Subject) -> float:
    """Return a bound of a term's error, in units: its own words', and all that the whole torque errs besides.

    Factors rounded to whole numbers, terms left out and float arithmetic are known of the whole torque only, each as a
    sum of what the terms contribute: no term has more.
    """
    output = model.plan.outputs[asked.place]
    plan = replace(asked.plan, outputs=(replace(output, parts=asked.output.parts),))
    scales = {name: argument_of(word).scale for name, word in model.formats.words.items()}
    (bound,) = compose_bounds(plan, scales, planned_facts(plan.blocks))
    arithmetic = model.certificate.torques[asked.place].parts.arithmetic
    return (bound.total - bound.final_rounding + arithmetic) * (1 + 1e-9)


def _inputs(model: Model, names: set[str]) -> tuple[Input, ...]:
    formats = model.formats.words
    return tuple(Input.of(name, argument_of(word)) for name, word in formats.items() if name in names)


def _of_output(model: Model, asked: Subject, work: Work) -> LargestError:
    assert asked.word is not None
    word, formats = asked.word, model.formats.words
    inputs = _inputs(model, set(formats))

    def compared(words: Words) -> tuple[Integers, Bounded]:
        compiled = asked.rounded(asked.total({name: words[name] for name in asked.names}))
        truth = in_units(cast("Bounded", true_output(model, asked.place, words)), word)
        return compiled, Bounded(np.clip(truth.value, word.lowest, word.highest), truth.radius)

    known = model.certificate.bounds[asked.place]
    if true_output(model, asked.place, {name: np.zeros(1, dtype=np.int64) for name in formats}) is None:
        detail = "the file does not hold the function itself: the error is as the certificate states it"
        return _stated(asked, "certificate", detail, known)
    if states_of(inputs, asked.within) <= 1 << MAX_BITS:
        answer = _whole(asked, inputs, compared, work)
        return answer if answer.exact else replace(answer, way="states and certificate", bound=known)
    if asked.within:
        answer, tried = _tried(asked, inputs, compared, work)
    else:
        most = max(int(work.affordable() // SEARCHED_STEPS), 1)
        swept = subject_of(model, form="dense" if model.plan.made_of_tables else None)
        climbed = climb(swept, 0, asked.place, np.zeros(len(formats), dtype=np.int64), most)
        words = climbed["worst_state"].reshape(-1, 1)
        answer, tried = _among(asked, dict(zip(formats, words, strict=True)), compared), climbed["tried"]
    check_witness(model, asked, answer.state, cast("int", answer.word))
    detail = f"{tried:,} states tried in search of the worst"
    return replace(answer, way="search and certificate", detail=detail, bound=known, stopped=work.stopped or "work")


def _tried(asked: Subject, inputs: tuple[Input, ...], compared: Compared, work: Work) -> tuple[LargestError, int]:
    """Return the largest error of some random states, and how many were tried."""
    count = min(max(int(work.affordable() // TRIED_STEPS), 1), MAX_TRIED)
    worst = _among(asked, random_words(inputs, count, asked.within), compared).state
    return _among(asked, {name: np.array([word]) for name, word in worst.items()}, compared), count


def _whole(asked: Subject, inputs: tuple[Input, ...], compared: Compared, work: Work | None = None) -> LargestError:
    """Return the largest error over all states of some inputs, or over as many as work allows."""
    parts = pieces(inputs, PIECE_BITS, asked.within)
    return _worst(asked, parts, states_of(inputs, asked.within), compared, work or Work(math.inf))


def _among(asked: Subject, words: Words, compared: Compared) -> LargestError:
    """Return the largest error of some states, (N,) words of each input."""
    (count,) = {len(each) for each in words.values()}
    return replace(_worst(asked, [Piece(words)], count, compared, Work(math.inf)), exact=False)


def _worst(asked: Subject, parts: Iterable[Piece], states: int, compared: Compared, work: Work) -> LargestError:
    """Return the largest error over pieces of so many states, or over as many of them as work allows."""
    found = bound = -1.0
    radius = word = truth = 0.0
    state: State = {}
    run = 0
    with work.interruptible():
        for piece in parts:
            if run and not work.goes_on():
                break
            compiled, true = compared(piece.words)
            compiled, values, radii = (
                np.broadcast_to(each, piece.shape) for each in (compiled, true.value, true.radius)
            )
            difference = np.abs(compiled - values)
            place = int(difference.argmax())
            bound = max(bound, float((difference + radii).max()))
            if difference.flat[place] > found:
                found, radius, state = float(difference.flat[place]), float(radii.flat[place]), piece.state(place)
                word, truth = float(compiled.flat[place]), float(values.flat[place])
            run += difference.size
            work.spend(difference.size * COMPARED_STEPS)
    if not run:
        raise KeyboardInterrupt
    much = f"all {states:,}" if run == states else f"{run:,} of {states:,}"
    # a state of a smaller difference but a larger radius may be the worst in truth: the radius reaches to its bound
    radius = max(radius, math.nextafter(bound - found, math.inf) if bound > found else 0.0)
    why = work.why(run == states)
    return LargestError(
        asked.name, asked.title, run == states, "enumeration", f"{much} states compared{work.note(run == states)}",
        found, bound, radius, asked.lsb, asked.unit, state,
        int(word) if word.is_integer() else None, truth, stopped=why,
    )  # fmt: skip


def _stated(asked: Subject, way: str, detail: str, bound: float) -> LargestError:
    """Return what is stated of the error of something that there is no truth of to compare it with."""
    return LargestError(
        asked.name, asked.title, False, way, detail, 0.0, bound, 0.0, asked.lsb, asked.unit, {}, None, None
    )


def true_output(model: Model, place: int, words: Words) -> Bounded | None:
    """Return one true output, in its unit, for input words by name, of shapes that go together.

    None where the file does not hold the function itself.
    """
    quantity, block = model.provenance.quantity, model.plan.blocks[0] if len(model.plan.blocks) == 1 else None
    if quantity is not None:
        value = _true_quantity(model, model.robot, place, _values(model, words))
        return value + _friction(model, place, words) if quantity.friction else value
    if model.provenance.graph is not None:
        return _evaluate(model.provenance.graph, place, _values(model, words))
    return block.value([words[name] for name in model.formats.words]) if isinstance(block, LawBlock) else None


def true_terms(model: Model, place: int, motions: tuple[tuple[str, ...], ...], words: Words) -> Bounded:
    """Return the sum of some terms of one true torque, each by what its coefficient is multiplied with."""
    weightless = model.robot.with_gravity((0.0, 0.0, 0.0))
    values = _values(model, words)

    def torque(robot: Robot, moving: Collection[str]) -> Bounded:
        """Return the torque of some velocities and accelerations, the others being 0."""
        still = {name: 0.0 for name in values if name.startswith("qd") and name not in moving}
        return _true_quantity(model, robot, place, {**values, **still})

    total = Bounded(np.float64(0.0))
    for motion in motions:
        if not motion:
            part = torque(model.robot, ())
        elif len(motion) == 1 and not motion[0].startswith("qdd"):
            part = _friction(model, place, words)
        else:
            part = torque(weightless, motion)
            if len(set(motion)) > 1:  # the centripetal terms of both are another term
                for name in motion:
                    part = part - torque(weightless, (name,))
        total = total + part
    return total


def _values(model: Model, words: Words) -> dict[str, Any]:
    """Return the values of input words and of words derived from them: angles stay exact, all else has a radius."""
    rest = np.zeros(1, dtype=np.int64)  # what is not given does not matter, and may be anything
    given = {name: words.get(name, rest) for name in model.formats.words}
    for word in model.formats.derived:
        total = sum(factor * given[name] for name, factor in word.parts)
        given[word.name] = wrap(total, word.argument.bits)
    return {name: argument.bounded(given[name]) for name, argument in model.formats.arguments.items()}


def _true_quantity(model: Model, robot: Robot, place: int, values: Mapping[str, Any]) -> Bounded:
    """Return an output of the robot's quantity without friction: its trace, and what rounding constants can lose."""
    origin = from_robot(model.spec, robot, model.formats.inputs)
    value = _evaluate(origin.graph, place, values)
    return Bounded(value.value, value.radius + origin.errors(intervals(model.formats.arguments), ())[place])


def _evaluate(graph: Graph, place: int, values: Mapping[str, Any]) -> Bounded:
    own = kept(graph.nodes, graph.outputs[place : place + 1], graph.output_names[place : place + 1])
    (value,) = own.evaluate(values, BoundedArithmetic())
    return value if isinstance(value, Bounded) else Bounded(np.float64(value))


def _friction(model: Model, place: int, words: Words) -> Bounded:
    """Return the friction of a joint."""
    law, velocity = model.robot.joints[place].friction, _values(model, words)[f"qd{place + 1}"]
    if law is None:
        return Bounded(np.float64(0.0))
    shape = np.shape(velocity.value)
    flat = Bounded(np.reshape(velocity.value, -1), np.broadcast_to(velocity.radius, shape).reshape(-1))
    force = law.bounded([flat])
    return Bounded(np.reshape(force.value, shape), np.broadcast_to(force.radius, force.value.shape).reshape(shape))


def in_units(value: Bounded, word: Format) -> Bounded:
    """Return values as units of a word, neither rounded nor clamped."""
    slack = 4 * ULP * (np.abs(value.value) + abs(word.offset) + abs(word.centre)) / word.lsb
    return Bounded(word.units(value.value), (np.abs(value.radius) / word.lsb + slack) * ROUND_UP)
