//: signedBITS
/* The number of two's complement that these bits are. */
BDDTORQUE_INLINE intBITS_t signedBITS(uintBITS_t bits)
{
    return (intBITS_t)bits;
}

//: floorBITS
/* floor(x / unit) of the number that these bits are; unit is a power of two. */
BDDTORQUE_INLINE intBITS_t floorBITS(uintBITS_t bits, intBITS_t unit)
{
    const uintBITS_t whole = bits & ~((uintBITS_t)unit - UINTBITS_C(1));

    return (intBITS_t)whole / unit;
}

//: wrappedBITS calls signedBITS
/* The lowest bits (fewer than BITS) as a word of two's complement. */
BDDTORQUE_INLINE intBITS_t wrappedBITS(uintBITS_t x, uint32_t bits)
{
    const uintBITS_t half = UINTBITS_C(1) << (bits - UINT32_C(1));
    const uintBITS_t low = x & ((UINTBITS_C(2) * half) - UINTBITS_C(1));

    return signedBITS((low ^ half) - half);
}

//: clampedBITS
BDDTORQUE_INLINE intBITS_t clampedBITS(intBITS_t x, intBITS_t low, intBITS_t high)
{
    return (x < low) ? low : ((x > high) ? high : x);
}

//: clamp_words calls clamped32
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

//: clamp_natural calls clamped32
/* The same for unsigned words. */
static BDDTORQUE_RARE int clamp_natural(const WORD *given, WORD *held, uint32_t count, uint32_t bits)
{
    const int32_t most = (int32_t)((UINT32_C(1) << bits) - 1u);
    int outside = 0;
    uint32_t k;

    for (k = 0u; k < count; k++) {
        const WORD word = (WORD)clamped32(given[k], 0, most);

        if (word != given[k]) {
            outside++;
        }
        held[k] = word;
    }
    return outside;
}

//: clamp_unsigned
/* The same for unsigned words of an unsigned type. */
static BDDTORQUE_RARE int clamp_unsigned(const UWORD *given, UWORD *held, uint32_t count, uint32_t bits)
{
    const UWORD most = (UWORD)((UINT32_C(1) << bits) - 1u);
    int outside = 0;
    uint32_t k;

    for (k = 0u; k < count; k++) {
        const UWORD word = (given[k] > most) ? most : given[k];

        if (word != given[k]) {
            outside++;
        }
        held[k] = word;
    }
    return outside;
}

//: long_bits
BDDTORQUE_INLINE uint64_t long_bits(int32_t x)
{
    const int64_t wide = x;

    return (uint64_t)wide;
}

//: product32
BDDTORQUE_INLINE uint64_t product32(int32_t a, int32_t b)
{
    const int64_t product = (int64_t)a * b;

    return (uint64_t)product;
}

//: product16
BDDTORQUE_INLINE uint32_t product16(int16_t a, int16_t b)
{
    const int32_t product = (int32_t)a * b;

    return (uint32_t)product;
}

//: scaled16
/* a * b, which fits 16 bits. */
BDDTORQUE_INLINE int16_t scaled16(int16_t a, int16_t b)
{
    const uint_fast16_t product = (uint_fast16_t)a * (uint_fast16_t)b;

    return (int16_t)product;
}

//: high16
/* floor(x / 2^16) */
BDDTORQUE_INLINE int16_t high16(uint32_t bits)
{
    const uint16_t high = (uint16_t)(bits >> 16u);

    return (int16_t)high;
}

//: floor16
/* floor(x / unit); unit is a power of two. */
BDDTORQUE_INLINE int16_t floor16(int16_t x, int16_t unit)
{
    const int_fast16_t quotient = (x < 0) ? (-((-1 - x) / unit) - 1) : (x / unit);

    return (int16_t)quotient;
}

//: how functions are declared
#ifdef __GNUC__ /* always inline, also where size alone counts: each of these is an instruction or two */
#define BDDTORQUE_INLINE static inline __attribute__((always_inline))
#define BDDTORQUE_RARE __attribute__((noinline, cold))
#else
#define BDDTORQUE_INLINE static inline
#define BDDTORQUE_RARE
#endif

//: small floor32
/* floor(x / unit) of the number that these bits are; unit is a power of two. */
BDDTORQUE_INLINE int32_t floor32(uint32_t bits, int32_t unit)
{
    const int32_t x = (int32_t)bits;

    return (x < 0) ? (-((-1 - x) / unit) - 1) : (x / unit);
}
