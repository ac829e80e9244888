/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * symbol.c - making of struct symbol, for both sides of the worker's socket.
 */
#include "common/code/symbol.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *symbol_last_resort_name(const char *path, uint64_t address) {
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL && slash[1] != '\0' ? slash + 1 : path;
    char *name;
    return asprintf(&name, "%s+0x%" PRIx64, base[0] != '\0' ? base : "?", address) < 0 ? NULL
                                                                                       : name;
}

bool symbol_last_resort(const char *path, uint64_t address, struct symbol *symbol) {
    *symbol = (struct symbol){.n_lines = 1, .lines = calloc(1, sizeof *symbol->lines)};
    if (symbol->lines != NULL) {
        symbol->lines[0].name = symbol_last_resort_name(path, address);
        symbol->lines[0].system_name = symbol_last_resort_name(path, address);
        if (symbol->lines[0].name != NULL && symbol->lines[0].system_name != NULL)
            return true;
    }
    symbol_clear(symbol);
    return false;
}

void symbol_clear(struct symbol *symbol) {
    for (uint32_t i = 0; symbol->lines != NULL && i < symbol->n_lines; i++) {
        free(symbol->lines[i].name);
        free(symbol->lines[i].system_name);
        free(symbol->lines[i].file);
    }
    free(symbol->lines);
    *symbol = (struct symbol){0};
}
