/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_sites_compile.h - an ELF object's calls to a table of call sites (common/wire/call_sites.h).
 *
 * Runs in the worker child, and in the client for the user's own program. Only call_sites_check is
 * for the daemon itself.
 */
#ifndef HCCT_CALL_SITES_COMPILE_H
#define HCCT_CALL_SITES_COMPILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/wire/call_sites.h"

/* The table of `elf`, malloc'ed, of *bytes bytes. Where the verdict is not CALLS_FOLLOWED it has no
 * sites. NULL: no memory. */
struct call_sites *call_sites_compile(Elf *elf, size_t *bytes);

/* True when a table of `bytes` bytes is consistent: every offset and index is within it, sites are
 * sorted and within the text. */
bool call_sites_check(const void *table, size_t bytes);

#endif
