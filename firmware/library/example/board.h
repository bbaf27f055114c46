/* What the example needs of a board. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

/* Id of the board, as Tilewright knows it: plans for another are refused. */
extern const char board_id[];

/* Starts clocks, caches and the serial port: 115200 baud, 8N1. */
void board_start(void);

/* Sends a byte. */
void board_send(char byte);

/* A register. */
#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

#endif
