/*
 * Runs a plan of Tilewright inside firmware of your own: C99 and C++.
 *
 *     static TILEWRIGHT_ALIGNED uint8_t arena[TILEWRIGHT_MODEL_ARENA_BYTES];
 *     static tilewright model;
 *
 *     tilewright_memory memory = {0};
 *     memory.arena = arena;
 *     memory.arena_bytes = sizeof arena;
 *     int status = tilewright_open(&model, tilewright_model_plan, TILEWRIGHT_MODEL_PLAN_BYTES,
 *                                  "stm32f746g-disco", &memory);
 *     tilewright_tensor input, output;
 *     tilewright_input(&model, 0, &input);       ... write input.bytes values to input.data ...
 *     status = tilewright_invoke(&model);
 *     tilewright_output(&model, 0, &output);     ... read output.bytes values from output.data ...
 *
 * The names TILEWRIGHT_MODEL_... come from model.h, which `tilewright image --library` writes beside this file.
 *
 * The library allocates nothing, keeps nothing outside of the `tilewright` that it is given, and uses no interrupt and
 * no peripheral. Functions on different models may run at the same time, functions on one model may not. Plan, memories
 * and model must stay where they are, and nobody but the library may write to them, from tilewright_open on: only
 * inputs, between two invokes. Each open model needs memories of its own: weights may stay in its arena. For several
 * models in one firmware make one image, `tilewright image A --with B --library`, and choose with tilewright_select.
 *
 * Functions that can fail return TILEWRIGHT_OK or another status; tilewright_describe says what failed, where, and what
 * to do. Damage to a plan image is found by tilewright_open.
 */
#ifndef TILEWRIGHT_H
#define TILEWRIGHT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The alignment of plan, arena and external RAM, in bytes: a line of the largest cache. */
#define TILEWRIGHT_ALIGNMENT 32
/* Before the type in a definition, or behind the name where a compiler wants it there. */
#define TILEWRIGHT_ALIGNED __attribute__((aligned(TILEWRIGHT_ALIGNMENT)))

/* What functions return. tilewright_status_text has a sentence for each. */
enum tilewright_status {
    TILEWRIGHT_OK = 0,
    /* A pointer that must not be is NULL. */
    TILEWRIGHT_NULL_POINTER = 1,
    /* A pointer is not aligned as it must be. */
    TILEWRIGHT_MISALIGNED = 2,
    /* Memories overlap, or a size is none that memory can have. */
    TILEWRIGHT_BAD_MEMORY = 3,
    /* tilewright_open has not succeeded on this model. */
    TILEWRIGHT_NOT_OPEN = 4,
    /* The function was called from a callback of the same model; tilewright_describe stays as it was. */
    TILEWRIGHT_BUSY = 5,
    /* The plan image is cut short, damaged, or none. */
    TILEWRIGHT_BAD_PLAN = 6,
    /* The plan image was made by another version of Tilewright than this library. */
    TILEWRIGHT_OTHER_VERSION = 7,
    /* The plan image was made for another board. */
    TILEWRIGHT_OTHER_BOARD = 8,
    /* The plan needs more of a memory than it was given. */
    TILEWRIGHT_MEMORY_TOO_SMALL = 9,
    /* The plan does something that this library cannot. */
    TILEWRIGHT_UNSUPPORTED = 10,
    /* External flash or card hold something else than belongs to the plan. */
    TILEWRIGHT_BAD_STORE = 11,
    /* There is no such input, output, layer, label or program; or no such output after an early exit. */
    TILEWRIGHT_OUT_OF_RANGE = 12,
    /* The card failed for good. */
    TILEWRIGHT_CARD_FAILED = 13,
    /* A step failed: the plan or a memory was overwritten. */
    TILEWRIGHT_RUN_FAILED = 14
};

/* Bytes of a sector of a card. */
#define TILEWRIGHT_SECTOR_BYTES 512

/*
 * A card, for plans that swap tensors or bring weights from one. Both functions move whole sectors, the first of them
 * `sector`, and return once that is done: 0, or a number of your own that tilewright_describe repeats. `memory` lies in
 * the arena or in external RAM, aligned to 4 bytes at least. With a data cache and DMA, clean its lines before and
 * invalidate them afterwards yourself; the first and the last may hold other bytes too.
 */
typedef struct tilewright_card {
    /* The first argument of both. */
    void *context;
    /* Sectors of the card. */
    uint32_t sectors;
    int (*read)(void *context, uint32_t sector, uint32_t sectors, void *memory);
    int (*write)(void *context, uint32_t sector, uint32_t sectors, const void *memory);
} tilewright_card;

