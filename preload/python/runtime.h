/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * runtime.h - the CPython that a program is, or has in it: where it keeps what, by its version.
 *
 * Of an interpreter nothing is called, and nothing is written to it. Each version has its own
 * layout, which is a line of a table; one that has no line is left alone.
 */
#ifndef HCCT_PYTHON_RUNTIME_H
#define HCCT_PYTHON_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

/* Offsets in bytes. A run of the interpreter's loop executes a chain of frames, from the one that
 * is at work to the one that the run began with. */
struct python_layout {
    uint32_t version;    /* major << 8 | minor */
    uint32_t thread_key; /* in _PyRuntime: Py_tss_t of a thread's PyThreadState */

    /* in a PyThreadState */
    uint16_t thread_id; /* as pthread_self() */
    uint16_t top;       /* of its innermost frame; where there are cframes, of the innermost one */
    /* in a cframe, which lies on the stack of each run; both 0: there are none */
    uint16_t cframe_top, cframe_previous;

    /* in a frame */
    uint16_t code, previous;
    uint16_t entry;      /* a byte ... */
    uint8_t is_entry;    /* ... that has this value in the last frame of a run; */
    bool entry_is_empty; /* that one executes nothing, and lies on the stack of the run */

    /* in a code object, and in a text */
    uint16_t name, file, lines; /* next to each other; lines: a table of their own */
    uint16_t length, state;     /* of a text */
    uint16_t ascii, wide;       /* where its characters begin: of ASCII, and of others */
};

struct python_runtime {
    const struct python_layout *layout; /* NULL: no functions of Python are shown */
    uint64_t at;                        /* _PyRuntime */
    uint64_t code_type, text_type;
    uint64_t start, end; /* the module that has its loop */
};

extern struct python_runtime python_runtime __attribute__((visibility("hidden")));

/* Where the settings ask for functions of Python, looks for an interpreter among the objects that
 * are there; without one they ask for none any more. Process context, while no object is opened or
 * closed, and before any thread has a context. */
void python_start(void);

#endif
