/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * inject.h - the agent's library is loaded into a process that runs, and its function called there.
 */
#ifndef HCCT_ATTACH_INJECT_H
#define HCCT_ATTACH_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/wire/attach.h"

enum injected {
    INJECTED,         /* request->answer says the rest */
    INJECT_NO_RIGHTS, /* the kernel refuses to trace it */
    INJECT_GONE,      /* it has ended */
    INJECT_NO_LIBC,
    INJECT_OLD_LIBC,
    INJECT_STRANGE_LIBC,
    INJECT_NOT_LOADED,  /* the loader could not load the library */
    INJECT_NEVER_SAFE,  /* within the time no thread was at a safe point */
    INJECT_AGAIN,       /* a thread did not stop in time: all were let go */
    INJECT_NOT_IN_TIME, /* a function took too long; it goes on by itself */
    INJECT_CONFINED,    /* a seccomp filter forbids what the agent does */
    INJECT_BROKEN,      /* the function ended with a fault */
    INJECT_NOT_HERE,    /* not on this kind of machine */
};

struct injection {
    pid_t pid;
    const char *agent_path; /* absolute path; NULL: it is loaded already */
    bool sends;             /* the process does not see that path: it is given the file */
    double seconds;         /* to find a safe point */
    struct wire_attach request;
    size_t from;         /* WAKE: the first of its threads to be read; result: the next one,
                          * 0: all were */
    uint64_t stopped_ns; /* result: so long was a thread stopped */
    unsigned stops;      /* result: so many times */
    int sent_as;         /* its descriptor there, plus one; 0: there is none */
    bool own_malloc;     /* result: its executable has a malloc of its own */
    bool was_late;       /* result: a function was left to itself, and may have done all by now */
};

/* The end of the library's path, by which it is found among the mappings. */
#define INJECT_LIBRARY "/libhcctattach.so"

/* Whether it can be done on this kind of machine. */
bool inject_is_possible_here(void);

/* Works in a process of its own, whose end lets everything go. */
enum injected inject(struct injection *injection);

/* A sentence about a result, without a full stop. */
const char *inject_words(enum injected result);

#endif
