"""`Sweep`: what a sweep found, beside what is proved; as plain data and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bddtorque.proof.proved_bound import Saturation
from bddtorque.sweeps.states import Floats
from bddtorque.sweeps.term_errors import TermError

MAX_LISTED = 8
"""Word lengths that are listed one by one; of more only the smallest and the largest are said."""
PERCENTILES = (50.0, 90.0, 99.0, 99.9)
ERRORS = ("tables", "inputs", "total")
"""The errors of `measuring`."""


def float_error(bits: int) -> float:
    """Return what a true value in float64 may be off, in units of a word of so many bits.

    Float64 errs by a few parts in 2^52 of the numbers that it adds up; code for one model is taken only where its
    proved error is no larger than this.
    """
    return 2.0 ** (bits - 40)


def refutes_range(saturation: Saturation, overshoot: float, proved: float, bits: int) -> bool:
    """Return whether a true value so many units beyond the end words refutes what the certificate says of them.

    Where words cannot saturate, those before clamping are in range, and true values no farther off than is proved.
    """
    return saturation == "cannot" and overshoot > proved + float_error(bits)


@dataclass(frozen=True)
class ErrorFigures:
    """Statistics of |error| over the random states or along the trajectory, in units of the last bit.

    Attributes
    ----------
    largest, rms
        The largest and the root mean square error.
    percentiles
        The percentiles `PERCENTILES`, each at most 1.1 % too large.
    """

    largest: float
    rms: float
    percentiles: tuple[float, ...]

    def to_plain(self) -> dict[str, float]:
        """Return numbers by name."""
        named = {f"p{share:g}": value for share, value in zip(PERCENTILES, self.percentiles, strict=True)}
        return {"max": self.largest, "rms": self.rms, **named}


@dataclass(frozen=True)
class OutputSweep:
    """Errors of one output word in a sweep.

    Attributes
    ----------
    output, unit, bits, lsb
        Its label (of a torque, the joint), its unit, its word length, and the value of one unit of the last bit.
    proved
        The bound of the certificate, in units.
    tables, inputs, total
        The errors of the tables, of the input words, and of both, in units.
    corner_largest
        Largest error of the tables on corner states, in units.
    search_largest
        Largest error of the tables that the search found, in units; 0 if there was no search.
    saturated
        Number of states that need a value beyond the words.
    saturation
        What the certificate says about that: ``"cannot"``, ``"can"`` or ``"not excluded"``.
    overshoot
        How far a true value lies beyond the end words at most, in units; 0 if none does.
    overshoot_words
        Words of every input array of that state; empty if there is none.
    worst
        Words of every input array where the error of the tables was largest.
    picture
        Histogram of the signed error of the tables, in even bins from -reach to reach.
    """

    output: str
    unit: str
    bits: int
    lsb: float
    proved: float
    tables: ErrorFigures
    inputs: ErrorFigures
    total: ErrorFigures
    corner_largest: float
    saturated: int
    worst: dict[str, list[int]]
    picture: tuple[int, ...]
    saturation: Saturation
    overshoot: float
    overshoot_words: dict[str, list[int]]
    search_largest: float = 0.0

    @property
    def found(self) -> float:
        """Largest error of the tables on any state, in units."""
        return max(self.tables.largest, self.corner_largest, self.search_largest)

    @property
    def reach(self) -> float:
        """Reach of the histogram, in units: to the proved bound, or a unit where that is 0."""
        return self.proved or 1.0

    @property
    def exceeds(self) -> bool:
        """Tell if more was found than is proved, which must never happen.

        True values in floats are themselves a little off: `float_error` is allowed for that.
        """
        return self.found > self.proved + float_error(self.bits)

    @property
    def range_refuted(self) -> bool:
        """Tell if a true value lies beyond the words, though the certificate says it cannot: never, unless a bug.

        Errors do not show that, being those of clamped values. Within the bound it would round to an end word.
        """
        return refutes_range(self.saturation, self.overshoot, self.proved, self.bits)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data: every error in units and in `unit`."""

        def both(value: float) -> dict[str, float]:
            return {"units": value, "si": value * self.lsb}

        errors = {}
        for name in ERRORS:
            units = getattr(self, name).to_plain()
            errors[name] = {"units": units, "si": {key: value * self.lsb for key, value in units.items()}}
        return {
            "output": self.output,
            "unit": self.unit,
            "bits": self.bits,
            "lsb": self.lsb,
            "proved": both(self.proved),
            "found": both(self.found),
            "exceeds": self.exceeds,
            "corner_max": both(self.corner_largest),
            "search_max": both(self.search_largest),
            "saturated": self.saturated,
            "saturation": self.saturation,
            "overshoot": both(self.overshoot),
            "range_refuted": self.range_refuted,
            "worst_words": self.worst,
            "overshoot_words": self.overshoot_words or None,
            **errors,
        }


