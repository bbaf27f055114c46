@ Five times asleep until SysTick.
.include "header.inc"
.word 0x20004000, start - base + origin + 1
.rept 13
.word 0
.endr
.word tick - base + origin + 1
start:  movw r0, #0xe010
        movt r0, #0xe000
        movw r1, #9999
        str r1, [r0, #4]
        str r1, [r0, #8]
        movs r1, #7
        str r1, [r0]
        movs r6, #0
again:  wfi
        cmp r6, #5
        bne again
        movs r1, #0
        str r1, [r0]
        wfi
tick:   adds r6, #1
        bx lr
