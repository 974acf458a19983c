"""The few functions that generated C is written with; only those that are used are written out.

C99 leaves open what `>>` makes of negative numbers and what happens to a number that a signed type cannot hold. These
say the same in terms that it defines, and common compilers turn each into the one instruction it stands for.
"""

from __future__ import annotations

import re

SHAPES = {
    "signed": """\
/* The number of two's complement that these bits are. */
static inline intBITS_t signedBITS(uintBITS_t bits)
{
    return bits <= UINTBITS_C(LARGEST) ? (intBITS_t)bits : -(intBITS_t)~bits - 1;
}
""",
    "floor": """\
/* floor(x / 2^shift) */
static inline intBITS_t floorBITS(intBITS_t x, unsigned shift)
{
    return x < 0 ? ~(~x >> shift) : x >> shift;
}
""",
    "wrapped": """\
/* The lowest bits (fewer than BITS) as a word of two's complement. */
static inline intBITS_t wrappedBITS(uintBITS_t x, unsigned bits)
{
    const uintBITS_t half = UINTBITS_C(1) << (bits - 1);

    return (intBITS_t)((x & (2 * half - 1)) ^ half) - (intBITS_t)half;
}
""",
    "clamped": """\
static inline intBITS_t clampedBITS(intBITS_t x, intBITS_t low, intBITS_t high)
{
    return x < low ? low : x > high ? high : x;
}
""",
}
HELPERS = {
    f"{name}{bits}": shape.replace("BITS", str(bits)).replace("LARGEST", f"0x7{'f' * (bits // 4 - 1)}")
    for name, shape in SHAPES.items()
    for bits in (32, 64)
}


def used_helpers(text: str) -> str:
    """Return the helpers that a text calls, in the order they stand above."""
    called = set(re.findall(r"\b([a-z]+(?:32|64))\(", text))
    return "\n".join(HELPERS[name] for name in HELPERS if name in called)


def limbs_function(block: int, limb_bits: int) -> str:
    """Return the function that puts a product together, modulo 2^64, from a table of products of unsigned limbs.

    Magnitudes, piece by piece, then the sign (see `plan.plan.Product`). As many limbs are taken as the words can need,
    so that every state takes the same steps.
    """
    mask = f"UINT32_C({(1 << limb_bits) - 1})"
    return f"""\
/* left times right, modulo 2^64, in limbs of {limb_bits} bits: as many of each as its word can have. */
static uint64_t limbs_{block}(int64_t left, unsigned lefts, int64_t right, unsigned rights)
{{
    const uint64_t a = left < 0 ? 0 - (uint64_t)left : (uint64_t)left;
    const uint64_t b = right < 0 ? 0 - (uint64_t)right : (uint64_t)right;
    uint64_t exact = 0;
    unsigned i, j;

    for (i = 0; i < lefts; i++) {{
        for (j = 0; j < rights; j++) {{
            const uint32_t high = (uint32_t)(a >> ({limb_bits} * i)) & {mask};
            const uint32_t low = (uint32_t)(b >> ({limb_bits} * j)) & {mask};

            exact += (uint64_t)block_{block}(high, low) << ({limb_bits} * (i + j));
        }}
    }}
    return (left < 0) != (right < 0) ? 0 - exact : exact;
}}
"""
