"""Cycles of an instruction by its mnemonic, from the processors' manuals; docs/chips.md states the same in a table.

No wait states, no caches, no stalls between instructions: what a chip does from RAM or from flash that keeps up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


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
