/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_copy.c - copies in memory without a descriptor, and the change of places.
 *
 * mremap with MREMAP_DONTUNMAP moves a mapping's pages to another address and leaves the mapping
 * itself, which finds its pages again in its file. So before another mapping takes the place of the
 * text, its own one moves aside:
 *
 *   on    text -> spare    the place still shows the file
 *         copy -> text     the place shows the copy; the file's pages wait in `spare`
 *   off   text -> copy, spare -> text
 *
 * Each step is atomic for who runs there, and pages that were there once are there the next time.
 * Resting places are as far from a multiple of 2 MB as the text is: then the kernel moves whole
 * tables of pages.
 */
#include "preload/redirect/text_copy.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "preload/life/sys.h"
#include "preload/redirect/form.h"
#include "preload/redirect/stub.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif

#define TABLE_SPAN (1ull << 21) /* what one table of pages covers */
#define BREAK_ROOM (1ull << 30) /* above a module, for the heap that may grow there */

static bool failed(long result) {
    return result < 0 && result > -WIRE_PAGE;
}

/* ---- memory ---- */

static uint64_t map_anonymous(uint64_t at, uint64_t bytes, int rights, int flags) {
    long result = sys6(SYS_mmap, at, bytes, rights,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    return failed(result) ? 0 : (uint64_t)result;
}

static void unmap(uint64_t at, uint64_t bytes) {
    if (at != 0 && bytes != 0)
        sys2(SYS_munmap, at, bytes);
}

/* A place for a copy of the text, without rights. */
static uint64_t reserve_like(uint64_t text, uint64_t bytes) {
    uint64_t room = bytes + TABLE_SPAN;
    uint64_t low = map_anonymous(0, room, PROT_NONE, 0);
    if (low == 0)
        return 0;
    uint64_t at = low + ((text - low) & (TABLE_SPAN - 1));
    unmap(low, at - low);
    unmap(at + bytes, low + room - (at + bytes));
    return at;
}

static bool is_limited(void) {
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    return sys2(SYS_getrlimit, RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

/* ---- stubs ---- */

static uint64_t map_if_free(uint64_t at, uint64_t bytes) {
    uint64_t result = map_anonymous(at, bytes, PROT_READ | PROT_WRITE, MAP_FIXED_NOREPLACE);
    if (result != at && result != 0)
        unmap(result, bytes); /* a kernel that does not know the flag */
    return result == at ? at : 0;
}

/* From a stub to a function of the module and back is as far as a jump reaches. Below the module,
 * where nothing grows; else far above it. */
static uint64_t map_near(const struct redirect_module *m, uint64_t bytes) {
    uint64_t end = m->text + m->bytes, at = 0;
    for (uint64_t away = TABLE_SPAN;
         at == 0 && away + bytes + m->bytes < STUB_REACH && m->start > away + bytes + TABLE_SPAN;
         away += TABLE_SPAN)
        at = map_if_free((m->start - away - bytes) & ~(uint64_t)(WIRE_PAGE - 1), bytes);
    for (uint64_t away = BREAK_ROOM; at == 0 && away + bytes + m->bytes < STUB_REACH;
         away += TABLE_SPAN)
        at = map_if_free(end + away, bytes);
    return at;
}

static bool write_stubs(const struct redirect_module *m) {
    m->form->write(m);
    return sys3(SYS_mprotect, m->stubs, m->stub_bytes, PROT_READ | PROT_EXEC) == 0;
}

/* Those that stubs jump through; the file may have much between its text and its data. */
static bool words_are_near(const struct redirect_module *m) {
    for (uint32_t i = 0; i < m->callees; i++) {
        uint64_t word = (uintptr_t)m->callee[i].word;
        uint64_t low = word < m->stubs ? word : m->stubs;
        uint64_t high = word > m->stubs ? word : m->stubs;
        if (m->callee[i].target == 0 && high - low > STUB_REACH - m->stub_bytes)
            return false;
    }
    return true;
}

enum calls_verdict text_copy_make_stubs(struct redirect_module *m) {
    m->stub_bytes = m->form->bytes(m->sites);
    m->stubs = map_near(m, m->stub_bytes);
    if (m->stubs == 0)
        return CALLS_FAR;
    if (!words_are_near(m))
        return CALLS_FAR;
    m->form->write_unwind(&m->unwind, m->stubs, m->stub_bytes);
    return write_stubs(m) ? CALLS_FOLLOWED : CALLS_FORBIDDEN;
}

/* ---- sites ---- */

/* The instruction is what it is in the file. */
static bool is_call_of(const struct redirect_module *m, uint32_t at,
                       const struct redirect_callee *k) {
    const uint8_t *code = (const uint8_t *)m->text + at;
    if (k->target != 0)
        return stub_call_target(code, m->text + at) == k->target;
    return at > 0 && k->word != NULL && stub_call_word(code, m->text + at) == (uintptr_t)k->word;
}

/* Where the daemon has read the file there is other code in memory: then it is left alone. */
static bool take_sites(struct redirect_module *m, uint64_t bias, const struct call_sites *table) {
    const struct call_site *site = call_sites_of(table);
    const struct call_callee *callee = call_sites_callees(table);
    for (uint32_t i = 0; i < m->callees; i++) {
        const uint64_t *word = callee[i].got == 0 ? NULL : (const uint64_t *)(bias + callee[i].got);
        m->callee[i] = (struct redirect_callee){
            .word = word, .target = callee[i].target == 0 ? 0 : bias + callee[i].target};
    }
    for (uint32_t i = 0; i < m->sites; i++) {
        const struct call_site *s = &site[i];
        if (s->callee >= m->callees || s->at >= m->bytes - CALL_SITE_BYTES || s->routine > s->at ||
            !is_call_of(m, s->at, &m->callee[s->callee]))
            return false;
        m->site[i] = (struct redirect_site){
            .routine = m->text + s->routine,
            .back = s->at + CALL_SITE_BYTES,
            .callee = s->callee | (s->frame == CALL_FRAME_FP ? REDIRECT_BY_FP : 0) |
                      (m->callee[s->callee].word != NULL ? REDIRECT_BY_WORD : 0),
            .cfa = s->cfa,
        };
    }
    return true;
}

static uint64_t sites_bytes(const struct redirect_module *m) {
    uint64_t bytes = (uint64_t)m->sites * sizeof *m->site + m->callees * sizeof *m->callee;
    return (bytes + WIRE_PAGE - 1) & ~(uint64_t)(WIRE_PAGE - 1);
}

static bool map_sites(struct redirect_module *m) {
    uint64_t at = map_anonymous(0, sites_bytes(m), PROT_READ | PROT_WRITE, 0);
    m->site = (struct redirect_site *)at; /* first, so that none lies in two cache lines */
    m->callee = (struct redirect_callee *)(at + m->sites * sizeof *m->site);
    return at != 0;
}

/* ---- the copy ---- */

static long make_file(uint64_t bytes) {
    long fd = sys2(SYS_memfd_create, "hcct-text", MFD_CLOEXEC | MFD_EXEC);
    if (fd == -EINVAL) /* a kernel that has no such flag needs none */
        fd = sys2(SYS_memfd_create, "hcct-text", MFD_CLOEXEC);
    if (fd >= 0 && sys2(SYS_ftruncate, fd, bytes) != 0) {
        sys1(SYS_close, fd);
        return -ENOMEM;
    }
    return fd;
}

static bool write_copy(const struct redirect_module *m, long fd) {
    long at = sys6(SYS_mmap, 0, m->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (failed(at))
        return false;
    memcpy((void *)at, (const void *)(m->on ? m->spare : m->text), m->bytes);
    for (uint32_t i = 0; i < m->sites; i++) {
        uint64_t call = m->site[i].back - CALL_SITE_BYTES;
        m->form->lead(m, i, (uint8_t *)at + call, m->text + call);
    }
    sys2(SYS_munmap, at, m->bytes);
    return true;
}

static bool map_copy(struct redirect_module *m, long fd) {
    m->copy = reserve_like(m->text, m->bytes);
    m->spare = reserve_like(m->text, m->bytes);
    return m->copy != 0 && m->spare != 0 &&
           !failed(sys6(SYS_mmap, m->copy, m->bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
                        fd, 0));
}

static enum calls_verdict make_copy(struct redirect_module *m) {
    long fd = make_file(m->bytes);
    if (fd < 0)
        return fd == -ENOMEM ? CALLS_NO_MEMORY : CALLS_FORBIDDEN;
    bool written = write_copy(m, fd), mapped = written && map_copy(m, fd);
    sys1(SYS_close, fd);
    return mapped ? CALLS_FOLLOWED : written ? CALLS_FORBIDDEN : CALLS_NO_MEMORY;
}

/* One mapping takes the other's place, so whoever runs there meets one or the other. */
void text_copy_write_anew(struct redirect_module *m) {
    long fd = make_file(m->bytes);
    if (fd < 0)
        return;
    if (write_copy(m, fd))
        sys6(SYS_mmap, m->on ? m->text : m->copy, m->bytes, PROT_READ | PROT_EXEC,
             MAP_PRIVATE | MAP_FIXED, fd, 0);
    sys1(SYS_close, fd);
}

/* ---- changing places ---- */

static bool move(const struct redirect_module *m, uint64_t from, uint64_t to) {
    return !failed(sys5(SYS_mremap, from, m->bytes, m->bytes,
                        MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to));
}

bool text_copy_switch(struct redirect_module *m, bool on) {
    if (m->on == on)
        return true;
    if (!move(m, m->text, on ? m->spare : m->copy))
        return false;
    if (!move(m, on ? m->copy : m->spare, m->text)) {
        move(m, on ? m->spare : m->copy, m->text);
        return false;
    }
    m->on = on;
    return true;
}

/* The kernel may not move mappings of files so (before 5.13), or not this one (mseal). */
static bool can_switch(struct redirect_module *m) {
    return move(m, m->text, m->spare) && move(m, m->spare, m->text);
}

/* ---- all of it ---- */

void text_copy_free(struct redirect_module *m) {
    unmap((uint64_t)m->site, m->site != NULL ? sites_bytes(m) : 0);
    unmap(m->stubs, m->stub_bytes);
    unmap(m->copy, m->bytes);
    unmap(m->spare, m->bytes);
    m->callee = NULL;
    m->site = NULL;
    m->stubs = m->copy = m->spare = 0;
}

static enum calls_verdict make(struct redirect_module *m, uint64_t bias,
                               const struct call_sites *table) {
    if (is_limited())
        return CALLS_LIMITED;
    if (!map_sites(m))
        return CALLS_NO_MEMORY;
    if (!take_sites(m, bias, table))
        return CALLS_TEXT_DIFFERS;
    enum calls_verdict verdict = text_copy_make_stubs(m);
    if (verdict == CALLS_FOLLOWED)
        verdict = make_copy(m);
    return verdict == CALLS_FOLLOWED && !can_switch(m) ? CALLS_FORBIDDEN : verdict;
}

enum calls_verdict text_copy_make(struct redirect_module *m, uint64_t bias,
                                  const struct call_sites *table) {
    enum calls_verdict verdict = make(m, bias, table);
    if (verdict != CALLS_FOLLOWED)
        text_copy_free(m);
    return verdict;
}
