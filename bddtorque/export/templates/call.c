#include "@header@"
#include <stdint.h>

@word@ in[@inputs@], out[@outputs@];

__attribute__((noinline)) void call(void)
{
    @statement@
}
