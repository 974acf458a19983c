"""The wires of a plan in floats as C statements: every operation rounded once, as it stands, fused where it says so.

No libm: a fused multiply-add is the chip's instruction or, where it has none, exact in float64; torques are rounded by
adding a number so large that the unit of the sum is 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np

from bddtorque.evaluate.float_code import MAX_TABLE_BITS
from bddtorque.export.c_interface import Interface
from bddtorque.export.c_steps import Steps, angle_sum
from bddtorque.export.c_text import ConstantArray, integer, real
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Add, AngleSum, Constant, Fused, Lookup, Multiply, Number, Sine
from bddtorque.words.float_sine import GRID, sine_factors, sine_table, turn_on_grid
from bddtorque.words.ieee import SINGLE

TYPES = {"single": "float", "double": "double"}
PREAMBLE = """\
#include <float.h>
{include}
#if FLT_RADIX != 2 || FLT_MANT_DIG != 24 || FLT_MAX_EXP != 128 || DBL_MANT_DIG != 53 || DBL_MAX_EXP != 1024
#error "float and double must be binary32 and binary64 of IEEE 754 (avr-gcc: -mdouble=64)"
#endif
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "operations must be rounded to their own type, FLT_EVAL_METHOD 0 (gcc on x86: -msse2 -mfpmath=sse)"
#endif
#ifdef __FAST_MATH__
#error "operations must be rounded as they stand: compile without -ffast-math"
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize ("fp-contract=off") /* nothing is fused but what the plan fuses */
#else
#pragma STDC FP_CONTRACT OFF
#endif
"""
FUSED = {
    "single": """\
/* a * b + c, rounded once. */
#if defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define fused(a, b, c) __builtin_fmaf(a, b, c)
#else
/* Without the instruction: the product is exact in float64, and a sum that is rounded to odd there (exact, or the
 * neighbour whose last bit is set) is rounded to float32 as the exact sum would be. */
static float fused(float a, float b, float c)
{
    const double product = (double)a * (double)b, addend = (double)c;
    union { double number; uint64_t bits; } sum;
    double back, rest;

    sum.number = product + addend;
    back = sum.number - product;
    rest = (product - (sum.number - back)) + (addend - back);
    if ((rest < 0 || rest > 0) && !(sum.bits & 1)) {
        sum.bits = (rest > 0) == (sum.number > 0) ? sum.bits + 1 : sum.bits - 1;
    }
    return (float)sum.number;
}
#endif
""",
    "double": """\
/* a * b + c, rounded once: an instruction, or the one function that is taken from libm. */
#define fused(a, b, c) fma(a, b, c)
""",
}
ROUNDED = """\
/* The nearest word, ties to even, clamped. From {first} to {last} floats are a unit apart, so that x + {middle} is
 * rounded to an integer, an even one in case of a tie, for |x| up to {most}; beyond, the sum is beyond too. Sums that
 * are not negative are in the order of their bits, and negative ones have negative bits, so that bits are clamped. */
static inline int32_t rounded({real} x, int32_t low, int32_t high)
{{
    const int{bits}_t zero = INT{bits}_C({zero});
    union {{ {real} number; int{bits}_t bits; }} sum;

    sum.number = x + {middle};
    return {cast}clamped{bits}(sum.bits, zero + low, zero + high){end};
}}
"""
ROUNDED_FLOATS = {
    "first": "2^23", "last": "2^24", "most": "2^22", "middle": "0x1.8p23f",
    "bits": "32", "zero": "0x4b400000", "cast": "", "end": " - zero",
}  # fmt: skip
ROUNDED_DOUBLES = {
    "first": "2^52", "last": "2^53", "most": "2^51", "middle": "0x1.8p52",
    "bits": "64", "zero": "0x4338000000000000", "cast": "(int32_t)(", "end": " - zero)",
}  # fmt: skip
ROUNDED_LONG = """\
/* The nearest word, ties to even, clamped. |x| is at most 2^23, so that the sums are from 2^23 to 2^24, where floats
 * are a unit apart and x is rounded to an integer; the differences are exact. */
