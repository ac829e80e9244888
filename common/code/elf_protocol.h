/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * elf_protocol.h - what daemon and worker child say to each other, over a stream socket.
 *
 *   request: struct elf_request, with the module's file by SCM_RIGHTS | path | queries | stack
 *   answer:  struct elf_answer | bytes
 *
 *   kind         asks                                       answer's bytes
 *   ELF_TABLE    the unwind table of a module               a table (common/wire/unwind_table.h)
 *   ELF_CALLS    the call sites of a module             a table (common/wire/call_sites.h)
 *   ELF_SYMBOLS  what is at addresses of a module           symbols
 *   ELF_NAMES    the same by its symbol table alone         symbols
 *   ELF_IMAGE    to keep a module for stacks to come        struct elf_image_head
 *   ELF_UNWIND   to walk a stack (raw_stack.h); there   struct elf_walk_head | frames
 *                is no module, no file and no path
 *   ELF_DEMANGLE what names are for people: each     symbols
 *                with a newline in the place of the
 *                path; no module, no file
 *
 * Both are the same program on the same machine, so numbers are in the machine's order. The child
 * parses hostile files, so the daemon checks each number that comes from it.
 */
#ifndef HCCT_ELF_PROTOCOL_H
#define HCCT_ELF_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/code/elf_worker.h"
#include "common/code/raw_stack.h"

#define ELF_REQUEST_MAGIC 0x71657265u
#define ELF_ANSWER_MAGIC  0x736e6165u

#define ELF_PATH_MAX    4096u
#define ELF_QUERIES_MAX 1024u        /* of one request */
#define ELF_TABLE_MAX   (1ull << 30) /* bytes of an answer */
#define ELF_SYMBOLS_MAX (1ull << 28)

#define ELF_STACK_MAX                                                                              \
    ((uint32_t)raw_stack_bytes(&(const struct raw_stack){.n_ranges = RAW_STACK_RANGES_MAX,         \
                                                         .n_inner = RAW_STACK_INNER_MAX,           \
                                                         .n_registers = RAW_STACK_REGISTERS_MAX,   \
                                                         .n_words = RAW_STACK_WORDS_MAX}))
#define ELF_WALK_MAX                                                                               \
    (sizeof(struct elf_walk_head) + RAW_STACK_FRAMES_MAX * sizeof(struct unwound_frame))

enum elf_kind {
    ELF_TABLE,
    ELF_CALLS,
    ELF_SYMBOLS,
    ELF_NAMES,
    ELF_IMAGE,
    ELF_UNWIND,
    ELF_DEMANGLE,
    ELF_KINDS
};

struct elf_request {
    uint32_t magic;
    uint32_t kind;   /* enum elf_kind */
    uint32_t module; /* the same file whenever it comes again */
    uint32_t path_bytes;
    uint32_t queries;
    uint32_t stack_bytes;
};

struct elf_query {
    uint64_t address;
    uint64_t is_entry;
};

struct elf_answer {
    uint32_t magic;
    uint32_t ok; /* 0: there is nothing to answer */
    uint64_t bytes;
};

struct elf_image_head {
    uint64_t entries; /* unwind entries that the module has */
};

struct elf_walk_head {
    uint32_t n;       /* frames that follow */
    uint32_t mark;    /* as struct unwound_stack has it */
    uint32_t missing; /* not 0: this module has to be kept first, and nothing else counts */
    uint32_t reserved;
};

#define ELF_NO_DEADLINE INT64_MAX

enum elf_transfer {
    ELF_TRANSFERRED,
    ELF_GONE, /* the other end has closed, or the socket is broken */
    ELF_LATE, /* the deadline has passed */
};

/* Now, on the clock of the deadlines below (CLOCK_MONOTONIC, ns). */
int64_t elf_now(void);

/* Send or receive all bytes, until `deadline`. */
enum elf_transfer elf_send(int socket, const void *bytes, size_t n, int64_t deadline);
enum elf_transfer elf_receive(int socket, void *bytes, size_t n, int64_t deadline);

/* A request's head, with a descriptor unless it is -1. The receiver gets a new one, close-on-exec,
 * or -1. */
enum elf_transfer elf_send_head(int socket, const struct elf_request *head, int fd,
                                int64_t deadline);
enum elf_transfer elf_receive_head(int socket, struct elf_request *head, int *fd);

/* Bytes that grow. */
struct elf_bytes {
    char *bytes;
    size_t n, room;
    bool failed; /* memory ran out: the content is of no use */
};

void elf_put_symbol(struct elf_bytes *into, const struct symbol *symbol);

/* Reads n symbols from untrusted bytes; control characters in strings become '?'. False: the bytes
 * are not n symbols, or no memory; then all symbols are cleared. */
bool elf_get_symbols(const void *bytes, size_t n_bytes, struct symbol *symbols, size_t n);

#endif
