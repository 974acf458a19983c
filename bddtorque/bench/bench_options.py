"""Options of measurements: one record for this machine, for chips and for FPGAs. The command line is made of them."""

from __future__ import annotations

from dataclasses import dataclass

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.record import OptionRecord, option

TILE = 64
"""States that the vector peer takes at once: what they need lies in the fastest cache."""


@dataclass(frozen=True, kw_only=True)
class BenchOptions(OptionRecord):
    """Options of every measurement."""

    seed: int = option(0, "N", "The same seed gives the same states.")


@dataclass(frozen=True, kw_only=True)
class MachineBench(BenchOptions):
    """A measurement on this machine."""

    asked_by = "neither --chip nor --fpga"

    states: int = option(25_600, "N", "Random states of one round, a multiple of 64; default: 25600.")
    rounds: int = option(15, "N", "Rounds; each runs every contender once; default: 15.")
    latency: bool = option(False, None, "Also time single calls: worst, 99.9 %, and with empty caches.")

    def __post_init__(self) -> None:
        if self.states < TILE or self.states % TILE:
            raise BddTorqueError(f"states must be a multiple of {TILE}, got {self.states}", option="states")
        if self.rounds < 1:
            raise BddTorqueError(f"rounds must be at least 1, got {self.rounds}", option="rounds")


@dataclass(frozen=True, kw_only=True)
class ChipBench(BenchOptions):
    """A measurement on emulated chips."""

    asked_by = "--chip NAMES"

    io: int = option(32, "BITS", "On chips: pass words as int16_t or int32_t; default: 32.")


@dataclass(frozen=True, kw_only=True)
class FpgaBench(BenchOptions):
    """A measurement on FPGAs."""

    asked_by = "--fpga NAMES"

    share: int | None = option(None, "N", "On FPGAs: let products take turns on N multipliers.")
