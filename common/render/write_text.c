/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * write_text.c - the report that people read: what was profiled, the hottest functions, the trees
 * of hot contexts, and how precise all of it is.
 */
#include <inttypes.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/profile/bounds.h"
#include "common/profile/merge.h"
#include "common/render/format_number.h"
#include "common/render/text.h"
#include "common/render/title.h"

static const struct glyphs ascii = {"|- ", "`- ", "|  ", "   ", "-> ", "..", "+-", "x"};
static const struct glyphs unicode = {"├─ ", "└─ ", "│  ", "   ", "→ ", "…", "±", "×"};

static const struct paint plain = {"", "", "", "", ""};
static const struct paint ansi = {"\033[1m", "\033[2m", "\033[1;31m", "\033[33m", "\033[0m"};

/* ---- names ---- */

const char *text_without_module(const struct text *text, const char *name, uint32_t location) {
    const struct profile *profile = text->profile;
    const char *module =
        profile_basename(profile->modules[profile->locations[location].module].path);
    const char *plus = strrchr(name, '+');
    if (!profile_is_place_name(name) || plus == NULL || plus == name ||
        (size_t)(plus - name) != strlen(module) || strncmp(name, module, strlen(module)) != 0)
        return name;
    return plus;
}

/* ---- the whole ---- */

static void count_below(struct text *text) {
    const struct profile *profile = text->profile;
    text->below = memory_new(profile->n_nodes, sizeof *text->below, "contexts");
    for (uint32_t i = profile->n_nodes - 1; i > 0; i--) {
        const struct profile_node *node = &profile->nodes[i];
        text->below[i] += node->count > 0 && !profile_is_pruned(profile, node->location);
        text->below[node->parent] += text->below[i];
    }
}

static const char *what_was_missing(const struct profile *profile, uint64_t no_room) {
    if (no_room > 0)
        return " has no sample: threads had too small a stack for the agent's signal";
    if (strcmp(profile->type, "cpu") == 0)
        return " used too little CPU time to be sampled";
    if (strcmp(profile->type, "wall") == 0)
        return " was gone before its first sample";
    if (strcmp(profile->type, "wait") == 0)
        return " was never off the processor for long";
    if (profile_of_calls(profile))
        return " called no instrumented function";
    if (profile_of_blocks(profile))
        return " has no sampled block: it allocated too little, has freed all of it, or keeps less "
               "than what a sample stands for (16 KiB or more)";
    if (profile_of_locks(profile))
        return " has no sample: its threads waited too little for locks";
    return " did nothing that is counted";
}

static void write_nothing(const struct text *text) {
    const struct profile *profile = text->profile;
    uint64_t lost = 0, no_room = 0;
    for (uint32_t i = 1; i < profile->n_processes; i++) {
        lost += profile->processes[i].lost;
        no_room += profile->processes[i].no_room;
    }
    fputs("Nothing to show: ", text->out);
    if (profile->n_processes < 2)
        fputs("no process was profiled", text->out);
    else if (profile->n_processes == 2)
        title_put_process(text->out, &profile->processes[1]);
    else
        fprintf(text->out, "%" PRIu32 " processes", profile->n_processes - 1);
    if (profile->n_processes > 1)
        fputs(what_was_missing(profile, no_room), text->out);
    title_put_window(text->out, profile);
    if (lost > 0)
        fprintf(text->out, " (%s ticks were lost)", format_count(lost).text);
    fputs(".\n", text->out);
}

bool write_text(FILE *out, const struct profile *profile, const struct format_options *options) {
    bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    struct text text = {.out = out,
                        .options = options,
                        .glyphs = utf8 ? &unicode : &ascii,
                        .paint = options->color ? &ansi : &plain};
    struct profile *joined = merge_runs(profile);
    struct profile *grouped = format_select(joined != NULL ? joined : profile, options);
    profile_free(joined);
    text.profile = grouped;
    text.total = profile_total(grouped);
    tree_view_make(&text.view, grouped);
    text.flat = bounds_flat(grouped, text.view.inclusive);
    text_set_columns(&text);
    count_below(&text);
    if (text.total == 0)
        write_nothing(&text);
    else
        text_report(&text);
    tree_view_free(&text.view);
    free(text.flat);
    free(text.below);
    profile_free(grouped);
    return fflush(out) == 0 && !ferror(out);
}
