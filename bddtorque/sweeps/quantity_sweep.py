"""Sweeps of functions and of quantities other than torques: compiled words beside true values in float64."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import at_least
from bddtorque.base.workers import NoProgress, Progress, step
from bddtorque.model.model import Model
from bddtorque.proof.proved_bound import Saturation
from bddtorque.sweeps.true_torques import float_error, refutes_range

Words = npt.NDArray[np.int64]
BATCH = 20_000
CORNER_SHARE = 8
"""For so many random states there is one whose words are all at an end of their range."""


@dataclass(frozen=True)
class OutputSweep:
    """What a sweep found for one output word.

    Attributes
    ----------
    output, unit, bits, lsb
        Its label, unit, word length, and the value of one unit of the last bit.
    proved
        The bound of the certificate, in units.
    found, rms
        The largest and the root mean square error, in units.
    saturated
        Number of states that need a value beyond the words.
    worst
        Words of every input array where the error was largest.
    saturation
        What the certificate says about values beyond the words: ``"cannot"``, ``"can"`` or ``"not excluded"``.
    overshoot
        How far a true value lies beyond the end words at most, in units; 0 if none does.
    overshoot_words
        Words of every input array of that state; empty if there is none.
    """

    output: str
    unit: str
    bits: int
    lsb: float
    proved: float
    found: float
    rms: float
    saturated: int
    worst: dict[str, list[int]]
    saturation: Saturation
    overshoot: float
    overshoot_words: dict[str, list[int]]

    @property
    def exceeds(self) -> bool:
        """Whether more was found than is proved, which must never happen; the rounding of floats is allowed for."""
        return self.found > self.proved + float_error(self.bits)

    @property
    def range_refuted(self) -> bool:
        """Whether a true value lies beyond the words, though the certificate says it cannot: never, unless a bug.

        Errors do not show that, being those of clamped values. Within the bound it would round to an end word.
        """
        return refutes_range(self.saturation, self.overshoot, self.proved, self.bits)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data."""
        return {**asdict(self), "exceeds": self.exceeds, "range_refuted": self.range_refuted}


@dataclass(frozen=True)
class QuantitySweep:
    """What a sweep of a quantity or a function found.

    Attributes
    ----------
    name, quantity, digest
        Name of the robot or function, its compiled quantity (``"function"`` for a function), and the digest of the
        model.
    states, corners, seed
        Number of random states and of corner states, and the seed.
    outputs
        One `OutputSweep` per output word.
    """

    name: str
    quantity: str
    digest: str
    states: int
    corners: int
    seed: int
    outputs: tuple[OutputSweep, ...]

    @property
    def exceeding(self) -> list[OutputSweep]:
        """Outputs whose error exceeds the proved bound: none, unless there is a bug."""
        return [output for output in self.outputs if output.exceeds]

    @property
    def refuted_ranges(self) -> list[OutputSweep]:
        """Outputs that leave words which the certificate says they cannot leave: none, unless there is a bug."""
        return [output for output in self.outputs if output.range_refuted]

    def to_plain(self) -> dict[str, Any]:
        """Return plain data."""
        plain = {name: value for name, value in vars(self).items() if name != "outputs"}
        return {**plain, "outputs": [output.to_plain() for output in self.outputs]}

    def to_csv(self) -> str:
        """Return one row per output."""
        text = io.StringIO()
        columns = ("output", "unit", "bits", "lsb", "proved", "found", "rms", "saturated", "saturation", "overshoot")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("robot", "quantity", *columns))
        for output in self.outputs:
            writer.writerow((self.name, self.quantity, *(getattr(output, column) for column in columns)))
        return text.getvalue()


