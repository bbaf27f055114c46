/* Start-up: memory as C expects it, the floating-point unit, main. Nothing here uses interrupts. */
#include <stdint.h>

#include "board.h"

#define CPACR REGISTER(0xe000ed88)

/* Of the linker's script. */
extern uint32_t stack_top, data_start, data_end, data_stored, bss_start, bss_end;

int main(void);

void reset(void);

/* What has no handler of its own stops here, where a debugger finds it. */
static void stop(void)
{
    for (;;) {
        __asm volatile("wfi");
    }
}

void reset(void)
{
    /* The library's kernels use registers of the floating-point unit. */
    CPACR |= 0xfu << 20;
    __asm volatile("dsb\n isb");
    for (uint32_t *to = &data_start, *from = &data_stored; to < &data_end;) {
        *to++ = *from++;
    }
    for (uint32_t *to = &bss_start; to < &bss_end;) {
        *to++ = 0;
    }
    main();
    stop();
}

struct vectors {
    uint32_t *stack;
    void (*handlers[15])(void);
};

__attribute__((section(".vectors"), used)) static const struct vectors vectors = {
    &stack_top,
    {reset, stop, stop, stop, stop, stop, 0, 0, 0, 0, stop, stop, 0, stop, stop},
};
