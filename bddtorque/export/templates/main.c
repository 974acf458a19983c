/* Computes the words of one state; a debugger, or a loop of your own, looks at them. */
#include "@prefix@.h"

@declared@

int main(void)
{
    return @function@(@given@);
}