def sweep_quantity(
    model: Model, states: int = 100_000, seed: int = 0, *, evaluator: str = "words", progress: Progress | None = None
) -> QuantitySweep:
    """Compare a compiled quantity or function with its true values, on random words and on words at the ends of ranges.

    Parameters
    ----------
    model
        A robot compiled for a quantity other than ``"torque"``, or a compiled function or samples.
    states
        Number of random states; one corner state is added for every eight.
    seed
        The same seed gives the same states.
    evaluator
        Which evaluator to run; all give the same words.
    progress
        Receives a call for every finished part.

    Returns
    -------
    QuantitySweep
        The errors found per output, beside the proved bound.

    Raises
    ------
    BddTorqueError
        An argument is wrong, the model has torques, or it is a function whose true values its file does not hold.
    """
    if model.provenance.is_torque:
        raise BddTorqueError(f"'{model.name:.60}' is compiled for torques: use bt.sweep(model)")
    at_least(states, 1, "states")
    at_least(seed, 0, "seed")
    corners = -(-states // CORNER_SHARE)
    tally = _Tally(model)
    run, told = model.evaluator(evaluator), progress or NoProgress()
    parts = list(_parts(model, states, corners, seed))
    with step(told, f"sweeping {model.name}", len(parts)):
        for words in parts:
            arrays = model.formats.grouped(words)
            if model.provenance.robot is None:
                found = run.words(*(column for (column,) in arrays.values()))[:, None]
            else:
                found = run.output_words(**{name: np.stack(columns, axis=1) for name, columns in arrays.items()})
            tally.add(words, found)
            told.advance("states", 1.0, False)
    quantity = "function" if model.provenance.robot is None else model.quantity
    return QuantitySweep(model.name, quantity, model.digest, states, corners, seed, tally.outputs())


def _parts(model: Model, states: int, corners: int, seed: int) -> Iterator[dict[str, Words]]:
    """Give words by name, batch after batch: random ones, then corners."""
    rng = np.random.default_rng(seed)
    for count, at_ends in ((states, False), (corners, True)):
        for first in range(0, count, BATCH):
            size = min(BATCH, count - first)
            yield {
                name: rng.choice([word.lowest, word.highest], size)
                if at_ends
                else rng.integers(word.lowest, word.highest, size, endpoint=True)
                for name, word in model.formats.words.items()
            }


class _Tally:
    """Errors of all outputs so far."""

    def __init__(self, model: Model) -> None:
        self.model, self.formats = model, list(model.formats.results.values())
        self.largest, self.squares = np.full(len(self.formats), -1.0), np.zeros(len(self.formats))
        self.saturated, self.count = np.zeros(len(self.formats), dtype=np.int64), 0
        self.overshoot = np.zeros(len(self.formats))
        self.worst: list[dict[str, int]] = [{} for _ in self.formats]
        self.farthest: list[dict[str, int]] = [{} for _ in self.formats]

    def add(self, words: Mapping[str, Words], found: Words) -> None:
        """Count the errors of output words (N, outputs)."""
        true = self.model.true_units(words)
        if true is None:
            raise BddTorqueError(
                f"'{self.model.name:.60}' was compiled from the floats of a function that its file does not hold: use "
                "model.error_of(function)"
            )
        self.count += len(true)
        for k, word in enumerate(self.formats):
            units = true[:, k]
            held = np.clip(units, word.lowest, word.highest)
            self.saturated[k] += int(np.count_nonzero((units < word.lowest - 0.5) | (units > word.highest + 0.5)))
            errors = np.abs(found[:, k] - held)
            self.squares[k] += float(errors @ errors)
            at = int(errors.argmax())
            if errors[at] > self.largest[k]:
                self.largest[k] = errors[at]
                self.worst[k] = {name: int(column[at]) for name, column in words.items()}
            beyond = np.maximum(word.lowest - units, units - word.highest)
            at = int(beyond.argmax())
            if beyond[at] > self.overshoot[k]:
                self.overshoot[k] = beyond[at]
                self.farthest[k] = {name: int(column[at]) for name, column in words.items()}

    def outputs(self) -> tuple[OutputSweep, ...]:
        """Return what was found of each output."""
        made = []
        for k, (proved, word) in enumerate(zip(self.model.certificate.outputs, self.formats, strict=True)):
            made.append(
                OutputSweep(
                    output=proved.name,
                    unit=proved.unit,
                    bits=word.bits,
                    lsb=word.lsb,
                    proved=proved.bound,
                    found=float(self.largest[k]),
                    rms=float(np.sqrt(self.squares[k] / self.count)),
                    saturated=int(self.saturated[k]),
                    worst=self.model.formats.grouped(self.worst[k]),
                    saturation=proved.saturation,
                    overshoot=float(self.overshoot[k]),
                    overshoot_words=self.model.formats.grouped(self.farthest[k]) if self.farthest[k] else {},
                )
            )
        return tuple(made)