@dataclass(frozen=True)
class ModelCost:
    """Size and speed of a model: bytes of its file and its tables, nodes of its diagrams, time of a state.

    Attributes
    ----------
    form
        The form in which the evaluator `words` ran it.
    ns_per_state, float_ns_per_state
        Median processor time of a state in a batch, words to words, on one core; and that of the true value in float64,
        run in turn with it.
    """

    file_bytes: int
    table_bytes: int
    nodes: int
    form: str
    ns_per_state: float
    float_ns_per_state: float

    @property
    def ratio(self) -> float:
        """Time of a state as a share of the true value's in float64: what may be compared between machines and runs."""
        return self.ns_per_state / self.float_ns_per_state

    def to_plain(self) -> dict[str, Any]:
        """Return numbers by name."""
        return {**vars(self), "ratio": self.ratio}


@dataclass(frozen=True)
class Traces:
    """Outputs along a trajectory, for pictures: `time` (M,), true values and errors of the tables (M, m), in units.

    `timed` says whether the time is in s, else it is the number of the state.
    """

    time: Floats
    timed: bool
    true: Floats
    errors: Floats


@dataclass(frozen=True)
class Sweep:
    """Errors of one model in a sweep.

    Attributes
    ----------
    model, quantity, digest
        Name of the robot or function, its compiled quantity (``"function"`` for a function), and the digest.
    states, corners, searched
        Number of random states (or states of the trajectory), of corner states, and of states tried by the search.
    seed
        The seed of the random numbers.
    outputs
        One `OutputSweep` per output word; of torques, per joint from base to tip.
    along
        The name of the trajectory, or ``""`` for random states.
    outside
        Number of values of the trajectory that were out of range.
    name
        The name of this model in a comparison with others.
    cost, terms, traces
        Size and speed, errors by term, outputs along the trajectory; if they were asked for.
    """

    model: str
    quantity: str
    digest: str
    states: int
    corners: int
    seed: int
    outputs: tuple[OutputSweep, ...]
    name: str
    searched: int = 0
    along: str = ""
    outside: int = 0
    terms: tuple[TermError, ...] = ()
    cost: ModelCost | None = field(default=None, compare=False)  # times differ from run to run
    traces: Traces | None = field(default=None, compare=False)

    @property
    def exceeding(self) -> tuple[OutputSweep, ...]:
        """The outputs whose error exceeds the proved bound: none, unless there is a bug."""
        return tuple(output for output in self.outputs if output.exceeds)

    @property
    def refuted_ranges(self) -> tuple[OutputSweep, ...]:
        """The outputs that leave words which the certificate says they cannot leave: none, unless there is a bug."""
        return tuple(output for output in self.outputs if output.range_refuted)

    @property
    def bits(self) -> str:
        """Word lengths of the outputs, as people write them: ``12``, ``12,10`` or ``8 to 12``."""
        bits = [output.bits for output in self.outputs]
        if len(set(bits)) > 1 and len(bits) > MAX_LISTED:
            return f"{min(bits)} to {max(bits)}"
        return str(bits[0]) if len(set(bits)) == 1 else ",".join(map(str, bits))

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "model": self.model,
            "quantity": self.quantity,
            "name": self.name,
            "digest": self.digest,
            "bits": [output.bits for output in self.outputs],
            "trajectory": self.along or None,
            "states": self.states,
            "corner_states": self.corners,
            "searched_states": self.searched,
            "out_of_range": self.outside,
            "seed": self.seed,
            "exceeds": bool(self.exceeding),
            "range_refuted": bool(self.refuted_ranges),
            "cost": None if self.cost is None else self.cost.to_plain(),
            "outputs": [output.to_plain() for output in self.outputs],
            "terms": [term.to_plain() for term in self.terms],
        }


