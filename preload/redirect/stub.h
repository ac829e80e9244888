/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stub.h - the code that a redirected call goes through, on its way to what it calls.
 *
 * The one part that knows the machine's instructions. A stub asks whether the calling thread's
 * calls are followed, reports the call if they are, and jumps to the function that is called: the
 * return address on the stack is the program's own, and nothing of the stub stays there. All that
 * it uses is as it was when the function begins.
 *
 * Stubs lie in pages of their own. Each page begins with what its stubs share, so that a stub needs
 * no register to find it:
 *
 *   module | number of the first stub | address of the common entry | jump to it | stubs ...
 *
 * Everywhere in such a page the stack pointer points at a return address.
 */
#ifndef HCCT_STUB_H
#define HCCT_STUB_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"

#define STUB_BYTES    32u
#define STUB_PER_PAGE (WIRE_PAGE / STUB_BYTES - 1)

/* Furthest from an instruction to what it calls or jumps to. */
#define STUB_REACH 0x7ff00000ull

struct redirect_module;

struct stub_page {
    const struct redirect_module *module;
    uint64_t first;
    uint64_t common;
    uint8_t jump[8];
};

_Static_assert(sizeof(struct stub_page) == STUB_BYTES, "it has the place of a stub");

/* An unwind entry for all stubs of a module, as in an ELF file: .eh_frame_hdr without a table, and
 * .eh_frame. */
struct stub_unwind {
    _Alignas(8) uint8_t bytes[80];
};

void stub_write_unwind(struct stub_unwind *unwind, uint64_t low, uint64_t bytes);

/* Whether this machine has stubs at all. Process context. */
bool stub_start(void);

static inline uint64_t stub_room(uint32_t stubs) {
    return ((uint64_t)stubs + STUB_PER_PAGE - 1) / STUB_PER_PAGE * WIRE_PAGE;
}

/* Where the stub of that number is. */
static inline uint64_t stub_at(uint64_t base, uint32_t i) {
    return base + (uint64_t)(i / STUB_PER_PAGE) * WIRE_PAGE +
           (i % STUB_PER_PAGE + 1) * (uint64_t)STUB_BYTES;
}

/* The number of the stub that has called the common entry, by the address it is to return to. */
static inline const struct stub_page *stub_page_of(uint64_t back) {
    return (const struct stub_page *)(back & ~(uint64_t)(WIRE_PAGE - 1));
}
static inline uint64_t stub_number(uint64_t back) {
    return stub_page_of(back)->first + back % WIRE_PAGE / STUB_BYTES - 1;
}

/* Writes a page's head, and the stub of that number, for pages that will be at `base`; each into
 * the memory of its page that can be written. */
void stub_write_head(struct stub_page *head, const struct redirect_module *module, uint64_t first);
void stub_write(uint8_t *page, uint64_t base, uint32_t i, uint64_t target);
/* The same for a function whose address is in a word, which is in reach. */
void stub_write_by_word(uint8_t *page, uint64_t base, uint32_t i, uint64_t word);

/* Where the direct call at `code`, which is or will be at `address`, leads; 0: it is none. */
uint64_t stub_call_target(const uint8_t *code, uint64_t address);
/* It leads to `target` from now on, which is in reach. */
void stub_call_set(uint8_t *code, uint64_t address, uint64_t target);
/* The same for a call through a word, whose second byte is at `code`: the word's address; and a
 * direct call in its place, of the same length. */
uint64_t stub_call_word(const uint8_t *code, uint64_t address);
void stub_call_set_direct(uint8_t *code, uint64_t address, uint64_t target);

/* Whether this code, of which 16 bytes can be read, is not a function but what asks the loader to
 * bind one: where a word of the GOT leads until then. */
bool stub_is_binder(const uint8_t *code);
#define STUB_BINDER_BYTES 16u

/* Calls what(argument) on the stack that ends at `stack_end`, with the registers that are not for
 * general use kept in `area` (stub_area_bytes(), at a multiple of 64, zeroed at first). */
void stub_with_all_kept(void (*what)(void *argument), void *argument, void *stack_end, void *area);
uint64_t stub_area_bytes(void);

/* Calls n times a stub that leads to stub_return, which does nothing.
 * What stands where the caller's return address would be is its site; its frame gets the place.
 * (redirect/price.c) */
struct calls_frame;
void stub_call_often(uint64_t stub, uint32_t n, struct calls_frame *caller)
    __attribute__((visibility("hidden")));
void stub_return(void) __attribute__((visibility("hidden")));

#endif
