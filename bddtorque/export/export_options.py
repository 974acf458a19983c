"""Options of exports: one record per kind of export. The command line is made from their fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bddtorque.base.errors import BddTorqueError, not_among, refusals_about
from bddtorque.base.plain import choice
from bddtorque.base.record import OptionRecord, option

IO_BITS = (16, 32)
"""Bits that words may be passed in."""
MAX_VECTORS = 100_000
MAX_CORES = 64
PACKAGES = ("arduino", "cmake", "platformio", "zephyr")


@dataclass(frozen=True, kw_only=True)
class ExportOptions(OptionRecord):
    """Options that every export has."""

    name: str | None = option(None, "NAME", "Name of functions, modules and files; default: the robot's.")
    vectors: int = option(1000, "N", "States of the self-test; by default 256 for C, 1,000 for Verilog.")

    def __post_init__(self) -> None:
        if type(self.vectors) is not int or not 1 <= self.vectors <= MAX_VECTORS:
            raise BddTorqueError(
                f"vectors must be between 1 and {MAX_VECTORS:,}, got {self.vectors!r:.40}", option="vectors"
            )


@dataclass(frozen=True, kw_only=True)
class COptions(ExportOptions):
    """Options of C; see `export_c`."""

    asked_by = "--c DIR"

    vectors: int = option(256, "N", "States of the self-test; by default 256 for C, 1,000 for Verilog.")
    term: str | None = option(
        None, "NAME", "Only this term (as `bddtorque terms` names it): words to its word. For --c and --one-bit."
    )
    form: str = option(
        "chosen",
        "NAME",
        "Form of the tables: chosen (the least cost within --flash), dense, folded, runs, edge_valued or bits; ifs: "
        "code in their place, a branch per node.",
    )
    flash: int | str | None = option(
        None, "SIZE", "Flash that tables and code may take (16 kB, ...); default: as compiled."
    )
    floats: bool = option(False, None, "Add a function that takes and returns physical units: rad, N·m, ...")
    chip: str | None = option(
        None, "NAME", "Write what is cheapest on this chip: cortex-m0, cortex-m4, rv32imc, avr, ... (docs)."
    )
    io: int = option(32, "BITS", "Pass words as int16_t or int32_t: 16 or 32.")
    package: str | None = option(None, "NAME", "Write a library instead: arduino, platformio, cmake or zephyr.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.io not in IO_BITS:
            raise BddTorqueError(
                f"io must be 16 or 32, the bits that words are passed in, got {self.io!r:.40}", option="io"
            )
        if self.package is not None:
            with refusals_about("package"):
                choice(self.package, PACKAGES, "package")
        for name in ("package", "floats"):
            if getattr(self, name) and self.term is not None:
                raise BddTorqueError(f"{name} is only valid for a whole model, not for one term", option=name)


@dataclass(frozen=True, kw_only=True)
class VerilogOptions(ExportOptions):
    """Options of a pipelined circuit; see `export_verilog`."""

    asked_by = "--verilog DIR"

    dsp: bool | None = option(
        None, "yes|no", "Verilog: multiply on multipliers of the chip, or by adders; tables as planned."
    )
    share: int | None = option(
        None, "N", "Verilog: let products take turns on N multipliers; a state takes more clocks."
    )
    bits_network: bool = option(False, None, "Verilog: diagrams as multiplexers, one per node, instead of ROMs.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.share is not None and (type(self.share) is not int or self.share < 1):
            raise BddTorqueError(
                f"share must be a number of multipliers, at least 1, got {self.share!r:.40}", option="share"
            )
        if self.share is not None and self.dsp is False:
            raise BddTorqueError(
                "share is only valid where products use multipliers: leave out --dsp no", option="share"
            )


@dataclass(frozen=True, kw_only=True)
class OneBitOptions(ExportOptions):
    """Options of one-bit processors; see `export_one_bit`."""

    asked_by = "--verilog DIR --one-bit"

    term: str | None = None
    processors: int = option(1, "P", "One-bit processors that share a state, 1 to 64; default: 1.")
    spread: Literal["bits", "terms"] = option(
        "bits", "WHAT", "What is spread over one-bit processors: bits (the default) or terms."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if type(self.processors) is not int or not 1 <= self.processors <= MAX_CORES:
            raise BddTorqueError(
                f"processors must be between 1 and {MAX_CORES}, got {self.processors!r:.40}", option="processors"
            )
        if self.spread not in ("terms", "bits"):
            raise BddTorqueError(not_among("spread", self.spread, ("terms", "bits")), option="spread")
