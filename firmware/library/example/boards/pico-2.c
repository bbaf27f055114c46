/* Raspberry Pi Pico 2: UART0 on GP0, which a serial adapter hears. 150 MHz from its 12 MHz crystal. */
#include "../board.h"

/* RP2350 datasheet: CLOCKS, RESETS, XOSC, PLL, IO_BANK0, PADS_BANK0, UART. */
#define CLK_REF_CTRL REGISTER(0x40010030)
#define CLK_REF_SELECTED REGISTER(0x40010038)
#define CLK_SYS_CTRL REGISTER(0x4001003c)
#define CLK_SYS_SELECTED REGISTER(0x40010044)
#define CLK_PERI_CTRL REGISTER(0x40010048)
#define RESETS_RESET REGISTER(0x40020000)
#define RESETS_DONE REGISTER(0x40020008)
#define GPIO0_CTRL REGISTER(0x40028004)
#define PADS_GPIO0 REGISTER(0x40038004)
#define XOSC_CTRL REGISTER(0x40048000)
#define XOSC_STATUS REGISTER(0x40048004)
#define XOSC_STARTUP REGISTER(0x4004800c)
#define PLL_CS REGISTER(0x40050000)
#define PLL_PWR REGISTER(0x40050004)
#define PLL_FBDIV REGISTER(0x40050008)
#define PLL_PRIM REGISTER(0x4005000c)
#define UART_DR REGISTER(0x40070000)
#define UART_FR REGISTER(0x40070018)
#define UART_IBRD REGISTER(0x40070024)
#define UART_FBRD REGISTER(0x40070028)
#define UART_LCR_H REGISTER(0x4007002c)
#define UART_CR REGISTER(0x40070030)

/* Bits of RESETS. */
#define IO_BANK0 (1u << 6)
#define PADS_BANK0 (1u << 9)
#define PLL_SYS (1u << 14)
#define UART0 (1u << 26)

const char board_id[] = "pico-2";

/* What the boot ROM takes for a program: an image for Arm cores in secure mode (5.9.5, minimum viable metadata). */
__attribute__((section(".boot_block"), used)) static const uint32_t boot_block[5] = {
    0xffffded3, 0x10210142, 0x000001ff, 0x00000000, 0xab123579,
};

static void release(uint32_t peripherals)
{
    RESETS_RESET &= ~peripherals;
    while ((RESETS_DONE & peripherals) != peripherals) {
    }
}

/* 12 MHz * 125 / 5 / 2. */
static void start_clock(void)
{
    XOSC_STARTUP = 47;
    XOSC_CTRL = 0xfabaa0;
    while ((XOSC_STATUS & 1u << 31) == 0) {
    }
    /* Off the PLL, in case that a debugger started this. */
    CLK_SYS_CTRL &= ~1u;
    while (CLK_SYS_SELECTED != 1) {
    }
    CLK_REF_CTRL = 2;
    while (CLK_REF_SELECTED != 4) {
    }
    RESETS_RESET |= PLL_SYS;
    release(PLL_SYS);
    PLL_CS = 1;
    PLL_FBDIV = 125;
    PLL_PWR &= ~(1u | 1u << 5);
    while ((PLL_CS & 1u << 31) == 0) {
    }
    PLL_PRIM = 5u << 16 | 2u << 12;
    PLL_PWR &= ~(1u << 3);
    CLK_SYS_CTRL &= ~(7u << 5);
    CLK_SYS_CTRL |= 1;
    while (CLK_SYS_SELECTED != 2) {
    }
    CLK_PERI_CTRL = 1u << 11;
}

void board_start(void)
{
    start_clock();
    release(IO_BANK0 | PADS_BANK0 | UART0);
    GPIO0_CTRL = 2;
    /* Out of isolation, no pull, 4 mA. */
    PADS_GPIO0 = 1u << 4 | 1u << 1;
    /* 150 MHz / 16 / 115200 = 81 and 24 64ths. */
    UART_IBRD = 81;
    UART_FBRD = 24;
    UART_LCR_H = 3u << 5;
    UART_CR = 1 | 1u << 8;
}

void board_send(char byte)
{
    while ((UART_FR & 1u << 5) != 0) {
    }
    UART_DR = (uint8_t)byte;
}
