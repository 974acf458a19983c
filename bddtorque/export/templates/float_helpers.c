//: preamble
#include <float.h>
@include@
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

//: fused single
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

//: fused double
/* a * b + c, rounded once: an instruction, or the one function that is taken from libm. */
#define fused(a, b, c) fma(a, b, c)

//: rounded
/* The nearest word, ties to even, clamped. From @first@ to @last@ floats are a unit apart, so that x + @middle@ is
 * rounded to an integer, an even one in case of a tie, for |x| up to @most@; beyond, the sum is beyond too. Sums that
 * are not negative are in the order of their bits, and negative ones have negative bits, so that bits are clamped. */
static inline int32_t rounded(@real@ x, int32_t low, int32_t high)
{
    const int@bits@_t zero = INT@bits@_C(@zero@);
    union { @real@ number; int@bits@_t bits; } sum;

    sum.number = x + @middle@;
    return @cast@clamped@bits@(sum.bits, zero + low, zero + high)@end@;
}

//: rounded_long
/* The nearest word, ties to even, clamped. |x| is at most 2^23, so that the sums are from 2^23 to 2^24, where floats
 * are a unit apart and x is rounded to an integer; the differences are exact. */
static inline int32_t rounded_long(float x, int32_t low, int32_t high)
{
    const float held = x >= (float)low ? x <= (float)high ? x : (float)high : (float)low;

    return (int32_t)(held < 0 ? (held - 0x1p23f) + 0x1p23f : (held + 0x1p23f) - 0x1p23f);
}

//: quarter_sine
/* The sine of x quarter turns, x from -1 to 1. */
static @real@ quarter_sine(@real@ x)
{
    const @real@ z = x * x;
    @real@ p = @last@;

@steps@
    return fused(x, p, x);
}

//: folded
/* The number of quarter turns within -1 to 1 that has the sine of a, -2 to 2; exact. */
static inline @real@ folded(@real@ a)
{
    return a > 1 ? 2 - a : a < -1 ? -2 - a : a;
}

//: distance
/* The distance from 0. */
static inline @real@ distance(@real@ a)
{
    return a < 0 ? -a : a;
}
