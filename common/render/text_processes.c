/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_processes.c - which processes were profiled: one line for the only one, or a table.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/shorten.h"
#include "common/render/format_number.h"
#include "common/render/text.h"
#include "common/render/title.h"

static void put_weight(const struct text *text, uint64_t weight, uint64_t walks) {
    fprintf(text->out, "%s %s", format_weight(text->profile, weight).text,
            format_type(text->profile, weight));
    if (walks > 0 && !text->calls)
        fprintf(text->out, ", %s %s%s", format_count(walks).text, walks == 1 ? "sample" : "samples",
                profile_of_heap(text->profile) ? " with what was freed" : "");
    if (text->profile->window_ns > 0)
        fputc(',', text->out);
    title_put_window(text->out, text->profile);
}

void text_title(const struct text *text) {
    char *title = shorten(text->profile->title, text->options->width, text->glyphs->gap);
    if (*title != '\0')
        fprintf(text->out, "%s%s%s\n", text->paint->bold, title, text->paint->off);
    free(title);
}

uint64_t text_process_weight(const struct text *text, uint32_t process) {
    return text->view.inclusive[profile_root(text->profile, process)];
}

void text_process(const struct text *text, uint32_t process) {
    const struct profile_process *it = &text->profile->processes[process];
    fputs(text->paint->bold, text->out);
    title_put_process(text->out, it);
    fprintf(text->out, "%s: ", text->paint->off);
    put_weight(text, text_process_weight(text, process), it->walks);
}

static void process_cells(const struct text *text, uint64_t weight, uint64_t walks) {
    text_cell(text, text_share(text, weight));
    fprintf(text->out, "  %*s  ", text->calls ? text->count_width : 11,
            format_weight(text->profile, weight).text);
    if (!text->calls)
        fprintf(text->out, "%10s  ", walks > 0 ? format_count(walks).text : "");
}

static void process_row(const struct text *text, const struct profile_process *process,
                        uint64_t weight) {
    size_t used = TEXT_SHARE + 4 + (text->calls ? (size_t)text->count_width : 11 + 12);
    size_t width = text->options->width;
    char *title = title_of_process(process), *name;
    name = shorten(title,
                   width == 0          ? 0
                   : width > used + 16 ? width - used
                                       : 16,
                   text->glyphs->gap);
    process_cells(text, weight, process->walks);
    fprintf(text->out, "%s\n", name);
    free(name);
    free(title);
}

void text_process_table(const struct text *text, const uint32_t *order, uint32_t n,
                        uint32_t shown) {
    uint64_t others = 0, other_walks = 0;
    fprintf(text->out, "%s  share", text->paint->dim);
    if (text->calls)
        fprintf(text->out, "  %*s", text->count_width, "calls");
    else
        fputs("       weight     samples", text->out);
    fprintf(text->out, "  process%s\n", text->paint->off);
    for (uint32_t i = 0; i < n; i++) {
        const struct profile_process *process = &text->profile->processes[order[i]];
        uint64_t weight = text_process_weight(text, order[i]);
        if (i >= shown) {
            others += weight;
            other_walks += process->walks;
        } else {
            process_row(text, process, weight);
        }
    }
    if (n > shown) {
        process_cells(text, others, other_walks);
        fprintf(text->out, "%s %" PRIu32 " more process%s\n", PROFILE_PRUNED, n - shown,
                n - shown == 1 ? "" : "es");
    }
    fputc('\n', text->out);
}

void text_processes(const struct text *text) {
    uint32_t n = text->profile->n_processes - 1;
    uint64_t walks = 0;
    for (uint32_t i = 1; i <= n; i++)
        walks += text->profile->processes[i].walks;
    fprintf(text->out, "%s%" PRIu32 " processes%s: ", text->paint->bold, n, text->paint->off);
    put_weight(text, text->total, walks);
}
