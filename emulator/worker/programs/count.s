@ Loops, calls, IT blocks, long runs, an IT block across the border of two pages.
.include "header.inc"
.word 0x20004000, start - base + origin + 1
.rept 14
.word 0
.endr
start:  movs r0, #10
loop:   bl function             @ 10 times 11
        lsls r4, r0, #31
        ite eq
        addeq r1, #1
        addne r2, #1
        it ne
        movne r5, r0
        subs r0, #1
        bne loop
        b pages
function:
        adds r3, #1
        bx lr
        .org 0x2fc
pages:  .rept 1024              @ across three pages
        nop
        .endr
        cmp r0, #0
        nop
        ite ne
        addne r1, #1
        addeq r2, #1
        b border
        .org 0xbfc
border: cmp r0, #0
        itee ne
        addne r1, #1            @ at 0xc00: the next page
        addeq r2, #1
        addeq r2, #1
        wfi
