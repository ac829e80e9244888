/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * dl.c - after a dlclose, other code may stand where the object was; after a dlopen there may be
 * objects that nobody knows yet; and stubs, which are no object, have an unwind entry, so that
 * exceptions, cancellation and backtraces of a signal handler that has interrupted one get on.
 */
#include <dlfcn.h>

#include "preload/calls/calls.h"
#include "preload/life/agent.h"
#include "preload/life/hooks.h"
#include "preload/life/modules.h"
#include "preload/redirect/redirect.h"
#include "preload/wrap/real.h"

#if defined(__x86_64__)

/* dlopen, dlsym and their like take note of their caller: so what stands before them asks first,
 * and jumps to libc's, with all arguments and the return address as they were. */
#define BEFORE(name)                                                                               \
    ".globl " #name "\n"                                                                           \
    ".type " #name ", @function\n"                                                                 \
    ".p2align 4\n" #name ":\n"                                                                     \
    ".cfi_startproc\n"                                                                             \
    "endbr64\n"                                                                                    \
    "pushq %rdi\n.cfi_adjust_cfa_offset 8\n"                                                       \
    "pushq %rsi\n.cfi_adjust_cfa_offset 8\n"                                                       \
    "pushq %rdx\n.cfi_adjust_cfa_offset 8\n"                                                       \
    "call before_" #name "\n"                                                                      \
    "popq %rdx\n.cfi_adjust_cfa_offset -8\n"                                                       \
    "popq %rsi\n.cfi_adjust_cfa_offset -8\n"                                                       \
    "popq %rdi\n.cfi_adjust_cfa_offset -8\n"                                                       \
    "jmp *%rax\n"                                                                                  \
    ".cfi_endproc\n"                                                                               \
    ".size " #name ", . - " #name "\n"

__asm__(".text\n" BEFORE(dlopen) BEFORE(dlmopen) BEFORE(dlsym) BEFORE(dlvsym));

#define CALLED_THERE __attribute__((used, visibility("hidden")))

CALLED_THERE void *before_dlopen(const char *file, int mode);
CALLED_THERE void *before_dlmopen(void);
CALLED_THERE void *before_dlsym(void);
CALLED_THERE void *before_dlvsym(void);

static void opening(void) {
    redirect_opening();
    if (agent_hooks.opening != NULL)
        agent_hooks.opening();
}

static void opened(bool wait) {
    redirect_learn_opened(wait);
    if (agent_hooks.opened != NULL)
        agent_hooks.opened();
}

void *before_dlopen(const char *file, int mode) {
    (void)file;
    if ((mode & RTLD_DEEPBIND) != 0)
        redirect_opens_apart();
    opening();
    return real_dl(REAL_DLOPEN);
}

void *before_dlmopen(void) {
    redirect_opens_apart();
    opening();
    return real_dl(REAL_DLMOPEN);
}

void *before_dlsym(void) {
    opened(true);
    return real_dl(REAL_DLSYM);
}

void *before_dlvsym(void) {
    opened(true);
    return real_dl(REAL_DLVSYM);
}

#endif

hcct_export int dlclose(void *handle) {
    redirect_learn_opened(false);
    modules_closing();
    redirect_closing();
    if (agent_hooks.closing != NULL)
        agent_hooks.closing();
    int result = real_dlclose(handle);
    modules_closed();
    calls_invalidate();
    redirect_closed();
    if (agent_hooks.opened != NULL)
        agent_hooks.opened();
    return result;
}

hcct_export int _dl_find_object(void *address, struct dl_find_object *found) {
    if (hcct_unlikely(redirect_find_object((uint64_t)address, found)))
        return 0;
    return real_dl_find_object(address, found);
}
