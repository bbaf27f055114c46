@ What kernels do most: 400000 rows of 256 int8 products, summed and saturated.
.include "header.inc"
.word 0x20004000, start - base + origin + 1
.rept 14
.word 0
.endr
start:
        movw r7, #:lower16:ROWS
        movt r7, #:upper16:ROWS
row:    movw r0, #0x4000
        movt r0, #0x2000
        add.w r1, r0, #0x1000
        movs r2, #64
        movs r3, #0
product:
        ldrsb r4, [r0], #1
        ldrsb r5, [r1], #1
        smlabb r3, r4, r5, r3
        ldrsb r4, [r0], #1
        ldrsb r5, [r1], #1
        smlabb r3, r4, r5, r3
        ldrsb r4, [r0], #1
        ldrsb r5, [r1], #1
        smlabb r3, r4, r5, r3
        ldrsb r4, [r0], #1
        ldrsb r5, [r1], #1
        smlabb r3, r4, r5, r3
        subs r2, #1
        bne product
        asrs r3, #7
        ssat r3, #8, r3
        strb r3, [r1]
        subs r7, #1
        bne row
        wfi
.equ ROWS, 400000
