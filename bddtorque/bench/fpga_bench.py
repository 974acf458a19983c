"""Measure a model on FPGAs: its circuit by Yosys and nextpnr, beside a straightforward one.

The straightforward circuit computes the same outputs within the same bound as one would write them down: one length for
all words, the shortest that keeps the bound (chip ``uniform``), a multiplication for every product and every constant
factor, whole tables, and every operation as soon as its operands are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.system import scratch_folder
from bddtorque.bench.chip_bench import planned_anew
from bddtorque.export.fpga_tools import Device, build, device_named, missing_tools
from bddtorque.export.verilog_exporter import VerilogFiles, verilog_files
from bddtorque.model.applicability import applies
from bddtorque.model.model import Model

AIMS = {"ice40": 130.0, "ecp5": 150.0, "ecp5-25": 150.0}
"""Clock frequencies, MHz, that the router aims at: a little more than it reaches."""
CONTROL_PINS = 5


@dataclass(frozen=True)
class FpgaFigures:
    """Cells, clock and latency of a circuit on a device."""

    # fpga, part: the device
    fpga: str
    part: str
    way: str  # "bddtorque", or "straightforward"
    # luts, flip_flops, memories, multipliers: cells of the device; on the iCE40 `luts` are logic cells
    luts: float = 0
    flip_flops: float = 0
    memories: float = 0
    multipliers: float = 0
    mhz: float | None = None  # the highest clock frequency after routing; None where nothing is routed
    # latency, interval: clocks from a state to its words, and from one state to the next
    latency: int = 0
    interval: int = 1
    states_per_second: float | None = None  # at that frequency
    bound: float | None = None  # the largest proved error, in units
    serial: bool = False  # whether it is measured behind `NAME_serial.v`, since the package has too few pins
    problem: str = ""  # why there are no figures; else empty

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)


def bench_fpga(
    model: Model, fpgas: Sequence[str], share: int | None = None, straightforward: bool = True, seed: int = 0
) -> Iterator[FpgaFigures]:
    """Yield the figures of a model on each device, and of the straightforward circuit if it can be planned anew.

    Raise `BddTorqueError` if a device is unknown, or the tools of all of them are missing.
    """
    devices = [device_named(name) for name in fpgas]
    problems = [missing_tools(device) for device in devices]
    if all(problems):
        raise BddTorqueError("; ".join(dict.fromkeys(problems)))
    plain: Model | None = None
    for device, problem in zip(devices, problems, strict=True):
        if problem:
            yield FpgaFigures(device.name, device.part, "bddtorque", problem=problem)
            continue
        dsp = None if model.plan.made_of_tables else device.multiplies
        shared = share if device.multiplies else None
        yield _measured(
            model, verilog_files(model, name="arm", dsp=dsp, share=shared, vectors=1), device, "bddtorque", seed
        )
        if straightforward and applies(model, "planning anew"):
            plain = plain or straightforward_model(model)
            files = verilog_files(plain, name="arm", vectors=1, plain=True)
            yield _measured(plain, files, device, "straightforward", seed)


def straightforward_model(model: Model) -> Model:
    """Return the same quantity in words of one length."""
    return planned_anew(model, chip="uniform")


def _measured(model: Model, made: VerilogFiles, device: Device, way: str, seed: int) -> FpgaFigures:
    """Build a circuit and return its figures, or why there are none."""
    pins = made.ports.input_bits + made.ports.output_bits + CONTROL_PINS
    serial = bool(device.pins) and pins > device.pins
    top = f"{made.facts.name}_serial" if serial else made.facts.name
    sources = [*made.facts.sources_for(device.family), *([f"{top}.v"] if serial else [])]
    with scratch_folder() as folder:
        for name, text in made.files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="ascii")
        try:
            built = build(folder, sources, top, device, mhz=AIMS.get(device.name, 100.0), seed=seed)
        except BddTorqueError as problem:
            return FpgaFigures(device.name, device.part, way, problem=str(problem))
    rate = None if built.mhz is None else built.mhz * 1e6 / made.facts.interval
    return FpgaFigures(
        device.name, device.part, way, built.luts, built.flip_flops, built.memories, built.multipliers, built.mhz,
        made.facts.latency, made.facts.interval, rate, max(model.certificate.bounds), serial,
    )  # fmt: skip
