"""What the script of the page is given: the arm, the words, the plan and the tables, as plain data.

JavaScript counts exactly up to 2^53 in its ordinary numbers. Steps of the plan that may get beyond are marked *wide*
and run in BigInt, and their constants are text, since JSON's readers would round them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.chain import chain_of
from bddtorque.evaluate.state_arrays import TORQUE_ARRAYS
from bddtorque.export.integer_ranges import known_ranges
from bddtorque.model.model import Model
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.wires import (
    Add,
    AngleSum,
    Constant,
    Fused,
    Input,
    Lookup,
    Multiply,
    Number,
    Output,
    Product,
    Sine,
    Sum,
    Wire,
)
from bddtorque.report.view import View, ends_in_tip
from bddtorque.robots.robot import Robot
from bddtorque.sweeps.states import Batch, states_of
from bddtorque.words.float_sine import angle_bits, sine_factors, turn_on_grid
from bddtorque.words.formats import Format
from bddtorque.words.integer_range import Range

Integers = npt.NDArray[np.int64]

EXACT = 1 << 53
"""Whole numbers up to here are exact in a float64."""
CHECKS = 96
"""States whose words go along, so that every page compares itself with the evaluator; two thirds of them random."""


def script_data(
    model: Model, packed: Sequence[Mapping[str, Any]] | None, start: Sequence[Sequence[int]], view: View
) -> dict[str, Any]:
    """Return all that the script reads; without `packed` there are no tables, and no torques in the page.

    `start`: the q, qd and qdd words that the page begins with; `view`: from where the arm is looked at.
    """
    formats = model.formats
    data: dict[str, Any] = {
        "robot": robot_data(model.robot),
        "formats": {name: [_format(word) for word in getattr(formats, name)] for name in TORQUE_ARRAYS},
        "start": [list(map(int, words)) for words in start],
        "view": view.to_plain(),
        **compiled_data(model, packed),
    }
    if packed is not None:
        data["checks"] = checks_of(model)
    return data


def function_data(
    model: Model,
    packed: Sequence[Mapping[str, Any]] | None,
    start: Sequence[int],
    checks: tuple[Integers, Integers],
    truth: dict[str, Any] | None,
) -> dict[str, Any]:
    """Return the same for a function or a quantity: all its inputs stand where an arm has its positions.

    Parameters
    ----------
    start
        The input words that the page begins with.
    checks
        Input words (N, inputs) and the output words (N, outputs) that the evaluator gives for them.
    truth
        What the page computes the true outputs from; None if it cannot.
    """
    inputs, outputs = list(model.formats.words.values()), list(model.formats.results.values())
    places = {name: (0, k) for k, name in enumerate(model.formats.words)}
    data: dict[str, Any] = {
        "robot": None,
        "formats": {"q": [_format(word) for word in inputs], "qd": [], "qdd": [], "tau": [_format(w) for w in outputs]},
        "start": [list(map(int, start)), [], []],
        "truth": truth,
        **compiled_data(model, packed, places),
    }
    if packed is not None:
        data["checks"] = {"states": [[row, [], []] for row in checks[0].tolist()], "words": checks[1].tolist()}
    return data


def compiled_data(
    model: Model, packed: Sequence[Mapping[str, Any]] | None, places: Places | None = None
) -> dict[str, Any]:
    """Return bounds, plan and tables, and no test states yet."""
    data: dict[str, Any] = {"bounds": list(model.certificate.bounds), "plan": None, "tables": [], "checks": None}
    if packed is not None:
        plan = model.plan
        data["plan"] = float_plan_data(plan, places) if plan.in_floats else plan_data(plan, model.tables, places)
        data["tables"] = [_table(*pair) for pair in zip(model.tables, packed, strict=True)]
    return data


def robot_data(robot: Robot) -> dict[str, Any]:
    """Return the arm as the page's own Newton-Euler and its drawing read it."""
    chain = chain_of(robot)
    return {
        "serial": ends_in_tip(robot),
        "joints": [
            {
                "name": member.joint.name,
                "revolute": member.joint.revolute,
                "rotation": np.asarray(chain.rotation[i]).tolist(),
                "translation": np.asarray(chain.translation[i]).tolist(),
                "body": np.asarray(chain.body[i]).tolist(),
                "rotor": float(chain.rotor[i]),
                "friction": None if member.joint.friction is None else member.joint.friction.to_plain(),
                "parent": member.parent,
                "drive": member.drive,
                "multiplier": member.multiplier,
                "offset": member.offset,
            }
            for i, member in enumerate(robot.members)
        ],
        "base_acceleration": np.asarray(chain.base_acceleration).tolist(),
        "tip": {"rotation": list(map(list, robot.tip.rotation)), "translation": list(robot.tip.translation)},
    }


Places = Mapping[str, tuple[int, int]]
"""Where the script finds inputs by name: which of its lists of words, and which word of it."""


def _arm_places(plan: Plan) -> Places:
    """Return the places of an arm's inputs, which are called q1.., qd1.., qdd1.."""
    kinds = {wire.name: wire.name.rstrip("0123456789") for wire in plan.wires if isinstance(wire, Input)}
    return {name: (TORQUE_ARRAYS.index(kind), int(name[len(kind) :]) - 1) for name, kind in kinds.items()}


