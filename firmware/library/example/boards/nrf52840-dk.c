/* nRF52840 DK: UART0 on P0.06, which the J-Link's virtual COM port hears (nRF52840 DK hardware user guide). */
#include "../board.h"

#define TX_PIN 6

/* nRF52840 PS: CLOCK, NVMC, P0, UART. */
#define CLOCK_TASKS_HFCLKSTART REGISTER(0x40000000)
#define CLOCK_EVENTS_HFCLKSTARTED REGISTER(0x40000100)
#define NVMC_ICACHECNF REGISTER(0x4001e540)
#define P0_OUTSET REGISTER(0x50000508)
#define P0_PIN_CNF(pin) REGISTER(0x50000700 + 4 * (pin))
#define UART_TASKS_STARTTX REGISTER(0x40002008)
#define UART_EVENTS_TXDRDY REGISTER(0x4000211c)
#define UART_ENABLE REGISTER(0x40002500)
#define UART_PSELTXD REGISTER(0x4000250c)
#define UART_TXD REGISTER(0x4000251c)
#define UART_BAUDRATE REGISTER(0x40002524)

const char board_id[] = "nrf52840-dk";

void board_start(void)
{
    NVMC_ICACHECNF = 1;
    /* The crystal: the oscillator that runs after reset is not exact enough for the baud rate. */
    CLOCK_TASKS_HFCLKSTART = 1;
    while (CLOCK_EVENTS_HFCLKSTARTED == 0) {
    }
    P0_OUTSET = 1u << TX_PIN;
    /* Output, input buffer disconnected. */
    P0_PIN_CNF(TX_PIN) = 3;
    UART_PSELTXD = TX_PIN;
    UART_BAUDRATE = 0x01d60000;
    UART_ENABLE = 4;
    UART_TASKS_STARTTX = 1;
}

void board_send(char byte)
{
    UART_EVENTS_TXDRDY = 0;
    UART_TXD = (uint8_t)byte;
    while (UART_EVENTS_TXDRDY == 0) {
    }
}
