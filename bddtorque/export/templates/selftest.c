/* @prefix@_selftest.c: states and the words they must give; written by bddtorque. */
#include <stdio.h>

#include "@prefix@.h"

#define OUTPUTS @outputs@
#define VECTORS @count@

@arrays@
static const int outside[VECTORS] = {
@outside@
};
@check@
int main(void)
{
    @type@ found[OUTPUTS];
    int state, @what@, beyond, wrong = 0;

    for (state = 0; state < VECTORS; state++) {
        beyond = @function@(@given@, found);
        if (beyond != outside[state]) {
            printf("state %d: expected %d words out of range, got %d\n", state, outside[state], beyond);
            wrong++;
        }
        for (@what@ = 0; @what@ < OUTPUTS; @what@++) {
            if (found[@what@] != @result@[state][@what@]) {
                printf("state %d, @what@ %d: expected word %ld, got %ld\n", state, @what@,
                    (long)@result@[state][@what@], (long)found[@what@]);
                wrong++;
            }
        }
    }
@call@    if (wrong) {
        printf("FAILED: %d differ\n", wrong);
        return 1;
    }
    printf("OK: %d states\n", VECTORS);
    return 0;
}
