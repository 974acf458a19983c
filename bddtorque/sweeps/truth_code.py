"""The true values of a long sweep: the recursion of one arm as straight-line code in float64, in vector lanes.

It is the plan that target ``"float"`` would have in double precision, but it takes any floats, in units of the words,
and rounds nothing at the end. At words its error from the traced recursion is proved as for every plan in floats
(`error`); states between words are computed by the same operations. A sweep compares it with the quantity's own true
values before use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.compiler.robot_draft import plan_in_doubles
from bddtorque.evaluate.code_writer import indented, plans_folder
from bddtorque.evaluate.float_code import FloatCode, FloatPool
from bddtorque.evaluate.float_straight import HEADER, TileWriter
from bddtorque.evaluate.statements import Statement
from bddtorque.model.model import Model
from bddtorque.plan.bound import compose_bounds
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import AngleSum, Input, Number, Sine
from bddtorque.words.float_sine import GRID, turn_on_grid
from bddtorque.words.ieee import DOUBLE
from bddtorque.words.interface import Interface

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TruthCode:
    """True outputs, friction left out, of inputs in units."""

    code: Callable[..., None]
    room: int
    lanes: int
    error: tuple[float, ...]  # what roundings of each output at words amount to at most, in units

    def __call__(self, inputs: Floats) -> Floats:
        """Return outputs (m, N) in units, neither rounded nor clamped, of inputs (all input words, N) in units."""
        inputs, count = np.ascontiguousarray(inputs), inputs.shape[1]
        padded = np.pad(inputs, ((0, 0), (0, -count % self.lanes))) if count % self.lanes else inputs
        outputs = np.empty((len(self.error), padded.shape[1]))
        self.code(padded, outputs, np.empty(self.room))
        return outputs[:, :count]


def truth_code(model: Model) -> TruthCode | None:
    """Return the true values of a robot as code, compiled when first called, or found on disk.

    None for functions, which are as fast in NumPy, and for words derived from others.
    """
    if model.provenance.robot is None or model.formats.derived:
        return None
    plan = plan_in_doubles(model.spec, model.robot, model.formats, model.accuracy)
    error = tuple(each.constants + each.tables + each.arithmetic for each in compose_bounds(plan, {}, []))
    writer = _TruthWriter(plan, model.formats)
    return TruthCode(writer.module(plans_folder()).torques, writer.room, writer.lanes, error)


class _TruthWriter(TileWriter):
    """The module of a plan: torques(inputs, tau, rows)."""

    def __init__(self, plan: Plan, formats: Interface) -> None:
        super().__init__(plan, formats, HEADER.format(dtype="float64"))
        rows, code = {name: row for row, name in enumerate(formats.words)}, _Code(plan)
        self.flat = {"inputs", "tau"}
        given = {f"x{k}": rows[wire.name] for k, wire in enumerate(plan.wires) if isinstance(wire, Input)}
        places = self.row_names(given)
        writes = [
            Statement(f"tau[{k} * width + first]", code.value(output.wire), tuple(code.names_read(output)))
            for k, output in enumerate(plan.outputs)
        ]
        body = [*code.body, *writes]
        compute = self.add_tile("compute", ["rows", "tau", "first", "width"], places, body)
        read = [f"{places[x]} = inputs[{row} * width + first]" for x, row in given.items()]
        lines = [self.add_block("read", ["rows", "inputs", "first", "width"], read, lanes=self.lanes), *compute]
        begin = [*self.begin("real"), "width = inputs.shape[1]"]
        loop = [f"for first in range(0, width, {self.lanes}):", *indented(lines)]
        self.add("torques(inputs, tau, rows)", [*begin, *loop])


class _Code(FloatCode):
    """The statements of a plan whose words x<k> are floats."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan, FloatPool(plan), lookups=False)

    def _write(self, k: int, wire: Any) -> None:
        match wire:
            case Number(word=word):
                self.assign(f"w{k}", f"x{word}", f"x{word}")
            case Sine():
                self._write_sine(k, wire)
            case _:
                super()._write(k, wire)

    def _write_sine(self, k: int, wire: Sine) -> None:
        """Write the polynomial of an angle that is brought to half a turn on either side of 0."""
        quarters = f"a{wire.word}_{k}"
        turn = turn_on_grid(wire.rest, DOUBLE) * 2.0 ** (2 - GRID[DOUBLE.name])
        angle, words = self._quarters(wire.word)
        self.assign(f"t{k}", f"{angle} + {self.number(turn)}", *words)
        self.assign(quarters, f"t{k} - {self.number(4.0)} * rint(t{k} * {self.number(0.25)})", f"t{k}")
        self.write_folded(k, quarters, wire.cosine)

    def _quarters(self, word: int) -> tuple[str, list[str]]:
        """Return an angle in quarter turns, and the words it is made of."""
        wire = self.plan.wires[word]
        unit = 2.0 ** (2 - self.plan.bits_of(word))
        parts = wire.parts if isinstance(wire, AngleSum) else ((word, 1, 0),)
        constant = wire.constant if isinstance(wire, AngleSum) else 0
        terms = [f"x{source} * {self.number((factor << shift) * unit)}" for source, factor, shift in parts]
        return " + ".join([*terms, self.number(constant * unit)]), [f"x{source}" for source, _, _ in parts]
