"""Programs for Cortex-M and RISC-V in unicorn: instructions exactly, cycles by a model (`bench.cycle_models`)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from bddtorque.bench.binaries import Binary, Run
from bddtorque.bench.cycle_models import instruction_cost
from bddtorque.export.c_call import CCall
from bddtorque.spec.chips import Chip

ROM, RAM, SIZE = 0x0010_0000, 0x2000_0000, 1 << 20
STOP = ROM - 0x1000
"""Where a call returns to: a page of its own."""
STACK = 1 << 16
"""Bytes of stack that are looked at."""
LINKER_SCRIPT = f"""\
ENTRY(_start)
MEMORY {{ rom (rx) : ORIGIN = {ROM:#x}, LENGTH = 16M  ram (rwx) : ORIGIN = {RAM:#x}, LENGTH = {SIZE:#x} }}
SECTIONS
{{
  .text : {{ *(.text*) *(.rodata*) *(.srodata*) }} >rom
  .data : {{ *(.data*) *(.sdata*) }} >ram
  .bss (NOLOAD) : {{ *(.bss*) *(.sbss*) *(COMMON) }} >ram
  /DISCARD/ : {{ *(.ARM.exidx*) *(.ARM.extab*) *(.comment) *(.eh_frame*) *(.note*) *(.init*) *(.fini*) }}
}}
"""


class _Counter:
    """Counts instructions and cycles block by block."""

    def __init__(self, binary: Binary, model: str) -> None:
        self.listing = sorted(binary.instructions().items())
        self.places = {address: k for k, (address, _) in enumerate(self.listing)}
        self.model = model
        self.known: dict[tuple[int, int], tuple[int, int, int]] = {}
        self.start()

    def start(self) -> None:
        self.instructions = self.cycles = self.taken = self.next = 0

    def block(self, _: Any, address: int, size: int, __: Any) -> None:
        if address != self.next:  # the last instruction before was a branch that was taken
            self.cycles += self.taken
        count, cycles, self.taken = self.known.get((address, size)) or self._costs(address, size)
        self.instructions += count
        self.cycles += cycles
        self.next = address + size

    def _costs(self, address: int, size: int) -> tuple[int, int, int]:
        count = cycles = taken = 0
        place = self.places[address]
        while place < len(self.listing) and self.listing[place][0] < address + size:
            cost = instruction_cost(self.model, *self.listing[place][1])
            count, cycles, taken, place = count + 1, cycles + cost.cycles, cost.taken, place + 1
        self.known[address, size] = count, cycles, taken
        return count, cycles, taken


def run_unicorn(binary: Binary, chip: Chip, call: CCall, states: Any) -> Run:
    """Run a program on states (N, inputs)."""
    unicorn: Any = import_module("unicorn")  # an extra: not every installation has it
    arm_const: Any = import_module("unicorn.arm_const")
    riscv_const: Any = import_module("unicorn.riscv_const")
    arm = chip.model != "rv32"
    if arm:
        machine = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
        machine.ctl_set_cpu_model(getattr(arm_const, f"UC_CPU_ARM_CORTEX_{chip.model[:2].upper()}"))
        stack, link = arm_const.UC_ARM_REG_SP, arm_const.UC_ARM_REG_LR
    else:
        machine = unicorn.Uc(unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV32)
        stack, link = riscv_const.UC_RISCV_REG_SP, riscv_const.UC_RISCV_REG_RA
    for place, size in ((STOP, 0x1000), (ROM, 16 << 20), (RAM, 2 * SIZE)):
        machine.mem_map(place, size)
    for name, place in ((".text", ROM), (".data", RAM)):
        machine.mem_write(place, binary.section(name))
    counter = _Counter(binary, chip.model)
    machine.hook_add(unicorn.UC_HOOK_BLOCK, counter.block)
    # what the stack takes is seen by what it leaves behind; a hook on writes would lose conditional stores of Thumb-2
    paint = np.random.default_rng(0).integers(1, 255, STACK, np.uint8)
    size = np.dtype(call.dtype).itemsize * call.outputs
    symbols, thumb, top = binary.symbols(), int(arm), RAM + 2 * SIZE - 64
    machine.mem_write(top - STACK, paint.tobytes())
    words, cycles, instructions = [], [], []
    for state in states:
        machine.mem_write(symbols["in"], state.tobytes())
        machine.reg_write(stack, top)
        machine.reg_write(link, STOP | thumb)
        counter.start()
        machine.emu_start(symbols["call"] | thumb, STOP)
        words.append(np.frombuffer(bytes(machine.mem_read(symbols["out"], size)), call.dtype))
        cycles.append(counter.cycles + counter.taken)  # the return is a branch that was taken
        instructions.append(counter.instructions)
    left = np.frombuffer(bytes(machine.mem_read(top - STACK, STACK)), np.uint8)
    touched = np.flatnonzero(left != paint)
    depth = STACK - int(touched[0]) if len(touched) else 0
    return Run(np.array(words, np.int64), np.array(cycles), np.array(instructions), depth)
