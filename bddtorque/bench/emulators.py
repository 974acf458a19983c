"""Programs for small processors, run by emulators: AVR in simavr, Cortex-M and RISC-V in unicorn.

simavr counts the cycles of the data sheet; a small program linked with it (`avr_runner.c`) runs AVR code. unicorn
counts instructions exactly; their cycles come from the processors' manuals by the mnemonic (docs/chips.md has them in a
table): no wait states, no caches, no stalls between instructions, as a chip does from RAM or from flash that keeps up.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.base.system import scratch_folder
from bddtorque.export.c_call import CCall
from bddtorque.spec.chips import Chip

SECONDS = 600
"""Seconds that one tool may take: a compiler over large test-and-branch code takes minutes."""
LIBRARY = "libsimavr-dev libelf-dev"
"""Debian packages of simavr as a library."""
ROM, RAM, SIZE = 0x0010_0000, 0x2000_0000, 1 << 20
STOP = ROM - 0x1000
"""The address that a call returns to: a page of its own."""
STACK = 1 << 16
"""Bytes of stack that are inspected."""
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


@dataclass(frozen=True)
class Binary:
    """A linked program."""

    elf: Path  # the file
    tools: str  # what the names of its tools begin with
    # flash, ram: bytes of code, constants and initial values; bytes of variables
    flash: int
    ram: int

    @classmethod
    def read(cls, elf: Path, tools: str) -> Self:
        """Return a program with its sizes."""
        text, data, bss = map(int, run_tool([f"{tools}size", str(elf)]).splitlines()[1].split()[:3])
        return cls(elf, tools, text + data, data + bss)

    def symbols(self) -> dict[str, int]:
        """Return the address of every symbol."""
        lines = (line.split() for line in run_tool([f"{self.tools}nm", str(self.elf)]).splitlines())
        return {fields[2]: int(fields[0], 16) for fields in lines if len(fields) == 3}

    def section(self, name: str) -> bytes:
        """Return the contents of a section."""
        out = self.elf.with_suffix(name)
        run_tool([f"{self.tools}objcopy", "-O", "binary", "-j", name, str(self.elf), str(out)])
        return out.read_bytes()

    def instructions(self) -> dict[int, tuple[str, str]]:
        """Return the mnemonic and the operands of the instruction at each address."""
        listed = run_tool([f"{self.tools}objdump", "-d", "--no-show-raw-insn", str(self.elf)])
        found = re.findall(r"^\s*([0-9a-f]+):\s+(\S+)[^\S\n]*(.*)$", listed, re.MULTILINE)
        return {int(address, 16): (mnemonic, operands) for address, mnemonic, operands in found}


@dataclass(frozen=True, eq=False)
class Run:
    """A run of a program: words (N, outputs), cycles and instructions (N,) of a call, bytes of stack at most."""

    words: npt.NDArray[np.int64]
    cycles: npt.NDArray[np.int64]
    instructions: npt.NDArray[np.int64]
    stack: int


def run_tool(command: Sequence[str]) -> str:
    """Return what a tool printed; `CalledProcessError` has what it complained of."""
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=True, timeout=SECONDS).stdout


@cache
def runner() -> bytes:
    """Return the program that runs AVR code, built once per process."""
    with scratch_folder() as folder:
        program = folder / "avr_runner"
        source = Path(__file__).with_name("avr_runner.c")
        try:
            run_tool(["cc", "-O2", "-o", str(program), str(source), "-lsimavr", "-lelf"])
        except (OSError, subprocess.CalledProcessError) as problem:
            raise BddTorqueError(one_line(f"avr_runner.c does not compile: {problem}")) from None
        return program.read_bytes()


def run_avr(binary: Binary, chip: Chip, call: CCall, states: Any) -> Run:
    """Run an AVR program on states (N, inputs), with the cycles of the data sheet."""
    program = binary.elf.with_name("avr_runner")
    if not program.exists():
        program.write_bytes(runner())
        program.chmod(0o755)
    symbols = binary.symbols()
    places = [hex(symbols[name] & 0xFFFF) for name in ("in", "out", "mark")]
    word = np.dtype(call.dtype).itemsize
    done = subprocess.run(
        [program, binary.elf, chip.part, str(word * call.inputs), str(word * call.outputs), *places],
        input=states.tobytes(), capture_output=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    row = np.dtype([("words", call.result_dtype, (call.outputs,)), ("told", "<i4", (3,))])
    if done.returncode or len(done.stdout) != len(states) * row.itemsize:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["ended early"]
        raise BddTorqueError(one_line(f"simavr, chip '{chip.name}': {said[-1]}"))
    rows = np.frombuffer(done.stdout, row)
    cycles, stack, instructions = rows["told"].astype(np.int64).T
    return Run(rows["words"].astype(np.int64), cycles, instructions, int(stack.max()))


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
    size = np.dtype(call.result_dtype).itemsize * call.outputs
    symbols, thumb, top = binary.symbols(), int(arm), RAM + 2 * SIZE - 64
    machine.mem_write(top - STACK, paint.tobytes())
    words, cycles, instructions = [], [], []
    for state in states:
        machine.mem_write(symbols["in"], state.tobytes())
        machine.reg_write(stack, top)
        machine.reg_write(link, STOP | thumb)
        counter.start()
        machine.emu_start(symbols["call"] | thumb, STOP)
        words.append(np.frombuffer(bytes(machine.mem_read(symbols["out"], size)), call.result_dtype))
        cycles.append(counter.cycles + counter.taken)  # the return is a branch that was taken
        instructions.append(counter.instructions)
    left = np.frombuffer(bytes(machine.mem_read(top - STACK, STACK)), np.uint8)
    touched = np.flatnonzero(left != paint)
    depth = STACK - int(touched[0]) if len(touched) else 0
    return Run(np.array(words, np.int64), np.array(cycles), np.array(instructions), depth)


@dataclass(frozen=True)
class Cost:
    """Cycles of an instruction, and how many more if it is a branch that is taken."""

    cycles: int
    taken: int = 0


def instruction_cost(model: str, mnemonic: str, operands: str) -> Cost:
    """Return what an instruction costs by a model: ``"m0"``, ``"m0-slow-multiply"``, ``"m3"``, ``"m4"`` or ``"rv32"``.

    Mnemonics and operands are as objdump writes them.
    """
    name = mnemonic.partition(".")[0]
    return _riscv(name) if model == "rv32" else _arm(model, name, operands)


def _riscv(name: str) -> Cost:
    """Return the cost on a simple core: two or three stages, single-cycle multiplier, a divider of one bit a cycle."""
    if re.fullmatch(r"l[bhw]u?", name):
        return Cost(2)
    if name.startswith("b") or name in ("j", "jal", "jr", "jalr", "ret", "call", "tail"):
        return Cost(1, 2)
    if name.startswith(("div", "rem")):
        return Cost(33)
    return Cost(1)


_BRANCH = re.compile(r"b(eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)?|cbn?z|bx|blx|tb[bh]")
_SLOW: dict[str, dict[str, int]] = {
    "m0": {},
    "m0-slow-multiply": {"mul": 32, "muls": 32},
    "m3": {"smull": 4, "umull": 4, "smlal": 6, "umlal": 6, "mla": 2, "mls": 2, "udiv": 7, "sdiv": 7},
    "m4": {"udiv": 7, "sdiv": 7, "vdiv": 14, "vsqrt": 14}
    | dict.fromkeys(("vmla", "vmls", "vnmla", "vnmls", "vfma", "vfms", "vfnma", "vfnms"), 3),
}
_SEVERAL = ("push", "pop", "stm", "ldm", "vpush", "vpop", "vstm", "vldm")


def _arm(model: str, name: str, operands: str) -> Cost:
    """Return the cost on a Cortex-M: ARM DDI 0432C (M0), DDI 0337 (M3) and DDI 0439 (M4), single-cycle multiplier."""
    if name.startswith(_SEVERAL):
        return Cost(1 + _registers(operands), 3 if "pc" in operands else 0)
    if name.startswith(("ldr", "str", "vldr", "vstr")):
        size = 3 if name in ("ldrd", "strd") else 2
        return Cost(size, 3 if operands.startswith("pc") else 0)
    if _BRANCH.fullmatch(name):
        return Cost(1, 2)
    if name == "bl":
        return Cost(1, 3 if model.startswith("m0") else 2)
    if name == "mov" and operands.startswith("pc"):
        return Cost(1, 2)
    return Cost(_SLOW[model].get(name, 1))


def _registers(operands: str) -> int:
    """Return how many registers a list in braces names; ``r4-r7`` are four."""
    listed = operands[operands.find("{") + 1 : operands.find("}")]
    count = 0
    for part in filter(None, map(str.strip, listed.split(","))):
        first, _, last = part.partition("-")
        count += int(last[1:]) - int(first[1:]) + 1 if last else 1
    return count
