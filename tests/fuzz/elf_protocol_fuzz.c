/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * elf_protocol_fuzz.c - any bytes from the other end of the worker's socket: as symbols, which are
 * then sent back, and as a request.
 */
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/code/elf_protocol.h"
#include "common/code/symbol.h"
#include "tests/fuzz/fuzz.h"

#define SYMBOLS 4u

static void check_string(const char *string) {
    for (; string != NULL && *string != '\0'; string++)
        fuzz_must((unsigned char)*string >= ' ' && *string != 0x7f);
}

static void check_symbol(const struct symbol *symbol) {
    fuzz_must(symbol->n_lines >= 1 && symbol->n_lines <= SYMBOL_LINES_MAX);
    for (uint32_t i = 0; i < symbol->n_lines; i++) {
        fuzz_must(symbol->lines[i].name != NULL && symbol->lines[i].system_name != NULL);
        check_string(symbol->lines[i].name);
        check_string(symbol->lines[i].system_name);
        check_string(symbol->lines[i].file);
    }
}

/* Sent on, they arrive as they are. */
static void send_back(const struct symbol *symbols, size_t n) {
    struct elf_bytes first = {0}, second = {0};
    struct symbol again[SYMBOLS];
    for (size_t i = 0; i < n; i++)
        elf_put_symbol(&first, &symbols[i]);
    fuzz_must(!first.failed && elf_get_symbols(first.bytes, first.n, again, n));
    for (size_t i = 0; i < n; i++) {
        elf_put_symbol(&second, &again[i]);
        symbol_clear(&again[i]);
    }
    fuzz_must(first.n == second.n && memcmp(first.bytes, second.bytes, first.n) == 0);
    free(first.bytes);
    free(second.bytes);
}

static void receive_symbols(struct fuzz_input *input, size_t n) {
    struct symbol symbols[SYMBOLS];
    if (!elf_get_symbols(input->data, input->size, symbols, n))
        return;
    for (size_t i = 0; i < n; i++)
        check_symbol(&symbols[i]);
    send_back(symbols, n);
    for (size_t i = 0; i < n; i++)
        symbol_clear(&symbols[i]);
}

static void receive_request(const struct fuzz_input *input) {
    struct elf_request head;
    int ends[2], file;
    char rest[64];
    fuzz_must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    fuzz_must(write(ends[0], input->data, input->size) == (ssize_t)input->size);
    close(ends[0]);
    enum elf_transfer got = elf_receive_head(ends[1], &head, &file);
    fuzz_must((got == ELF_TRANSFERRED) == (input->size >= sizeof head) && file == -1);
    if (got == ELF_TRANSFERRED)
        fuzz_must((elf_receive(ends[1], rest, sizeof rest, ELF_NO_DEADLINE) == ELF_TRANSFERRED) ==
                  (input->size >= sizeof head + sizeof rest));
    close(ends[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input input = {data, size};
    uint8_t choice = fuzz_take_byte(&input);
    if (choice >= 0xf0)
        receive_request(&input);
    else
        receive_symbols(&input, 1 + choice % SYMBOLS);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "elf_protocol", .mutations = 20000};
