"""Measure a model on emulated chips, beside other ways to compute the same outputs there.

F is the same in float32 with a sine table (`float_baseline`). X is fixed point that is tuned, not proved: a plan in
integers whose words are made coarser as long as the error that is found on random states stays below a unit. Both take
the same words and make the same checks. Each is built at -Os and at -O2, and the faster one is shown.

On a chip without a multiplier look-ups may win: there, tables and integers are both measured.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.system import scratch_folder
from bddtorque.bench.emulation import measure, missing_tools
from bddtorque.bench.float_baseline import float_files
from bddtorque.bench.kernel_loops import by_word, random_states
from bddtorque.compiler.model_building import finish_model
from bddtorque.compiler.origin import true_graph
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.export.c_call import CCall, CSignature
from bddtorque.export.c_exporter import c_files
from bddtorque.export.c_source import ROM
from bddtorque.export.folder import MANIFEST
from bddtorque.model.applicability import applies
from bddtorque.model.model import Model
from bddtorque.plan.plan import Plan
from bddtorque.spec.chips import Chip, chip_named

STATES = 200
"""Random states that cycles are counted on."""
LEVELS = ("-Os", "-O2")
IO = 32
"""Bits of the words that a call takes and gives, unless asked for."""
TRIED = 100_000
"""States that the error of X is looked for on."""
COARSER = (1.5, 2.5, 4.0)
"""Proved errors, in units, that X is tried with."""
BLOCK_BITS = (8, 10, 12, 14)
"""Input bits of a table, at most, that tables are tried with."""
MAX_ROWS_PER_BYTE = 16
"""Rows that tables may have for each byte of flash: lower forms take less, but hardly that much."""
COMPARED = ("tables", "integer")
ANEW: dict[str, Any] = {"target": "integer", "source": "auto", "products": "auto", "precision": None, "chip": None}
"""Choices of a specification by which a robot is planned anew, unless others are named."""
States = Mapping[str, npt.NDArray[np.int64]]


@dataclass(frozen=True)
class ChipFigures:
    """Cycles and bytes of one way to compute the outputs on a chip."""

    # chip, way: which; the way is "bddtorque", "X" or "F", or "tables" or "integer" where that is
    # measured beside the model
    chip: str
    way: str
    flags: str = ""  # of the compiler
    # mean, lowest, highest: cycles of a call, less those of an empty function
    mean: float = 0.0
    lowest: int = 0
    highest: int = 0
    # flash, ram, stack: bytes that it adds to a program
    flash: int = 0
    ram: int = 0
    stack: int = 0
    error: float = 0.0  # the largest found, in units of the last bit
    bound: float | None = None  # the largest proved; None if nothing is
    problem: str = ""  # why there are no figures; else empty
    options: str = ""  # of `bddtorque compile`, that make what was measured beside the model

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)


def bench_chips(model: Model, chips: Sequence[str], count: int, seed: int, io: int = IO) -> Iterator[ChipFigures]:
    """Yield the figures of a model on each chip, and of the baselines, on `count` random states.

    A function, which cannot be compiled anew for another target, stands beside F alone, and beside nothing if it is
    known by its values alone. Raise `BddTorqueError` if a chip is unknown, or the tools of all of them are missing.
    """
    if not chips:
        raise BddTorqueError("bench needs at least one chip")
    profiles = [chip_named(name) for name in chips]
    problems = [missing_tools(profile) for profile in profiles]
    if all(problems):
        raise BddTorqueError("; ".join(dict.fromkeys(problems)))
    states = random_states(model, count, seed)
    truth, baseline = true_units(model, states), true_graph(model, laws_alone=False)
    for profile, problem in zip(profiles, problems, strict=True):
        if problem:
            yield ChipFigures(profile.name, "bddtorque", problem=problem)
            continue
        yield _own(model, profile, states, truth, io)
        if applies(model, "planning anew"):
            if not profile.multiplier:
                yield _other_target(model, profile, states, truth, io)
            yield _tuned(model, profile.name, states, truth, io)
        if baseline is None:
            continue
        signature = CSignature.of(model, io, profile.register)
        files = float_files(model, baseline, signature, ROM)
        files[MANIFEST] = json.dumps({"call": signature.call("baseline").to_plain()})
        yield _measured("F", profile.name, files, states, truth)


def compare_targets(model: Model, chip: Chip) -> str:
    """Measure a model on a chip without a multiplier, and tables beside integers, and return the better and why.

    Raise `BddTorqueError` if the tools of the chip are missing.
    """
    if problem := missing_tools(chip):
        raise BddTorqueError(problem)
    states = random_states(model, STATES, 0)
    truth = true_units(model, states)
    own, other = _own(model, chip, states, truth, IO), _other_target(model, chip, states, truth, IO)
    return _better(model.plan.target, own, other)


def recommendations(measured: Iterable[tuple[Model, ChipFigures]]) -> dict[str, str]:
    """Return the target to compile for and why, by chip: without a multiplier, or where floats are faster."""
    advice: dict[str, str] = {}
    own: dict[str, tuple[Plan, ChipFigures]] = {}
    proved: dict[str, list[float]] = {}
    for model, figures in measured:
        chip = figures.chip
        if figures.way == "bddtorque":
            own[chip] = model.plan, figures
        if figures.way in ("bddtorque", *COMPARED) and not figures.problem:
            proved.setdefault(chip, []).append(figures.mean)
        if chip not in own:
            continue
        plan, first = own[chip]
        if figures.way in COMPARED:
            advice[chip] = _better(plan.target, first, figures)
        elif figures.way == "F" and not plan.in_floats and not figures.problem:
            best = min(proved.get(chip, ()), default=0.0)
            if figures.mean < best:
                advice[chip] = f"use --target float: {figures.mean:,.0f} cycles in float32 against {best:,.0f}"
    return advice


def _better(target: str, own: ChipFigures, other: ChipFigures) -> str:
    """Return the better of two targets, and why."""
    if own.problem and other.problem:
        return "neither tables nor integers can be had: fewer bits would work"
    if other.problem or (own.mean <= other.mean and not own.problem):
        beside = other.problem or f"{other.mean:,.0f} cycles and {other.flash:,} bytes by {other.options}"
        return f"keep --target {target}: {own.mean:,.0f} cycles and {own.flash:,} bytes ({other.way}: {beside})"
    beside = own.problem or f"{own.mean:,.0f} cycles and {own.flash:,} bytes"
    return f"use {other.options}: {other.mean:,.0f} cycles and {other.flash:,} bytes ({target}: {beside})"


def true_units(model: Model, states: States) -> npt.NDArray[np.float64]:
    """Return the true outputs in units of their words, clamped to these; the words where nobody knows true outputs."""
    units = model.true_units(by_word(model, states))
    if units is None:
        return model.evaluator().output_words(**states).astype(np.float64)
    outputs = model.formats.results.values()
    return np.clip(units, [word.lowest for word in outputs], [word.highest for word in outputs])


def _measured(
    way: str, chip: str, files: Mapping[str, str], states: States, truth: Any, expected: Any = None
) -> ChipFigures:
    """Build files at each level and return the figures of the fastest; words must be those `expected`."""
    found: list[ChipFigures] = []
    problem = ""
    with scratch_folder() as folder:
        for name, text in files.items():
            (folder / name).write_text(text, encoding="ascii")
        CCall.read(folder)
        for level in LEVELS:
            try:
                rows = np.concatenate([each.reshape(len(each), -1) for each in states.values()], axis=1)
                run = measure(folder, chip, rows, (level,))
            except BddTorqueError as reason:
                problem = str(reason).replace(str(folder), way)
                continue
            if expected is not None and not np.array_equal(run.words, expected):
                raise BddTorqueError(f"chip '{chip}', {level}: other words than the model's")
            error = float(np.abs(run.words - truth).max())
            net = run.net
            cycles = float(net.mean()), int(net.min()), int(net.max())
            found.append(ChipFigures(chip, way, level, *cycles, run.flash, run.ram, run.stack, error))
    return _fastest(found) or ChipFigures(chip, way, problem=problem)


def _own(model: Model, chip: Chip, states: States, truth: Any, io: int) -> ChipFigures:
    """Return the figures of a model as it is."""
    try:
        files = c_files(model, chip=chip.name, io=io, vectors=1).files
    except BddTorqueError as problem:
        return ChipFigures(chip.name, "bddtorque", problem=str(problem))
    figures = _measured("bddtorque", chip.name, files, states, truth, model.evaluator().output_words(**states))
    return replace(figures, bound=max(model.certificate.bounds))


def _other_target(model: Model, chip: Chip, states: States, truth: Any, io: int) -> ChipFigures:
    """Return the figures of integers beside tables, or of the fastest tables beside integers, proved alike."""
    way = "tables"
    trials: list[dict[str, Any]] = [{"block_bits": bits} for bits in BLOCK_BITS]
    if model.plan.made_of_tables:
        way, trials = "integer", [{"chip": chip.name}]
    found, problem = [], ""
    for options in trials:
        try:
            other = planned_anew(model, chip.flash * MAX_ROWS_PER_BYTE, target=way, **options)
            files = c_files(other, chip=chip.name, io=io, vectors=1, flash=chip.flash).files
        except BddTorqueError as reason:
            problem = problem or str(reason)
            continue
        figures = _measured(way, chip.name, files, states, truth, other.evaluator().output_words(**states))
        asked = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in {"target": way, **options}.items())
        found.append(replace(figures, bound=max(other.certificate.bounds), options=asked))
    return _fastest(found) or ChipFigures(chip.name, way, problem=problem)


def _fastest(found: Sequence[ChipFigures]) -> ChipFigures | None:
    """Return the figures of the fewest cycles, or of a problem if there are no others; None of nothing."""
    return min(found, key=lambda figures: (bool(figures.problem), figures.mean), default=None)


def planned_anew(model: Model, most_rows: float = math.inf, **choices: Any) -> Model:
    """Return the robot of a model compiled by other choices, or refuse one whose tables have too many rows."""
    draft = draft_of_robot(replace(model.spec, **{**ANEW, **choices}), model.robot)
    rows = sum(1 << sum(block.input_widths) for block in draft.plan.blocks)
    if rows > most_rows:
        raise BddTorqueError(f"{rows:,} rows of tables do not fit the chip")
    return finish_model(draft)


def _tuned(model: Model, chip: str, states: States, truth: Any, io: int) -> ChipFigures:
    """Return the figures of X: the coarsest words whose error on many random states stays below a unit."""
    many = random_states(model, TRIED, seed=1)
    exact = true_units(model, many)
    best: tuple[float, Model] | None = None
    for accuracy in (1.0, *COARSER):
        try:
            coarse = planned_anew(model, chip=chip, accuracy=accuracy)
        except BddTorqueError as problem:
            if best is None:
                return ChipFigures(chip, "X", problem=str(problem))
            break
        error = float(np.abs(coarse.evaluator().output_words(**many) - exact).max())
        if error >= 1.0 and best is not None:
            break
        best = error, coarse
    assert best is not None
    error, coarse = best
    figures = _measured("X", chip, c_files(coarse, chip=chip, io=io, vectors=1).files, states, truth)
    return replace(figures, error=error)
