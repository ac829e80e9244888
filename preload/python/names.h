/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * names.h - names of functions of Python, sent to the daemon once by each thread.
 *
 * A name is "qualified name (file)", with the last part of the file's path: it is the same in each
 * run, and after lines have moved. Code objects are freed, and others come to stand at their
 * addresses: a thread tells a name again when the texts that the object refers to, or its table of
 * lines, are others.
 */
#ifndef HCCT_PYTHON_NAMES_H
#define HCCT_PYTHON_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/life/thread.h"

struct python_sent;

enum python_code {
    PYTHON_CODE_SENT,     /* the daemon knows its name */
    PYTHON_CODE_NEW,      /* it does not */
    PYTHON_CODE_NAMELESS, /* the interpreter has made it for itself */
    PYTHON_CODE_NONE,     /* it is none, or can't be read */
};

/* What stands at an address, and what tells it from others: *it. Of one that is sent three words
 * are read, as each may have to come from far away. Signal context. */
enum python_code python_code_at(struct python_thread *python, uint64_t code,
                                struct python_sent *it);

/* It is still there, and that one. Its memory is read as it is. Signal context. */
bool python_code_is(const struct python_sent *it);

/* Tells its name. False: the ring has no room. Signal context, inside the session. */
bool python_name_tell(struct agent_thread *thread, struct wire_slot *slot, uint64_t code);

#endif
