"""Small processors that generated C is measured on: how each is compiled for, what it holds, how its cycles are known.

AVR cycles are simavr's, which executes every instruction with the cycles of the data sheet. The others run in unicorn,
which knows no time: their instructions are exact, and cycles follow from them by the model named here
(`bench.cycle_models`). Flash and RAM are those of a common large chip with that core.
"""

from __future__ import annotations

from dataclasses import dataclass

from bddtorque.base.errors import BddTorqueError, not_among


@dataclass(frozen=True)
class Chip:
    """A processor.

    Attributes
    ----------
    name : what it is called here, and by simavr
    tools : what the names of its compiler and its binary tools begin with
    flags : of the compiler
    model : of its cycles: ``"avr"``, or a model of `bench.cycle_models`
    flash, ram : bytes
    packages : Debian packages that bring its compiler and its C library
    """

    name: str
    tools: str
    flags: tuple[str, ...]
    model: str
    flash: int
    ram: int
    packages: str


AVR = "gcc-avr avr-libc"
ARM = "gcc-arm-none-eabi libnewlib-arm-none-eabi"
RISCV = "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf"
_AVR = ("-std=gnu99", "-mrelax", "-DBDDTORQUE_ROM=__flash")
_ARM = ("-std=c99", "-mthumb", "--specs=nosys.specs")
_FPU = ("-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")
_RISCV = ("-std=c99", "-march=rv32imc", "-mabi=ilp32", "--specs=picolibc.specs")

CHIPS = {
    chip.name: chip
    for chip in (
        Chip("atmega2560", "avr-", ("-mmcu=atmega2560", *_AVR), "avr", 256 << 10, 8 << 10, AVR),
        Chip("atmega1284p", "avr-", ("-mmcu=atmega1284p", *_AVR), "avr", 128 << 10, 16 << 10, AVR),
        Chip("cortex-m0", "arm-none-eabi-", ("-mcpu=cortex-m0", *_ARM), "m0", 256 << 10, 32 << 10, ARM),
        Chip("cortex-m3", "arm-none-eabi-", ("-mcpu=cortex-m3", *_ARM), "m3", 512 << 10, 64 << 10, ARM),
        Chip("cortex-m4", "arm-none-eabi-", ("-mcpu=cortex-m4", *_ARM), "m4", 1 << 20, 128 << 10, ARM),
        Chip("cortex-m4f", "arm-none-eabi-", ("-mcpu=cortex-m4", *_ARM, *_FPU), "m4", 1 << 20, 128 << 10, ARM),
        Chip("rv32imc", "riscv64-unknown-elf-", _RISCV, "rv32", 128 << 10, 32 << 10, RISCV),
    )
}
"""Every chip by its name."""


def chip_named(name: str) -> Chip:
    """Return a chip, or refuse an unknown name."""
    if name not in CHIPS:
        raise BddTorqueError(not_among("chip", name, tuple(CHIPS)))
    return CHIPS[name]