def plan_data(plan: Plan, tables: Sequence[Table], places: Places | None = None) -> dict[str, Any]:
    """Return the steps of a plan, each a short list that begins with its kind; `page/plan.js` reads them.

    `places` says where the inputs are found, those of an arm unless given.
    """
    words, found = known_ranges(plan, tables), places or _arm_places(plan)
    return {
        "wires": [_wire(plan, place, words, found) for place in range(len(plan.wires))],
        "outputs": [[*_summed(output, words), output.low, output.high] for output in plan.outputs],
    }


def float_plan_data(plan: Plan, places: Places | None = None) -> dict[str, Any]:
    """Return the steps of a plan in floats likewise; `page/floats.js` reads them."""
    found = places or _arm_places(plan)
    return {
        "precision": plan.floats.name,
        "factors": list(sine_factors(plan.floats)),
        "wires": [_float_wire(plan, wire, found) for wire in plan.wires],
        "outputs": [[output.wire, output.low, output.high] for output in plan.outputs],
    }


def checks_of(model: Model) -> dict[str, Any]:
    """Return states in words and the torque words that the evaluator gives for them: random ones, and corners."""
    corners = CHECKS // 3
    batches = [Batch(False, 0, CHECKS - corners), Batch(True, 0, corners)]
    states = [states_of(batch, model.formats, 0) for batch in batches]
    together = [np.concatenate(each) for each in zip(*states, strict=True)]
    words = [kind.quantise(each) for kind, each in zip(model.formats.inputs, together, strict=True)]
    return {
        "states": np.stack(words, axis=1).tolist(),
        "words": model.torque_words(*words).tolist(),
    }


def _format(word: Format) -> dict[str, Any]:
    names = ("bits", "lsb", "centre", "sign", "offset", "unit")
    return {"wraps": word.kind == "angle", **{name: getattr(word, name) for name in names}}


def _table(table: Table, packed: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "widths": list(table.input_widths),
        "bits": table.output_bits,
        "signed": table.signed,
        "bytes": table.values.itemsize,
        "key": table.content_key,
        **packed,
    }


def _wire(plan: Plan, place: int, words: Sequence[Range], places: Places) -> list[Any]:
    match plan.wires[place]:
        case Product() as product:
            return _product(product, words)
        case Sum() as total:
            return ["sum", *_summed(total, words)]
        case wire:
            return _word_wire(wire, lambda source: words[source].magnitude, places)


def _word_wire(wire: Wire, magnitude: Callable[[int], int], places: Places) -> list[Any]:
    """Return a wire that plans of both kinds have, given the largest magnitude of the words it reads."""
    match wire:
        case Input(name=name, bits=bits, wraps=wraps):
            return ["input", *places[name], bits, int(wraps)]
        case AngleSum(bits=bits, parts=parts, constant=constant):
            reach = abs(constant) + sum(abs(factor << shift) * magnitude(source) for source, factor, shift in parts)
            wide = reach >= EXACT // 2
            factors = [[source, _number(factor << shift, wide)] for source, factor, shift in parts]
            return ["angle", int(wide), bits, _number(constant, wide), factors]
        case Lookup(block=block, wires=wires):
            return ["lookup", block, list(wires)]
        case _:
            raise TypeError(f"only plans of one kind have wires of kind '{wire.kind}'")


def _float_wire(plan: Plan, wire: Wire, places: Places) -> list[Any]:
    match wire:
        case Number(word=word):
            return ["number", word]
        case Constant(value=value):
            return ["constant", plan.floats.nearest(value)]
        case Sine(word=word, cosine=cosine, rest=rest):
            bits, turn = plan.bits_of(word), turn_on_grid(rest, plan.floats)
            return ["sine", word, int(cosine), bits, angle_bits(bits, turn, plan.floats), str(turn)]
        case Add(left=left, right=right, sign=sign):
            return ["add", left, right, sign]
        case Multiply(left=left, right=right):
            return ["multiply", left, right]
        case Fused():
            return ["fused", *wire.sources, wire.product_sign, wire.addend_sign]
        case _:
            return _word_wire(wire, lambda source: plan.range_of(source).magnitude, places)


def _product(wire: Product, words: Sequence[Range]) -> list[Any]:
    left, right = words[wire.left].magnitude, words[wire.right].magnitude
    wide = max(left * right + (1 << wire.shift), left, right) >= EXACT
    return ["product", int(wide), wire.method, wire.left, wire.right, wire.shift, wire.block, wire.limb_bits]


def _summed(each: Sum | Output, words: Sequence[Range]) -> list[Any]:
    """Return whether a sum is wide, its shift, its constant and its parts."""
    sizes = [abs(factor) * words[wire].magnitude for wire, factor in each.parts]
    factors = [abs(factor) for _, factor in each.parts]
    wide = max([sum(sizes) + abs(each.constant) + (1 << each.shift), *factors]) >= EXACT
    parts = [[wire, _number(factor, wide)] for wire, factor in each.parts]
    return [int(wide), each.shift, _number(each.constant, wide), parts]


def _number(value: int, wide: bool) -> int | str:
    return str(value) if wide else value
