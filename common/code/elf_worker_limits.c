/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * elf_worker_limits.c - what the worker child takes from itself.
 *
 * It must go on reading what only root may read: debug files and users' programs. So when it starts
 * as root, it becomes nobody, with the one capability to read any file, and writes none.
 */
#include "common/code/elf_worker_limits.h"

#include <stdbool.h>
#include <stdlib.h>

#include "common/base/confine.h"

#define MEMORY_MAX (4ull << 30)

/* debuginfod's client, when the user wants it, keeps what it fetches in the user's cache. */
static bool may_download(void) {
    const char *servers = getenv("DEBUGINFOD_URLS");
    return servers != NULL && servers[0] != '\0';
}

void elf_worker_limit_self(void) {
    confine_memory(MEMORY_MAX);
    if (!may_download()) {
        confine_files(0);
        confine_user();
    }
    confine_rights(true);
}
