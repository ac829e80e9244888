/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * format.c - the table of formats.
 */
#include "common/render/format.h"

#include <string.h>

#include "common/profile/filter.h"

const struct format formats[] = {
    {"text", ".txt", "text/plain; charset=utf-8", "hottest functions and contexts, to be read",
     false, false, true, write_text, write_text_diff},
    {"pprof", ".pb.gz", "application/vnd.google.protobuf+gzip",
     "profile file, for hcct report, go tool pprof and other viewers", true, true, false,
     write_pprof, NULL},
    {"json", ".json", "application/json", "hcct-profile JSON, for scripts", false, true, true,
     write_json, write_json_diff},
    {"otlp", ".otlp", "application/x-protobuf", "profiles of OpenTelemetry, for its collectors",
     true, false, false, write_otlp, NULL},
    {"folded", ".folded", "text/plain; charset=utf-8",
     "one line for each context, for flame graph tools", false, false, true, write_folded, NULL},
    {"speedscope", ".speedscope.json", "application/json", "for the viewer speedscope", false,
     false, true, write_speedscope, NULL},
    {"firefox", ".firefox.json", "application/json", "for the Firefox Profiler", false, false,
     false, write_firefox, NULL},
    {"callgrind", ".callgrind", "text/plain; charset=utf-8",
     "functions and calls, for KCachegrind and callgrind_annotate", false, false, true,
     write_callgrind, NULL},
    {"dot", ".dot", "text/vnd.graphviz; charset=utf-8", "call graph, for graphviz: dot -Tsvg",
     false, false, true, write_dot, NULL},
    {"html", ".html", "text/html; charset=utf-8", "one page for a browser, that needs nothing else",
     false, false, true, write_html, write_html_diff},
    {"page-data", ".page.json", "application/x-ndjson",
     "what that page draws, for the page served live", false, false, true, write_page_data,
     write_page_data_diff},
    {NULL, NULL, NULL, NULL, false, false, false, NULL, NULL},
};

const struct format_options format_default_options = {
    .by = PROFILE_BY_FUNCTION,
    .cut = FORMAT_DEFAULT_CUT,
    .lines = FORMAT_DEFAULT_LINES,
    .top = FORMAT_DEFAULT_TOP,
};

void format_set_cut(struct format_options *options, double cut) {
    options->cut = cut;
    options->lines = 0;
}

void format_set_top(struct format_options *options, unsigned top) {
    if (options->lines > 0 && top > options->top)
        options->lines += top - options->top;
    options->top = top;
}

const struct format *format_find(const char *name) {
    for (const struct format *format = formats; format->name != NULL; format++)
        if (strcmp(format->name, name) == 0)
            return format;
    return NULL;
}

/* As callgrind names its files, and KCachegrind looks for them: "callgrind.out.1234". */
static bool is_callgrind_out(const char *path) {
    static const char begin[] = "callgrind.out";
    return strncmp(profile_basename(path), begin, strlen(begin)) == 0;
}

const struct format *format_by_suffix(const char *path) {
    const struct format *best = is_callgrind_out(path) ? format_find("callgrind") : NULL;
    size_t length = strlen(path), longest = 0;
    for (const struct format *format = formats; format->name != NULL; format++) {
        size_t suffix = strlen(format->suffix);
        if (suffix > longest && suffix < length &&
            strcmp(path + length - suffix, format->suffix) == 0) {
            best = format;
            longest = suffix;
        }
    }
    return best;
}

bool format_reads_errors(const struct format *format, const struct format_options *options) {
    return !format->groups || options->by == PROFILE_BY_SITE || options->focus != NULL ||
           options->ignore != NULL;
}

bool format_write(const struct format *format, FILE *out, const struct profile *profile,
                  const struct format_options *options) {
    struct profile *filtered = NULL;
    bool written;
    if (options->focus != NULL || options->ignore != NULL)
        filtered = profile_filter(profile, options->focus, options->ignore);
    written = format->write(out, filtered != NULL ? filtered : profile, options);
    profile_free(filtered);
    return written;
}

struct profile *format_select(const struct profile *profile, const struct format_options *options) {
    struct profile *grouped = profile_group(profile, options->by, options->phi), *kept;

    if (options->n == 0)
        return grouped;
    kept = profile_keep(grouped, options->n);
    profile_free(grouped);
    return kept;
}
