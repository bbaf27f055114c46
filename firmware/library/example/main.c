/*
 * Computes one input and says the outputs on the serial port: `output <number> <hexadecimal bytes>`, after the cycles
 * of each layer and of the whole. The input is made of pseudo-random numbers, so that anybody can compute the same.
 */
#include <stddef.h>
#include <stdint.h>

#include "board.h"
#include "model.h"

#define DEMCR REGISTER(0xe000edfc)
#define DWT_CTRL REGISTER(0xe0001000)
#define DWT_CYCCNT REGISTER(0xe0001004)
#define DWT_LAR REGISTER(0xe0001fb0)

static TILEWRIGHT_ALIGNED uint8_t arena[TILEWRIGHT_MODEL_ARENA_BYTES];
static tilewright model;

/* Cycles of each layer, and when its step began. */
static uint32_t layer_cycles[TILEWRIGHT_MODEL_LAYERS];
static uint32_t began;

static void say(const char *text)
{
    while (*text != 0) {
        board_send(*text++);
    }
}

static void say_number(uint32_t number)
{
    char digits[11];
    char *first = digits + sizeof digits - 1;
    *first = 0;
    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    say(first);
}

static void say_hexadecimal(const int8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t index = 0; index < count; index++) {
        uint8_t byte = (uint8_t)bytes[index];
        board_send(digits[byte >> 4]);
        board_send(digits[byte & 15]);
    }
}

static void hear(void *context, uint32_t step, uint32_t layer, int is_end)
{
    (void)context;
    (void)step;
    if (is_end) {
        layer_cycles[layer] += DWT_CYCCNT - began;
    } else {
        began = DWT_CYCCNT;
    }
}

/* Marsaglia's xorshift with 32 bits. */
static void fill(const tilewright_tensor *tensor, uint32_t *state)
{
    for (size_t index = 0; index < tensor->bytes; index++) {
        *state ^= *state << 13;
        *state ^= *state >> 17;
        *state ^= *state << 5;
        tensor->data[index] = (int8_t)(*state >> 24);
    }
}

/* Whether a call did what it should; says why not. */
static int is_done(const char *what, int status)
{
    char text[160];
    if (status == TILEWRIGHT_OK) {
        return 1;
    }
    tilewright_describe(&model, text, sizeof text);
    say("error: ");
    say(what);
    say(": ");
    say(text[0] != 0 ? text : tilewright_status_text(status));
    say("\r\n");
    return 0;
}

static void run(void)
{
    tilewright_memory memory = {0};
    tilewright_tensor tensor;
    uint32_t random = 2463534242u;
    uint32_t cycles;

    memory.arena = arena;
    memory.arena_bytes = sizeof arena;
    cycles = DWT_CYCCNT;
    if (!is_done("open", tilewright_open(&model, tilewright_model_plan, TILEWRIGHT_MODEL_PLAN_BYTES,
                                         board_id, &memory))) {
        return;
    }
    cycles = DWT_CYCCNT - cycles;
    say("open ");
    say_number(cycles);
    say("\r\n");

    for (uint32_t index = 0; index < tilewright_inputs(&model); index++) {
        if (is_done("input", tilewright_input(&model, index, &tensor))) {
            fill(&tensor, &random);
        }
    }
    tilewright_observe(&model, hear, NULL);
    cycles = DWT_CYCCNT;
    if (!is_done("invoke", tilewright_invoke(&model))) {
        return;
    }
    cycles = DWT_CYCCNT - cycles;

    for (uint32_t layer = 0; layer < tilewright_layers(&model); layer++) {
        char name[64];
        tilewright_layer_name(&model, layer, name, sizeof name);
        say("layer ");
        say_number(layer);
        say(" ");
        say_number(layer_cycles[layer]);
        say(" ");
        say(name);
        say("\r\n");
    }
    for (uint32_t index = 0; index < tilewright_outputs(&model); index++) {
        if (is_done("output", tilewright_output(&model, index, &tensor))) {
            say("output ");
            say_number(index);
            say(" ");
            say_hexadecimal(tensor.data, tensor.bytes);
            say("\r\n");
        }
    }
    say("invoke ");
    say_number(cycles);
    say("\r\n");
}

int main(void)
{
    board_start();
    DEMCR |= 1u << 24;
    DWT_LAR = 0xc5acce55;
    DWT_CYCCNT = 0;
    DWT_CTRL |= 1;

    say("example on ");
    say(board_id);
    say("\r\n");
    run();
    say("done\r\n");
    return 0;
}
