
#define FLOAT_VECTORS @count@

@arrays@
static int float_differences(void)
{
    double found[OUTPUTS];
    int state, k, wrong = 0;

    for (state = 0; state < FLOAT_VECTORS; state++) {
        if (@function@(@given@, found) < 0) {
            printf("float state %d: taken for no numbers\n", state);
            wrong++;
            continue;
        }
        for (k = 0; k < OUTPUTS; k++) {
            if (found[k] != real_@result@[state][k]) {
                printf("float state %d, output %d: expected %.17g, got %.17g\n", state, k,
                    real_@result@[state][k], found[k]);
                wrong++;
            }
        }
    }
    return wrong;
}
