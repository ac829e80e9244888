/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * got.c - words of relocations, and the rights of their pages.
 *
 * Whether a page is writable the kernel tells by a futex operation that writes back what it has
 * read there, atomically, and answers EFAULT where it may not.
 */
#include "preload/redirect/got.h"

#include <elf.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "common/wire/wire.h"
#include "preload/life/sys.h"
#include "preload/redirect/dynamic.h"

#if defined(__x86_64__)
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#define GLOB_DAT  R_X86_64_GLOB_DAT
#else
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#define GLOB_DAT  R_AARCH64_GLOB_DAT
#endif

struct visit {
    const struct got_object *object;
    void (*take)(void *arg, const struct got_word *word);
    void *arg;
};

/* Not one that the loader has yet to fill, or that it leaves empty (a weak symbol). */
static void visit(void *arg, const ElfW(Rela) * relocation, const ElfW(Sym) * symbol,
                  const char *name) {
    const struct visit *v = arg;
    const struct got_object *object = v->object;
    uint64_t type = ELF64_R_TYPE(relocation->r_info), at = object->bias + relocation->r_offset;
    (void)symbol;
    if ((type != JUMP_SLOT && type != GLOB_DAT) || at % sizeof(uintptr_t) != 0 ||
        at < object->start || at + sizeof(uintptr_t) > object->end)
        return;
    struct got_word word = {.at = (uintptr_t *)at, .name = name, .slot = type == JUMP_SLOT};
    uintptr_t value = *(volatile uintptr_t *)word.at;
    if (value == 0)
        return;
    word.lazy = type == JUMP_SLOT && value >= object->start && value < object->end;
    v->take(v->arg, &word);
}

void got_words(const struct got_object *object,
               void (*take)(void *arg, const struct got_word *word), void *arg) {
    struct visit v = {object, take, arg};
    struct dynamic d = {0};
    dynamic_read(object->dynamic, &d);
    (object->own ? dynamic_references : dynamic_imports)(&d, visit, &v);
}

/* ---- rights ---- */

static uint64_t page_of(const uintptr_t *at) {
    return (uintptr_t)at & ~(uint64_t)(WIRE_PAGE - 1);
}

static bool is_writable(uint64_t page) {
    const unsigned or_nothing = (unsigned)FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0);
    return sys6(SYS_futex, page, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0, page, or_nothing) !=
           -EFAULT;
}

void got_done(struct got_pages *pages) {
    if (pages->open != 0)
        sys3(SYS_mprotect, pages->open, WIRE_PAGE, PROT_READ);
    pages->open = 0;
}

static bool open_page(struct got_pages *pages, uint64_t page) {
    if (pages->open == page || pages->same == page)
        return true;
    got_done(pages);
    if (is_writable(page)) {
        pages->same = page;
        return true;
    }
    if (sys3(SYS_mprotect, page, WIRE_PAGE, PROT_READ | PROT_WRITE) != 0)
        return false;
    pages->open = page;
    return true;
}

enum got_changed got_change(struct got_pages *pages, uintptr_t *at, uintptr_t from, uintptr_t to) {
    if (*(volatile uintptr_t *)at != from)
        return GOT_OTHER;
    if (!open_page(pages, page_of(at)))
        return GOT_REFUSED;
    return __atomic_compare_exchange_n(at, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
               ? GOT_CHANGED
               : GOT_OTHER;
}
