/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * write_folded.c - one line for each context, for flame graph tools: "process;main;work 1234".
 *
 * The frames are split at semicolons and the weight at the last space, so that a name keeps its
 * spaces, gives its semicolons for colons, and control characters for spaces, or, where they are
 * not ASCII, for underscores. A number at the end
 * of a name hangs on an underscore, "f 12" as "f_12": two numbers at the end of a line are taken
 * for weights before and after a change.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/utf8.h"
#include "common/profile/stacks.h"
#include "common/profile/tree_view.h"
#include "common/render/format.h"

static bool is_blank(char byte) {
    return (unsigned char)byte <= ' ' || byte == 0x7f;
}

/* The blank before a number that ends the name; its end, when there is none. */
static const char *find_number(const char *name) {
    const char *end = name + strlen(name), *at = end;

    while (at > name && strchr("0123456789.", at[-1]) != NULL)
        at--;
    return at < end && at > name && is_blank(at[-1]) ? at - 1 : end;
}

static void put_name(FILE *out, const char *name) {
    const char *number = find_number(name);
    for (size_t n; *name != '\0'; name += n) {
        n = utf8_length(name);
        if (n == 1)
            fputc(name == number ? '_' : *name == ';' ? ':' : is_blank(*name) ? ' ' : *name, out);
        else if (utf8_printable(name) > 0)
            fwrite(name, 1, n, out);
        else
            fputc('_', out);
    }
}

bool write_folded(FILE *out, const struct profile *profile, const struct format_options *options) {
    struct profile *selected = format_select(profile, options);
    double phi = stacks_phi(selected);
    struct profile *grouped = phi > 0 ? profile_prune_own(selected, phi) : selected;
    uint32_t *path;
    path = memory_new(grouped->n_nodes, sizeof *path, "a stack");
    for (uint32_t i = 1; i < grouped->n_nodes; i++) {
        uint32_t depth = 0;
        if (grouped->nodes[i].count == 0)
            continue;
        for (uint32_t at = i; at != 0; at = grouped->nodes[at].parent)
            path[depth++] = at;
        while (depth > 0) {
            put_name(out, tree_name(grouped, path[--depth]));
            fputc(depth > 0 ? ';' : ' ', out);
        }
        fprintf(out, "%" PRIu64 "\n", grouped->nodes[i].count);
    }
    free(path);
    profile_free(grouped);
    return fflush(out) == 0 && !ferror(out);
}