static inline int32_t rounded_long(float x, int32_t low, int32_t high)
{
    const float held = x >= (float)low ? x <= (float)high ? x : (float)high : (float)low;

    return (int32_t)(held < 0 ? (held - 0x1p23f) + 0x1p23f : (held + 0x1p23f) - 0x1p23f);
}
"""
SINE = """\
/* The sine of x quarter turns, x from -1 to 1. */
static {real} quarter_sine({real} x)
{{
    const {real} z = x * x;
    {real} p = {last};

{steps}
    return fused(x, p, x);
}}
"""
FOLDED = """\
/* The number of quarter turns within -1 to 1 that has the sine of a, -2 to 2; exact. */
static inline {real} folded({real} a)
{{
    return a > 1 ? 2 - a : a < -1 ? -2 - a : a;
}}
"""
DISTANCE = """\
/* The distance from 0. */
static inline {real} distance({real} a)
{{
    return a < 0 ? -a : a;
}}
"""


def float_steps(plan: Plan, inputs: Iterable[str], interface: Interface) -> Steps:
    """Return the statements of a plan in floats after those of its `inputs`, and all that they call and read."""
    code = _FloatSteps(plan)
    lines = [*inputs, *(line for k in plan.read for line in code.wire(k))]
    cast = f"({interface.type})" if interface.bits < 32 else ""
    lines += [f"    {interface.result}[{k}] = {cast}{code.output(k)};" for k in range(len(plan.outputs))]
    blocks = {wire.block for k in plan.read if isinstance(wire := plan.wires[k], Lookup)}
    single = plan.floats == SINGLE
    return Steps(
        tuple(lines),
        tuple(sorted(blocks)),
        preamble=PREAMBLE.format(include="" if single else "#include <math.h>\n"),
        libraries="" if single else " -lm",
        arrays=tuple(code.arrays.values()),
        functions=code.functions("\n".join(lines)),
    )


class _FloatSteps:
    """Statements of the wires: w<k> is a word or a float, a<k> the angle of word k in quarter turns."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.precision = plan, plan.floats
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
                yield angle_sum(word, f"const int32_t w{k} = ", word.bits)
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
                yield f"{declared}fused({factor}, {self._value(wire.right)}, {addend});"

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
            folded = f"1 - distance(a{wire.word})" if wire.cosine else f"folded(a{wire.word})"
            yield f"{declared}quarter_sine({folded});"
            return
        # in integers, as there may be more bits than a float has
        wide = GRID[self.precision.name]
        size = 32 if self.precision == SINGLE else 64
        step, start = (integer(number, size, True) for number in (1 << (wide - bits), turn % (1 << wide)))
        yield f"    const int{size}_t n{k} = wrapped{size}((uint{size}_t)w{wire.word} * {step} + {start}, {wide});"
        half, quarter = integer(1 << (wide - 1), size), integer(1 << (wide - 2), size)
        if wire.cosine:
            yield f"    const int{size}_t k{k} = {quarter} - (n{k} < 0 ? -n{k} : n{k});"
        else:
            yield (
                f"    const int{size}_t k{k} = n{k} > {quarter} ? {half} - n{k} : n{k} < -{quarter} ? "
                f"-{half} - n{k} : n{k};"
            )
        yield f"{declared}quarter_sine(({self.type})k{k} * {self.number(2.0 ** (2 - wide))});"

    def output(self, k: int) -> str:
        """Return the word of an output."""
        output = self.plan.outputs[k]
        long = self.precision == SINGLE and max(-output.low, output.high) > 1 << 22
        ends = f"{integer(output.low, 32)}, {integer(output.high, 32)}"
        return f"rounded{'_long' if long else ''}({self._value(output.wire)}, {ends})"

    def functions(self, text: str) -> str:
        """Return the functions that a text calls."""
        name = self.precision.name
        *factors, last = map(self.number, sine_factors(self.precision))
        steps = "\n".join(f"    p = fused(p, z, {factor});" for factor in reversed(factors))
        rounding = ROUNDED_FLOATS if self.precision == SINGLE else ROUNDED_DOUBLES
        known = {
            "fused": FUSED[name],
            "quarter_sine": SINE.format(real=self.type, last=last, steps=steps),
            "folded": FOLDED.format(real=self.type),
            "distance": DISTANCE.format(real=self.type),
            "rounded": ROUNDED.format(real=self.type, **rounding),
            "rounded_long": ROUNDED_LONG,
        }
        called = {function for function in known if re.search(rf"\b{function}\(", text)}
        if "quarter_sine" in called:
            called.add("fused")
        return "\n".join(part for function, part in known.items() if function in called)
