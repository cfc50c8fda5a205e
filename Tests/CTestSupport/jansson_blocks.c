#include "jansson_blocks.h"

#include <jansson.h>
#include <stdlib.h>

/* Counted for each thread, so that tests running beside the one that counts do not disturb it. */
static _Thread_local long live;
static _Thread_local long taken;

static void *counting_malloc(size_t size) {
    void *block = malloc(size);
    if (block) {
        live++;
        taken++;
    }
    return block;
}

static void counting_free(void *block) {
    if (block) live--;
    free(block);
}

/* Before any thread is started: blocks are the same with and without the count. */
__attribute__((constructor)) static void count_blocks(void) { json_set_alloc_funcs(counting_malloc, counting_free); }

long hl_jansson_live_blocks(void) { return live; }
long hl_jansson_taken_blocks(void) { return taken; }