def compared_output(sweeps: Sequence[Sweep]) -> int | None:
    """Return the output by which word lengths of one model are compared: that of the largest proved error in its unit.

    None where these are not sweeps of one model at different word lengths.
    """
    outputs = {tuple(output.output for output in sweep.outputs) for sweep in sweeps}
    lengths = {sweep.bits for sweep in sweeps}
    if len({sweep.name for sweep in sweeps}) > 1 or len(outputs) > 1 or len(lengths) < len(sweeps):
        return None
    columns = zip(*(sweep.outputs for sweep in sweeps), strict=True)
    errors = [max(output.proved * output.lsb for output in column) for column in columns]
    return errors.index(max(errors))


NAMES = ("max", "rms", *(f"p{share:g}" for share in PERCENTILES))
"""Columns of figures in CSV, each in units of the last bit and in those of the output."""


def to_csv(sweeps: Iterable[Sweep]) -> str:
    """Return sweeps as CSV: a row for each model, output and kind of error, or term; what is proved beside the tables.

    The kinds are ``tables``, ``inputs``, ``total``, and ``term <name>``.
    """
    text = io.StringIO()
    columns = ["model", "quantity", "output", "bits", "error", "states", "unit", "lsb"]
    columns += [f"{name}_units" for name in NAMES] + [f"{name}_si" for name in NAMES]
    columns += ["corner_max_units", "search_max_units", "proved_units", "proved_si"]
    columns += ["saturation", "saturated", "overshoot_units", "overshoot_si"]
    columns += ["name", "trajectory", "file_bytes", "ns_per_state", "ratio_to_float"]
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for sweep in sweeps:
        for k, output in enumerate(sweep.outputs):
            shared = _shared(sweep, output)
            for kind in ERRORS:
                row = _in_both_units(getattr(output, kind).to_plain(), output.lsb)
                if kind == "tables":
                    row |= {"corner_max_units": output.corner_largest, "search_max_units": output.search_largest}
                    row |= {"saturation": output.saturation, "saturated": output.saturated}
                    row |= _in_both_units({"proved": output.proved, "overshoot": output.overshoot}, output.lsb)
                writer.writerow(shared | {"error": kind} | row)
            for term in sweep.terms:
                if term.torque == k:
                    row = _in_both_units({"max": term.largest, "rms": term.rms}, output.lsb)
                    writer.writerow(shared | {"error": f"term {term.name}"} | row)
    return text.getvalue()


def _shared(sweep: Sweep, output: OutputSweep) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(output, name) for name in ("output", "bits", "unit", "lsb")}
    row |= {name: getattr(sweep, name) for name in ("model", "quantity", "states", "name")} | {
        "trajectory": sweep.along
    }
    if sweep.cost is not None:
        row |= {name: getattr(sweep.cost, name) for name in ("file_bytes", "ns_per_state")}
        row["ratio_to_float"] = sweep.cost.ratio
    return row


def _in_both_units(figures: dict[str, float], lsb: float) -> dict[str, Any]:
    units = {f"{name}_units": value for name, value in figures.items()}
    return units | {f"{name}_si": value * lsb for name, value in figures.items()}
