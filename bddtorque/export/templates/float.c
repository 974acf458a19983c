/* @prefix@_float.c: see @prefix@.h; written by bddtorque. To get the very words of bddtorque, compile it without
 * contracted multiply-adds (gcc, clang: -ffp-contract=off) and with float64 arithmetic (FLT_EVAL_METHOD 0). */
#include "@prefix@.h"

@defined@

#include <float.h>

struct format {
    int angle;
    double words;
    double lowest;
    double centre;
    double lsb;
    double sign;
    double offset;
    double low;
    double high;
};

/* Rounds to the nearest whole number, ties away from zero; |x| is below 2^32. */
static int64_t half_away(double x)
{
    const double size = (x < 0.0) ? -x : x;
    int64_t whole = (int64_t)size;

    if ((size - (double)whole) >= 0.5) {
        whole++;
    }
    return (x < 0.0) ? -whole : whole;
}

/* The remainder of x by the float TURN, with the sign of x, exactly. turns * TURN_HIGH and turns * TURN_LOW have at
 * most 53 bits. size - turns * TURN_HIGH is below 16 and a multiple of the unit of `size`, which is at least 2^-49 from
 * 8 on, so it is exact; the last difference is exact because the remainder is a float. A quotient that was rounded up
 * to a whole number leaves a small negative remainder: one turn less was meant. */
static double remainder_of_turn(double x)
{
    const double size = (x < 0.0) ? -x : x;
    const double turns = (double)(int64_t)(size / TURN);
    double rest = (size - (turns * TURN_HIGH)) - (turns * TURN_LOW);

    if (rest < 0.0) {
        rest += TURN;
    } else if (rest >= TURN) {
        rest -= TURN;
    } else {
        /* it is there */
    }
    return (x < 0.0) ? -rest : rest;
}

/* The angle within half a turn of zero, of up to 2^24 turns; TURN itself is a little less than a turn. */
static double wrapped_turn(double x)
{
    double rest = remainder_of_turn(x);

    if (rest > (TURN / 2.0)) {
        rest -= TURN;
    } else if (rest < (-TURN / 2.0)) {
        rest += TURN;
    } else {
        /* it is there */
    }
    return rest - ((double)half_away((x - rest) / TURN) * TURN_REST);
}

/* The words of some values; returns how many were out of range, or -1. */
static int quantised(const double *x, const struct format *formats, int count, @type@ *words)
{
    int k;
    int outside = 0;

    for (k = 0; k < count; k++) {
        const struct format *format = &formats[k];
        const double most = (format->angle != 0) ? MAX_ANGLE : DBL_MAX;
        const double highest = format->lowest + (format->words - 1.0);
        double raw;

        if (!((x[k] >= -most) && (x[k] <= most))) {
            return -1;
        }
        raw = format->sign * (x[k] - format->offset);
        if (format->angle != 0) {
            int64_t word = half_away((wrapped_turn(raw) / TURN) * format->words);

            if ((double)word > highest) {
                word -= (int64_t)format->words;
            } else if ((double)word < format->lowest) {
                word += (int64_t)format->words;
            } else {
                /* it is there */
            }
            words[k] = (@type@)word;
            outside += ((raw < format->low) || (raw > format->high)) ? 1 : 0;
        } else {
            double units = (raw - format->centre) / format->lsb;

            outside += ((units < (format->lowest - 0.5)) || (units > (highest + 0.5))) ? 1 : 0;
            units = (units < format->lowest) ? format->lowest : ((units > highest) ? highest : units);
            words[k] = (@type@)half_away(units);
        }
    }
    return outside;
}

@tables@
@prototype@
{
@held@
    const int beyond[@arrays@] = {
        @quantised@
    };
    int k;

    if (@refused@) {
        return -1;
    }
    (void)@function@(@words@);
    for (k = 0; k < @count@; k++) {
        const struct format *format = &@result@_formats[k];
        const double raw = format->centre + ((double)@result@_words[k] * format->lsb);

        @result@[k] = (format->sign * raw) + format->offset;
    }
    return @total@;
}
