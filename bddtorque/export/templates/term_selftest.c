/* @prefix@_selftest.c: input words and the words they must give; written by bddtorque. */
#include <stdio.h>

#include "@prefix@.h"

#define VECTORS @count@

@arrays@static const int32_t expected[VECTORS] = {
@words@
};

int main(void)
{
    int k, wrong = 0;

    for (k = 0; k < VECTORS; k++) {
        const int32_t found = @prefix@(@given@);

        if (found != expected[k]) {
            printf("vector %d: expected word %ld, got %ld\n", k, (long)expected[k], (long)found);
            wrong++;
        }
    }
    if (wrong) {
        printf("FAILED: %d differ\n", wrong);
        return 1;
    }
    printf("OK: %d vectors\n", VECTORS);
    return 0;
}
