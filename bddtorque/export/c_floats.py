"""The float front end of an exported model: physical units to words and back, as `words.formats` does it, bit for bit.

No libm either. The remainder of an angle by a turn is exact as fmod's is: the turn is cut into two halves, each times a
number of turns below 2^25 is exact, and so are the differences (see the comment in the code).
"""

from __future__ import annotations

import math

from bddtorque.export.c_text import real
from bddtorque.model.model import Model
from bddtorque.words.formats import MAX_TURNS, TURN, TURN_REST, Format

SPLIT = 2.0**23
"""The first half of the turn is a multiple of 2^-23, of 26 bits."""
TURN_HIGH = math.floor(TURN * SPLIT) / SPLIT
TURN_LOW = TURN - TURN_HIGH

CODE = """\
#include <float.h>

struct format {
    int angle;
    double words;
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

/* The words of n values; returns how many were out of range, or -1. */
static int quantised(const double *x, const struct format *formats, int32_t *words)
{
    int joint;
    int outside = 0;

    for (joint = 0; joint < JOINTS; joint++) {
        const struct format *format = &formats[joint];
        const double most = (format->angle != 0) ? MOST_ANGLE : DBL_MAX;
        const double half = format->words / 2.0;
        double raw;

        if (!((x[joint] >= -most) && (x[joint] <= most))) {
            return -1;
        }
        raw = format->sign * (x[joint] - format->offset);
        if (format->angle != 0) {
            int64_t word = half_away((wrapped_turn(raw) / TURN) * format->words);

            if ((double)word >= half) {
                word -= (int64_t)format->words;
            } else if ((double)word < -half) {
                word += (int64_t)format->words;
            } else {
                /* it is there */
            }
            words[joint] = (int32_t)word;
            outside += ((raw < format->low) || (raw > format->high)) ? 1 : 0;
        } else {
            double units = (raw - format->centre) / format->lsb;

            outside += ((units < (-half - 0.5)) || (units > (half - 0.5))) ? 1 : 0;
            units = (units < -half) ? -half : ((units > (half - 1.0)) ? (half - 1.0) : units);
            words[joint] = (int32_t)half_away(units);
        }
    }
    return outside;
}
"""


def floats_text(model: Model, prefix: str, kind: str) -> str:
    """Return the C file of the float front end of a function whose words are of a C type."""
    macro = prefix.upper()
    tables = "\n".join(
        f"static const struct format {quantity}_formats[JOINTS] = {{\n"
        + ",\n".join(_row(word) for word in getattr(model.formats, quantity))
        + "\n};\n"
        for quantity in ("q", "qd", "qdd", "tau")
    )
    constants = {"TURN": TURN, "TURN_HIGH": TURN_HIGH, "TURN_LOW": TURN_LOW, "TURN_REST": TURN_REST}
    constants["MOST_ANGLE"] = MAX_TURNS * TURN
    defined = "\n".join(f"#define {name} {real(value)}" for name, value in constants.items())
    return f"""\
/* {prefix}_float.c: see {prefix}.h; written by bddtorque. To get the very words of bddtorque, compile it without
 * contracted multiply-adds (gcc, clang: -ffp-contract=off) and with float64 arithmetic (FLT_EVAL_METHOD 0). */
#include "{prefix}.h"

#define JOINTS {macro}_JOINTS
{defined}

{CODE.replace("int32_t *words", f"{kind} *words").replace("(int32_t)", f"({kind})")}
{tables}
int {prefix}_torque(const double q[JOINTS], const double qd[JOINTS], const double qdd[JOINTS], double tau[JOINTS])
{{
    {kind} q_words[JOINTS];
    {kind} qd_words[JOINTS];
    {kind} qdd_words[JOINTS];
    {kind} tau_words[JOINTS];
    const int beyond[3] = {{
        quantised(q, q_formats, q_words), quantised(qd, qd_formats, qd_words), quantised(qdd, qdd_formats, qdd_words)
    }};
    int joint;

    if ((beyond[0] < 0) || (beyond[1] < 0) || (beyond[2] < 0)) {{
        return -1;
    }}
    (void){prefix}_torque_words(q_words, qd_words, qdd_words, tau_words);
    for (joint = 0; joint < JOINTS; joint++) {{
        const struct format *format = &tau_formats[joint];

        tau[joint] = (format->sign * (format->centre + ((double)tau_words[joint] * format->lsb))) + format->offset;
    }}
    return beyond[0] + beyond[1] + beyond[2];
}}
"""


def _row(word: Format) -> str:
    numbers = (2.0**word.bits, word.centre, word.lsb, float(word.sign), word.offset)
    limits = [
        real(end) if math.isfinite(end) else "-DBL_MAX" if end < 0 else "DBL_MAX" for end in (word.low, word.high)
    ]
    return f"    {{{int(word.kind == 'angle')}, {', '.join([*map(real, numbers), *limits])}}}"
