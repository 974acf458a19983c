#include "@header@"
#include <stdint.h>

@word@ in[@inputs@];
@result@ out[@outputs@];

__attribute__((noinline)) void call(void)
{
    @statement@
}
