/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "tests/fuzz/whole.h"

#include <stdio.h>

#include "common/render/format.h"
#include "tests/fuzz/fuzz.h"

void must_be_whole(const struct profile *profile) {
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        fuzz_must(node->parent < i && node->location < profile->n_locations &&
                  node->process < profile->n_processes);
    }
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        const struct profile_location *place = &profile->locations[i];
        fuzz_must(place->module < profile->n_modules);
        for (uint32_t k = 0; k < place->n_lines; k++)
            fuzz_must(place->lines[k].function < profile->n_functions);
    }
}

void must_be_quiet(const char *text, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        fuzz_must((unsigned char)text[i] >= ' ' ? text[i] != 0x7f : text[i] == '\n');
}

void must_be_written(const struct profile *profile, const char *format) {
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    fuzz_must(out != NULL);
    fuzz_must(format_write(format_find(format), out, profile, &format_default_options));
    fuzz_must(fclose(out) == 0);
    if (strcmp(format, "text") == 0)
        must_be_quiet(text, bytes);
    free(text);
}
