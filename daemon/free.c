/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * free.c - free() for hcctd, which is linked with --wrap=free: an answer that fails for want of
 * memory gives back what it holds (memory.h), and must know what it does not hold any more.
 */
#include "common/base/memory.h"

void __real_free(void *memory);
void __wrap_free(void *memory);

void __wrap_free(void *memory) {
    memory_forget(memory);
    __real_free(memory);
}
