/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * thread.h - what is kept for each thread whose functions of Python are shown.
 *
 * A mapping of its own, which is made only where they are asked for; of its arrays so much is
 * touched as the thread's stacks are deep.
 */
#ifndef HCCT_PYTHON_THREAD_H
#define HCCT_PYTHON_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/wire/wire.h"
#include "preload/sample/stack.h"
#include "preload/sample/unwind_types.h"

#define PYTHON_SENT_BITS 10
#define PYTHON_PROBES    16u
#define PYTHON_KNOWN     512u

/* A code object whose name the daemon has from this thread, and what tells it from another one that
 * has come to stand at its address. */
struct python_sent {
    uint64_t code, name, file, lines;
};

/* A function that is being executed, and the frame of the memo that executes it. */
struct python_found {
    uint64_t code;
    uint32_t native;
    bool sent;
};

/* A frame as the last walk found it, with the function that it executes, whose name was sent. */
struct python_known {
    uint64_t at, previous;
    struct python_sent function;
    bool is_last; /* of its run */
};

struct python_thread {
    bool has_sent;
    uint32_t depth;     /* of the last context that was shown with functions of Python ... */
    uint32_t same;      /* ... and how much of it is in the one that is being made */
    uint64_t low, high; /* of the thread's own stack, what is above its stack pointer */
    struct stack_probe probe[PYTHON_PROBES];
    uint32_t n_known;                           /* frames of the last walk, ... */
    uint32_t turn;                              /* ... in this one of both lists */
    struct python_known known[2][PYTHON_KNOWN]; /* innermost first, as far as they go */
    char text[WIRE_NAME_MAX];
    struct python_sent sent[1u << PYTHON_SENT_BITS];
    struct unwind_frame frame[WIRE_MAX_FRAMES]; /* outermost first */
    struct python_found found[WIRE_MAX_FRAMES]; /* innermost first */
    struct stack_page page[PYTHON_PROBES][STACK_PAGES];
};

/* It is empty. Process context. */
static inline void python_thread_begin(struct python_thread *python) {
    for (unsigned i = 0; i < PYTHON_PROBES; i++)
        python->probe[i].copy = python->page[i];
}

/* The daemon is another one, or takes the thread for another: it knows nothing. Any context. */
static inline void python_thread_forget(struct python_thread *python) {
    if (python->has_sent)
        memset(python->sent, 0, sizeof python->sent);
    python->has_sent = false;
    python->depth = 0;
    python->n_known = 0;
}

/* What was read holds for one sample. The next one reads the same pages in all likelihood: where
 * they are few, they are read at once. Signal context. */
static inline void python_read_anew(struct python_thread *python) {
    struct stack_ahead ahead[STACK_AHEAD];
    unsigned n = 0;
    for (unsigned i = 0; i < PYTHON_PROBES; i++) {
        struct stack_probe *probe = &python->probe[i];
        for (unsigned k = 0; k < STACK_PAGES; k++) {
            if (probe->page[k] != 0 && n++ < STACK_AHEAD)
                ahead[n - 1] = (struct stack_ahead){probe, probe->page[k]};
        }
        stack_forget(probe);
    }
    if (n <= STACK_AHEAD)
        stack_read_ahead(ahead, n);
}

/* Reads an aligned word that may not be there. Signal context. */
static inline bool python_read(struct python_thread *python, uint64_t at, uint64_t *word) {
    if (at - python->low < python->high - python->low && (at & 7) == 0) {
        *word = *(const volatile uint64_t *)at;
        return true;
    }
    return stack_read(&python->probe[at / WIRE_PAGE / 4 % PYTHON_PROBES], at, word);
}

#endif
