/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * code.h - what is to be known of the code of a process before the loader is called in it: where
 * the functions are, and where a thread may hold a lock that the loader takes.
 */
#ifndef HCCT_ATTACH_CODE_H
#define HCCT_ATTACH_CODE_H

#include "client/attach/target.h"
#include "common/wire/attach.h"

#define CODE_LOCKED_MAX 64

struct code_part {
    uint64_t from, to;
};

struct code {
    uint64_t dlopen, syscall, tgkill; /* functions; of the last two 0: there is none */
    uint64_t sigreturn;  /* sigreturn: an instruction that makes the call of its number */
    uint64_t errno_slot; /* where the distance of errno from the thread pointer is */
    struct code_part locked[CODE_LOCKED_MAX]; /* loader, malloc, and the like */
    size_t n_agent, n_loader, n_locked;       /* the agent's own are first, then the loader's */
    uint64_t waits; /* where calls return to that threads of the application make by the agent: it
                     * holds nothing there; 0: there is no such place */
    struct code_part passed[WIRE_ATTACH_PARTS]; /* of the agent's, what the application calls in
                                                 * place of libc's malloc and locks: nor does it
                                                 * there */
    size_t n_passed;
    bool own_malloc; /* the program brings a malloc of its own, whose code can't be known */
};

enum code_fault { CODE_FINE, CODE_NO_LIBC, CODE_OLD_LIBC, CODE_STRANGE_LIBC };

/* Reads it of a process, stopped or not. `ours`: the end of the path of a library that is the
 * agent, whose code counts as locked, too. */
enum code_fault code_read(struct code *code, const struct target *target, const char *ours);

/* Whether a thread whose pc is there, or which will return to there, may hold a lock of the first
 * `ranges`. */
bool code_is_locked(const struct code *code, size_t ranges, uint64_t address);

/* The first byte of the object whose path ends like that, as it is mapped; 0: it is not. */
uint64_t code_base_of(const struct target *target, const char *end_of_path);

#endif
