@ SysTick strikes all over a computation with IT blocks, flags and floating-point registers, on
@ the process stack; its handler spoils what the hardware saves. A wrong result ends in UDF.
.include "header.inc"
.word 0x20004000, start - base + origin + 1
.rept 13
.word 0
.endr
.word tick - base + origin + 1
start:  movw r0, #0xed88        @ CPACR: floating-point unit on
        movt r0, #0xe000
        mov.w r1, #0x00f00000
        str r1, [r0]
        movw r0, #0x3000        @ process stack, misaligned by a word
        movt r0, #0x2000
        subs r0, #4
        msr psp, r0
        movs r0, #2
        msr control, r0
        isb
        vmov.f32 s0, #1.0
        vmov.f32 s15, #0.5
        movw r0, #0xe010
        movt r0, #0xe000
        movs r1, #96
        str r1, [r0, #4]
        str r1, [r0, #8]
        movs r1, #7
        str r1, [r0]
        movw r7, #20000
        movs r1, #0
        movs r2, #0
        movs r3, #0
        mov.w r12, #0
loop:   lsls r4, r7, #31
        ite eq
        addeq r1, #1
        addne r2, #1
        bl twist
        add.w r12, r12, #1
        adds r4, r1, r2
        cmp r4, r12
        itt ne
        movne r3, #1
        addne r3, #1
        vadd.f32 s0, s0, s15
        vsub.f32 s0, s0, s15
        mrs r4, control
        lsrs r4, r4, #2
        it cc                   @ SPSEL has been shifted into carry
        movcc r3, #3
        subs r7, #1
        bne loop
        movs r1, #0             @ SysTick off
        str r1, [r0]
        cmp r3, #0
        bne wrong
        movw r4, #20000
        cmp r12, r4
        bne wrong
        vmov.f32 s1, #1.0
        vcmp.f32 s0, s1
        vmrs APSR_nzcv, fpscr
        bne wrong
        cmp r6, #100            @ it did strike
        bls wrong
        mov r4, sp              @ the stack is where it was
        movw r5, #0x2ffc
        movt r5, #0x2000
        cmp r4, r5
        bne wrong
        wfi
wrong:  udf #7
twist:  movs r5, #3             @ flags kept across a handler within a block of its own
        cmp r5, #3
        b 1f
1:      bne wrong
        bx lr
tick:   mrs r2, ipsr
        cmp r2, #15
        bne wrong
        adds r6, #1
        vmov.f32 s0, #2.0
        vmov.f32 s15, #3.0
        mvn r0, #0
        mvn r1, #0
        mvn r2, #0
        mvn r3, #0
        mvn r12, #0
        push {r0, r1}
        pop {r0, r1}
        bx lr
