/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * runtime.c - by its exported symbols, which a stripped interpreter has, too.
 */
#include "preload/python/runtime.h"

#include <dlfcn.h>
#include <pthread.h>

#include "common/wire/compiler.h"
#include "preload/life/agent.h"
#include "preload/wrap/next_symbol.h"
#include "preload/wrap/real.h"

struct python_runtime python_runtime;

/* Before the key of 3.11 is the interpreter's lock, of two of libc's, whose size is not the same on
 * x86-64 and aarch64. */
static const struct python_layout layouts[] = {
    {.version = 0x30b,
     .thread_key = 512 + 2 * sizeof(pthread_mutex_t),
     .thread_id = 152,
     .top = 56,
     .cframe_top = 8,
     .cframe_previous = 16,
     .code = 32,
     .previous = 48,
     .entry = 68,
     .is_entry = 1,
     .name = 128,
     .file = 112,
     .lines = 136,
     .length = 16,
     .state = 32,
     .ascii = 48,
     .wide = 72},
    {.version = 0x30c,
     .thread_key = 1544,
     .thread_id = 136,
     .top = 56,
     .cframe_top = 0,
     .cframe_previous = 8,
     .code = 0,
     .previous = 8,
     .entry = 70,
     .is_entry = 3,
     .entry_is_empty = true,
     .name = 128,
     .file = 112,
     .lines = 136,
     .length = 16,
     .state = 32,
     .ascii = 40,
     .wide = 56},
    {.version = 0x30d,
     .thread_key = 2160,
     .thread_id = 152,
     .top = 72,
     .code = 0,
     .previous = 8,
     .entry = 70,
     .is_entry = 3,
     .entry_is_empty = true,
     .name = 128,
     .file = 112,
     .lines = 136,
     .length = 16,
     .state = 32,
     .ascii = 40,
     .wide = 56},
};

static const struct python_layout *layout_of(uint64_t version) {
    for (unsigned i = 0; i < HCCT_ARRAY_LEN(layouts); i++)
        if (layouts[i].version == version >> 16)
            return &layouts[i];
    return NULL;
}

static void say(const char *what) {
    settings_say(&agent.settings, false, "functions of Python are not shown: ", what);
}

/* What the loader knows of the object that has the loop of the interpreter. */
static bool find_module(struct python_runtime *runtime) {
    struct dl_find_object found;
    void *loop = symbol_anywhere("_PyEval_EvalFrameDefault");
    if (loop == NULL || real_dl_find_object(loop, &found) != 0)
        return false;
    runtime->start = (uint64_t)found.dlfo_map_start;
    runtime->end = (uint64_t)found.dlfo_map_end;
    return true;
}

/* layout NULL: there is none that is known, which is said. */
static struct python_runtime find(void) {
    const unsigned long *version = symbol_anywhere("Py_Version");
    struct python_runtime found = {
        .at = (uint64_t)symbol_anywhere("_PyRuntime"),
        .code_type = (uint64_t)symbol_anywhere("PyCode_Type"),
        .text_type = (uint64_t)symbol_anywhere("PyUnicode_Type"),
    };
    if (version == NULL || found.at == 0 || found.code_type == 0 || found.text_type == 0 ||
        !find_module(&found)) {
        say("there is no CPython in the program, or one older than 3.11");
        return found;
    }
    found.layout = layout_of(*version);
    if (found.layout == NULL)
        say("it is of another version than 3.11 to 3.13");
    return found;
}

void python_start(void) {
    if (agent.settings.python && python_runtime.layout == NULL)
        python_runtime = find();
    agent.settings.python &= python_runtime.layout != NULL;
}
