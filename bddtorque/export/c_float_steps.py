"""The wires of a plan in floats as C statements: every operation rounded once, as it stands, fused where it says so.

No libm: a fused multiply-add is the chip's instruction or, where it has none, exact in float64; torques are rounded by
adding a number so large that the unit of the sum is 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np

from bddtorque.evaluate.float_code import MAX_TABLE_BITS
from bddtorque.export.c_call import CSignature
from bddtorque.export.c_steps import Steps, angle_sum
from bddtorque.export.c_text import ConstantArray, HelperCalls, integer, real
from bddtorque.export.folder import fill, template_sections
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Add, AngleSum, Constant, Fused, Lookup, Multiply, Number, Sine
from bddtorque.words.float_sine import GRID, sine_factors, sine_table, turn_on_grid
from bddtorque.words.ieee import SINGLE

SECTIONS = template_sections("float_helpers.c")
TYPES = {"single": "float", "double": "double"}
ROUNDED_FLOATS = {
    "first": "2^23", "last": "2^24", "most": "2^22", "middle": "0x1.8p23f",
    "bits": "32", "zero": "0x4b400000", "cast": "", "end": " - zero",
}  # fmt: skip
ROUNDED_DOUBLES = {
    "first": "2^52", "last": "2^53", "most": "2^51", "middle": "0x1.8p52",
    "bits": "64", "zero": "0x4338000000000000", "cast": "(int32_t)(", "end": " - zero)",
}  # fmt: skip


def float_steps(plan: Plan, inputs: Iterable[str], signature: CSignature, calls: HelperCalls) -> Steps:
    """Return the statements of a plan in floats after those of its `inputs`, and all that they call and read."""
    code = _FloatSteps(plan, calls)
    lines = [*inputs, *(line for k in plan.read for line in code.wire(k))]
    kind = signature.type_of(signature.result)
    cast = f"({kind})" if kind != "int32_t" else ""
    lines += [f"    {signature.result}[{k}] = {cast}{code.output(k)};" for k in range(len(plan.outputs))]
    blocks = {wire.block for k in plan.read if isinstance(wire := plan.wires[k], Lookup)}
    single = plan.floats == SINGLE
    functions = code.functions()
    return Steps(
        tuple(lines),
        tuple(sorted(blocks)),
        frozenset(calls),
        preamble=fill(SECTIONS["preamble"], include="" if single else "#include <math.h>\n"),
        libraries="" if single else " -lm",
        arrays=tuple(code.arrays.values()),
        functions=functions,
    )


class _FloatSteps:
    """Statements of the wires: w<k> is a word or a float, a<k> the angle of word k in quarter turns."""

    def __init__(self, plan: Plan, calls: HelperCalls) -> None:
        self.plan, self.precision, self.calls = plan, plan.floats, calls
        self.type = TYPES[plan.floats.name]
        self.arrays: dict[tuple[int, Fraction], ConstantArray] = {}
        self.angles: set[int] = set()

    def number(self, value: float) -> str:
        """Return a float, exactly."""
        return real(value, "f" if self.precision == SINGLE else "")

    def wire(self, k: int) -> Iterator[str]:
        """Yield the statements of a wire."""
        declared = f"    const {self.type} w{k} = "
        match self.plan.wires[k]:
            case AngleSum() as word:
                yield angle_sum(word, f"const int32_t w{k} = ", word.bits, self.calls)
            case Lookup(block=block, wires=wires):
                words = ", ".join(f"(uint32_t)w{wire}" for wire in wires)
                yield f"    const int32_t w{k} = block_{block}({words});"
            case Number(word=place):
                yield f"{declared}({self.type})w{place};"
            case Sine() as sine if self.plan.bits_of(sine.word) <= MAX_TABLE_BITS:
                yield f"{declared}{self._looked_up(sine)};"
            case Sine() as sine:
                yield from self._sine(declared, k, sine)
            case Add(left=left, right=right, sign=sign):
                yield f"{declared}{self._value(left)} {'+' if sign > 0 else '-'} {self._value(right)};"
            case Multiply(left=left, right=right):
                yield f"{declared}{self._value(left)} * {self._value(right)};"
            case Fused() as wire:
                factor, addend = self._value(wire.left, wire.product_sign), self._value(wire.addend, wire.addend_sign)
                yield f"{declared}{self.calls('fused', factor, self._value(wire.right), addend)};"

    def _value(self, k: int, sign: int = 1) -> str:
        wire = self.plan.wires[k]
        if isinstance(wire, Constant):
            value = sign * self.precision.nearest(wire.value)
            return f"({self.number(value)})" if value < 0 else self.number(value)
        return f"w{k}" if sign > 0 else f"-w{k}"

    def _looked_up(self, wire: Sine) -> str:
        """Return the entry of a table that is a quarter longer than a turn, so that sines and cosines share it."""
        bits = self.plan.bits_of(wire.word)
        key = bits, wire.rest
        if key not in self.arrays:
            sines = sine_table(bits, turn_on_grid(wire.rest, self.precision), False, self.precision)
            longer = np.concatenate([sines, sines[: len(sines) // 4]])
            self.arrays[key] = ConstantArray(f"sines_{len(self.arrays)}", self.type, longer)
        quarter = f" + {1 << (bits - 2)}" if wire.cosine else ""
        return f"{self.arrays[key].name}[((uint32_t)w{wire.word} & {(1 << bits) - 1}u){quarter}]"

    def _sine(self, declared: str, k: int, wire: Sine) -> Iterator[str]:
        bits, turn = self.plan.bits_of(wire.word), turn_on_grid(wire.rest, self.precision)
        if not turn:
            if wire.word not in self.angles:
                self.angles.add(wire.word)
                unit = self.number(2.0 ** (2 - bits))
                yield f"    const {self.type} a{wire.word} = ({self.type})w{wire.word} * {unit};"
            folded = self.calls("distance" if wire.cosine else "folded", f"a{wire.word}")
            yield f"{declared}{self.calls('quarter_sine', '1 - ' * wire.cosine + folded)};"
            return
        # in integers, as there may be more bits than a float has
        wide = GRID[self.precision.name]
        size = 32 if self.precision == SINGLE else 64
        step, start = (integer(number, size, True) for number in (1 << (wide - bits), turn % (1 << wide)))
        turns = self.calls(f"wrapped{size}", f"(uint{size}_t)w{wire.word} * {step} + {start}", str(wide))
        yield f"    const int{size}_t n{k} = {turns};"
        half, quarter = integer(1 << (wide - 1), size), integer(1 << (wide - 2), size)
        if wire.cosine:
            yield f"    const int{size}_t k{k} = {quarter} - (n{k} < 0 ? -n{k} : n{k});"
        else:
            yield (
                f"    const int{size}_t k{k} = n{k} > {quarter} ? {half} - n{k} : n{k} < -{quarter} ? "
                f"-{half} - n{k} : n{k};"
            )
        folded = f"({self.type})k{k} * {self.number(2.0 ** (2 - wide))}"
        yield f"{declared}{self.calls('quarter_sine', folded)};"

    def output(self, k: int) -> str:
        """Return the word of an output."""
        output = self.plan.outputs[k]
        long = self.precision == SINGLE and max(-output.low, output.high) > 1 << 22
        ends = integer(output.low, 32), integer(output.high, 32)
        return self.calls(f"rounded{'_long' if long else ''}", self._value(output.wire), *ends)

    def functions(self) -> str:
        """Return the functions that were called, and note what they call."""
        name = self.precision.name
        *factors, last = map(self.number, sine_factors(self.precision))
        steps = "\n".join(f"    p = fused(p, z, {factor});" for factor in reversed(factors))
        rounding = ROUNDED_FLOATS if self.precision == SINGLE else ROUNDED_DOUBLES
        known = {
            "fused": SECTIONS[f"fused {name}"],
            "quarter_sine": fill(SECTIONS["quarter_sine"], real=self.type, last=last, steps=steps),
            "folded": fill(SECTIONS["folded"], real=self.type),
            "distance": fill(SECTIONS["distance"], real=self.type),
            "rounded": fill(SECTIONS["rounded"], real=self.type, **rounding),
            "rounded_long": SECTIONS["rounded_long"],
        }
        if "quarter_sine" in self.calls:
            self.calls.add("fused")
        if "rounded" in self.calls:
            self.calls.add(f"clamped{rounding['bits']}")
        return "\n".join(part for function, part in known.items() if function in self.calls)