/* The memories that a plan may use. What model.h gives no bytes for can be NULL and 0. */
typedef struct tilewright_memory {
    /* SRAM for tensors: TILEWRIGHT_MODEL_ARENA_BYTES. */
    void *arena;
    size_t arena_bytes;
    /* External RAM that the core can address: TILEWRIGHT_MODEL_EXTERNAL_RAM_BYTES. It must be Normal memory: kernels
     * access unaligned words, which fault in Device memory, and 0xa0000000 to 0xdfffffff (SDRAM of an STM32) is that
     * until a region of the MPU says otherwise. CCR.UNALIGN_TRP must be 0. */
    void *external_ram;
    size_t external_ram_bytes;
    /* External flash, memory-mapped, with the contents of model.flash: TILEWRIGHT_MODEL_EXTERNAL_FLASH_BYTES. */
    const void *external_flash;
    size_t external_flash_bytes;
    /* A card with the contents of model.card: TILEWRIGHT_MODEL_CARD_SECTORS. It is copied. */
    const tilewright_card *card;
} tilewright_memory;

/* 64-bit words of a `tilewright`. */
#define TILEWRIGHT_WORDS (11 * sizeof(void *))

/* A model that is open. What it holds is the library's. Zero it before its first tilewright_open (static storage is
 * zero), after a reset that kept its memory, and when a call on it was abandoned: callbacks must return. */
typedef struct tilewright {
    uint64_t private_words[TILEWRIGHT_WORDS];
} tilewright;

/* An input or output: int8 values, rows of pixels of channels (NHWC). Real value = scale * (value - zero_point). */
typedef struct tilewright_tensor {
    /* Valid until the next tilewright_open or tilewright_select of the model. An input may be overwritten by an
     * invoke: write it before each. */
    int8_t *data;
    size_t bytes;
    uint32_t height;
    uint32_t width;
    uint32_t channels;
    float scale;
    int32_t zero_point;
} tilewright_tensor;

/*
 * Checks a plan image once, whole, with the memories that it may use, and runs what it has to run once. `board` is the
 * id of the board that this firmware is for: another board's plan is refused. Opening a model again is fine. Of external
 * flash and card only the header is read; contents are compared as they are copied, if the plan has checksums.
 */
int tilewright_open(tilewright *model, const void *plan, size_t plan_bytes, const char *board,
                    const tilewright_memory *memory);

/* Computes the outputs of the inputs. */
int tilewright_invoke(tilewright *model);

/* Numbers of inputs and outputs, of all frames of a run; 0 if the model is not open. */
uint32_t tilewright_inputs(const tilewright *model);
uint32_t tilewright_outputs(const tilewright *model);

/* An input or output by its number. After an early exit the outputs behind it are out of range. */
int tilewright_input(const tilewright *model, uint32_t index, tilewright_tensor *tensor);
int tilewright_output(const tilewright *model, uint32_t index, tilewright_tensor *tensor);

/*
 * Chooses the program that the next invokes run, where a plan image has several: of sub-networks the largest that meets
 * a limit of latency in microseconds, else the fastest; or a program by its number in model.h. The first one is chosen at
 * first. Latencies are those of the board's own firmware: plans that copy by DMA or card take longer here.
 */
#define TILEWRIGHT_PROGRAM(number) (UINT32_C(0x80000000) + (number))
int tilewright_select(tilewright *model, uint32_t limit_us);

/*
 * Hears of each step: once as it begins, once as it ends (`is_end` 0 or 1). Of what stands between, a step's layer is
 * the number that tilewright_layer_name takes. It may call functions that take a const model. A run that begins anew,
 * since a card lost a sector, is heard of anew. NULL: nobody hears.
 */
typedef void (*tilewright_observer)(void *context, uint32_t step, uint32_t layer, int is_end);
int tilewright_observe(tilewright *model, tilewright_observer observer, void *context);

/* Number of layers; 0 if the model is not open. */
uint32_t tilewright_layers(const tilewright *model);

/*
 * Texts. As snprintf does, each writes at most `bytes` bytes, the last of them 0, and returns how many the whole text
 * has without that. `text` may be NULL if `bytes` is 0.
 */
size_t tilewright_layer_name(const tilewright *model, uint32_t layer, char *text, size_t bytes);
/* A class label of an output, in UTF-8; empty if the model has none. */
size_t tilewright_label(const tilewright *model, uint32_t output, uint32_t label, char *text, size_t bytes);
/* What the last tilewright_open, tilewright_invoke, tilewright_select or tilewright_observe said: what failed, where,
 * and what to do. Empty if it succeeded. */
size_t tilewright_describe(const tilewright *model, char *text, size_t bytes);

/* Step and layer at which the last invoke failed; -1 if it did not, or at none. */
int32_t tilewright_failed_step(const tilewright *model);
int32_t tilewright_failed_layer(const tilewright *model);

/* A sentence for a status, which ends in a 0 byte. */
const char *tilewright_status_text(int status);

#ifdef __cplusplus
}
#endif

#endif
