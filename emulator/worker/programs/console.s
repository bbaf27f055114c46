@ Says it is ready, takes four bytes one by one as they come, and says whether their sum is 10.
.include "header.inc"
.word 0x20004000, start - base + origin + 1
.rept 14
.word 0
.endr
start:  movw r0, #0x3800        @ RCC: GPIOA, GPIOB, USART1 on
        movt r0, #0x4002
        movs r1, #3
        str r1, [r0, #0x30]
        movs r1, #0x10
        str r1, [r0, #0x44]
        dsb                     @ until the clocks run
        movw r0, #0             @ PA9: function 7
        movt r0, #0x4002
        movs r1, #0x70
        str r1, [r0, #0x24]
        ldr r1, [r0]
        orr r1, #0x80000
        str r1, [r0]
        movw r0, #0x0400        @ PB7: function 7
        movt r0, #0x4002
        mov r1, #0x70000000
        str r1, [r0, #0x20]
        ldr r1, [r0]
        orr r1, #0x8000
        str r1, [r0]
        movw r0, #0x1000        @ USART1, 16 clocks a bit
        movt r0, #0x4001
        movs r1, #16
        str r1, [r0, #0xc]
        movs r1, #0xd
        str r1, [r0]
        adr r1, ready
        bl print
        movs r4, #0
        movs r5, #4
next:   ldr r1, [r0, #0x1c]
        lsls r1, r1, #26        @ RXNE
        bpl next
        ldrb r1, [r0, #0x24]
        add r4, r1
        subs r5, #1
        bne next
        adr r1, done
        cmp r4, #10
        it ne
        adrne r1, error
        bl print
        wfi
print:  ldrb r2, [r1], #1
        cbz r2, 2f
1:      ldr r3, [r0, #0x1c]
        lsls r3, r3, #24        @ TXE
        bpl 1b
        str r2, [r0, #0x28]
        b print
2:      bx lr
        .balign 4
ready:  .asciz "ready 4\r\n"
        .balign 4
done:   .asciz "done\r\n"
        .balign 4
error:  .asciz "error: the sum is wrong\r\n"
