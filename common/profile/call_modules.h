/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_modules.h - modules whose calls were to be followed: what was found in each, what was done,
 * and what was left out and why.
 *
 * A profile has them as a text in a process's field, so that they go wherever its other fields go:
 *
 *   PATH,VERDICT,times,found,plt,sites,redirected,missed,covered,left ...;PATH,...
 *
 * The numbers are as of struct call_module, `left` once for each reason. In PATH the characters , ;
 * % and control characters are %XX.
 */
#ifndef HCCT_CALL_MODULES_H
#define HCCT_CALL_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/call_sites.h"

struct call_module {
    char *path;
    enum calls_verdict verdict;
    uint64_t times;      /* processes that had it, each mapping of a library that came again */
    uint64_t found, plt; /* direct calls, and of them through the PLT */
    uint64_t sites;      /* of the direct calls, those that can be redirected */
    uint64_t redirected; /* of the sites, those that were */
    uint64_t missed_ns;  /* time in which calls of it were not followed: it was loaded meanwhile */
    uint64_t covered;    /* bytes of code in unwind entries */
    uint64_t left[CALL_LEFT_REASONS];
};

#define CALL_MODULES_MAX 256u /* of one list: more are left out */

struct call_modules {
    struct call_module *list;
    size_t n, room;
};

/* What a table of call sites says of a module; its path is the caller's. */
struct call_module call_module_of(const struct call_sites *sites, char *path);

/* Adds a copy, or counts it with one of equal path and verdict; of two numbers the larger one
 * stays. False: no memory, or no room, and nothing has changed. */
bool call_modules_add(struct call_modules *modules, const struct call_module *module);
bool call_modules_add_all(struct call_modules *modules, const struct call_modules *others);

/* Adds those of a text. What is none is skipped. False: some found no room. */
bool call_modules_read(struct call_modules *modules, const char *text);

/* The text, malloc'ed. NULL: no memory. */
char *call_modules_write(const struct call_modules *modules);

void call_modules_clear(struct call_modules *modules);

#endif
