"""The few functions that generated C is written with; only those that are used are written out.

Arithmetic is modulo 2^32 or 2^64, in unsigned numbers, where C defines it. Bits become a signed number by a conversion
that wraps, as compilers for two's complement machines have it; MISRA C:2012 leaves no other way that costs nothing. C99
leaves open what `>>` makes of a negative number: `floor` divides instead, for which compilers take the one
instruction that shifts; avr-gcc sees that in another expression than the others do.
"""

from __future__ import annotations

import re

from bddtorque.export.c_interface import Interface

SHAPES = {
    "signed": """\
/* The number of two's complement that these bits are. */
BDDTORQUE_INLINE intBITS_t signedBITS(uintBITS_t bits)
{
    return (intBITS_t)bits;
}
""",
    "floor": """\
/* floor(x / unit) of the number that these bits are; unit is a power of two. */
BDDTORQUE_INLINE intBITS_t floorBITS(uintBITS_t bits, intBITS_t unit)
{
    const uintBITS_t whole = bits & ~((uintBITS_t)unit - UINTBITS_C(1));

    return (intBITS_t)whole / unit;
}
""",
    "wrapped": """\
/* The lowest bits (fewer than BITS) as a word of two's complement. */
BDDTORQUE_INLINE intBITS_t wrappedBITS(uintBITS_t x, uint32_t bits)
{
    const uintBITS_t half = UINTBITS_C(1) << (bits - UINT32_C(1));
    const uintBITS_t low = x & ((UINTBITS_C(2) * half) - UINTBITS_C(1));

    return signedBITS((low ^ half) - half);
}
""",
    "clamped": """\
BDDTORQUE_INLINE intBITS_t clampedBITS(intBITS_t x, intBITS_t low, intBITS_t high)
{
    return (x < low) ? low : ((x > high) ? high : x);
}
""",
}
HELPERS = {f"{name}{bits}": shape.replace("BITS", str(bits)) for name, shape in SHAPES.items() for bits in (32, 64)} | {
    "clamp_words": """\
/* Copies words, clamped to so many bits; returns how many were beyond. Seldom called, so it is kept out of the way. */
static BDDTORQUE_RARE int clamp_words(const WORD *given, WORD *held, uint32_t count, uint32_t bits)
{
    const int32_t most = (int32_t)((UINT32_C(1) << (bits - 1u)) - 1u);
    int outside = 0;
    uint32_t k;

    for (k = 0u; k < count; k++) {
        const WORD word = (WORD)clamped32(given[k], -most - 1, most);

        if (word != given[k]) {
            outside++;
        }
        held[k] = word;
    }
    return outside;
}
""",
    "long_bits": """\
BDDTORQUE_INLINE uint64_t long_bits(int32_t x)
{
    const int64_t wide = x;

    return (uint64_t)wide;
}
""",
    "product32": """\
BDDTORQUE_INLINE uint64_t product32(int32_t a, int32_t b)
{
    const int64_t product = (int64_t)a * b;

    return (uint64_t)product;
}
""",
    "product16": """\
BDDTORQUE_INLINE uint32_t product16(int16_t a, int16_t b)
{
    const int32_t product = (int32_t)a * b;

    return (uint32_t)product;
}
""",
    "scaled16": """\
/* a * b, which fits 16 bits. */
BDDTORQUE_INLINE int16_t scaled16(int16_t a, int16_t b)
{
    const uint_fast16_t product = (uint_fast16_t)a * (uint_fast16_t)b;

    return (int16_t)product;
}
""",
    "high16": """\
/* floor(x / 2^16) */
BDDTORQUE_INLINE int16_t high16(uint32_t bits)
{
    const uint16_t high = (uint16_t)(bits >> 16u);

    return (int16_t)high;
}
""",
    "floor16": """\
/* floor(x / unit); unit is a power of two. */
BDDTORQUE_INLINE int16_t floor16(int16_t x, int16_t unit)
{
    const int_fast16_t quotient = (x < 0) ? (-((-1 - x) / unit) - 1) : (x / unit);

    return (int16_t)quotient;
}
""",
}


INLINE = """\
#ifdef __GNUC__ /* always inline, also where size alone counts: each of these is an instruction or two */
#define BDDTORQUE_INLINE static inline __attribute__((always_inline))
#define BDDTORQUE_RARE __attribute__((noinline, cold))
#else
#define BDDTORQUE_INLINE static inline
#define BDDTORQUE_RARE
#endif
"""
SMALL_FLOOR = """\
/* floor(x / unit) of the number that these bits are; unit is a power of two. */
BDDTORQUE_INLINE int32_t floor32(uint32_t bits, int32_t unit)
{
    const int32_t x = (int32_t)bits;

    return (x < 0) ? (-((-1 - x) / unit) - 1) : (x / unit);
}
"""


def used_helpers(text: str, interface: Interface) -> str:
    """Return the helpers that a text calls, and those that they call, in the order they stand above."""
    helpers = HELPERS | {"clamp_words": HELPERS["clamp_words"].replace("WORD", interface.type)}
    if interface.register < 32:
        helpers["floor32"] = SMALL_FLOOR
    called: set[str] = set()
    among = text
    while found := {name for name in helpers if re.search(rf"\b{name}\(", among)} - called:
        called |= found
        among = "\n".join(helpers[name] for name in found)
    return "\n".join([INLINE, *(helpers[name] for name in helpers if name in called)]) if called else ""


def limbs_function(block: int, piece_bits: int, index: str) -> str:
    """Return the function that puts a product together, modulo 2^64, from a table of products of unsigned limbs.

    Magnitudes, piece by piece, then the sign (see `plan.plan.Product`). As many limbs are taken as the words can need,
    so that every state takes the same steps.
    """
    mask = f"UINT64_C({(1 << piece_bits) - 1})"
    return f"""\
/* left times right, modulo 2^64, in limbs of {piece_bits} bits: as many of each as its word can have. */
static uint64_t limbs_{block}(int64_t left, uint32_t lefts, int64_t right, uint32_t rights)
{{
    const uint64_t a = (left < 0) ? (~(uint64_t)left + UINT64_C(1)) : (uint64_t)left;
    const uint64_t b = (right < 0) ? (~(uint64_t)right + UINT64_C(1)) : (uint64_t)right;
    uint64_t exact = UINT64_C(0);
    uint32_t i;
    uint32_t j;

    for (i = 0u; i < lefts; i++) {{
        for (j = 0u; j < rights; j++) {{
            const uint32_t left_place = {piece_bits}u * i;
            const uint32_t right_place = {piece_bits}u * j;
            const uint32_t place = left_place + right_place;
            const uint64_t high = (a >> left_place) & {mask};
            const uint64_t low = (b >> right_place) & {mask};
            const uint64_t product = (uint64_t)block_{block}(({index})high, ({index})low);

            exact += product << place;
        }}
    }}
    return ((left < 0) != (right < 0)) ? (~exact + UINT64_C(1)) : exact;
}}
"""
