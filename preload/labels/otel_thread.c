/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * otel_thread.c - thread-local variables of other objects, as glibc keeps them: a vector of each
 * thread has the addresses of its modules' blocks. A block that the thread has not used may be
 * missing there although it is, at its place in the static area: that is the same in all threads.
 */
#include "preload/labels/otel_thread.h"

#include <link.h>
#include <stddef.h>

#include "common/wire/compiler.h"
#include "preload/labels/checked.h"
#include "preload/wrap/libc.h"
#include "preload/wrap/next_symbol.h"

#define VARIABLE "otel_thread_ctx_v1"

#if defined(__x86_64__)
#define VECTOR_AT 8u /* of its pointer in a thread's block */
#else
#define VECTOR_AT 0u
#endif
#define ENTRY_BYTES 16u
#define UNUSED      UINT64_MAX

/* The static area ends, on x86-64, or begins at the thread's block. So near to it nothing else
 * is. */
#define STATIC_NEAR 4096u

struct place { /* the loader's tls_index */
    uint64_t module, offset;
};

static int see_object(struct dl_phdr_info *info, size_t size, void *arg) {
    struct place *place = arg;
    if (size <= offsetof(struct dl_phdr_info, dlpi_tls_modid) || info->dlpi_tls_modid == 0 ||
        !symbol_thread_local(info, VARIABLE, &place->offset))
        return 0;
    place->module = info->dlpi_tls_modid;
    return 1;
}

bool otel_variable_find(struct otel_variable *found) {
    struct place place;
    if (libc_iterate_objects(see_object, &place) == 0)
        return false;
    *found = (struct otel_variable){.module = place.module, .offset = place.offset};
    uint64_t (*address)(struct place *) =
        (uint64_t(*)(struct place *))(uintptr_t)next_symbol("__tls_get_addr");
    uint64_t thread = (uint64_t)(uintptr_t)__builtin_thread_pointer();
    uint64_t at = address != NULL ? address(&place) : 0;
    uint64_t distance = at < thread ? thread - at : at - thread;
    bool is_side = VECTOR_AT != 0 ? at < thread : at > thread;
    if (at != 0 && is_side && distance < STATIC_NEAR)
        *found = (struct otel_variable){.is_static = true, .offset = at - thread};
    return true;
}

/* The calling thread's own area and vector are as the loader has made them. Blocks of libraries
 * that were closed are not. */
static uint64_t load(struct checked *c, uint64_t at, bool is_own) {
    return hcct_likely(is_own) ? *(const volatile uint64_t *)at : checked_word(c, at);
}

uint64_t otel_variable_read(const struct otel_variable *variable, struct checked *c,
                            uint64_t thread) {
    bool is_own = thread == (uint64_t)(uintptr_t)__builtin_thread_pointer();
    if (variable->is_static)
        return load(c, thread + variable->offset, is_own);
    uint64_t vector = load(c, thread + VECTOR_AT, is_own);
    if (c->failed || load(c, vector - ENTRY_BYTES, is_own) < variable->module)
        return 0;
    uint64_t block = load(c, vector + ENTRY_BYTES * variable->module, is_own);
    return c->failed || block == UNUSED ? 0 : checked_word(c, block + variable->offset);
}
