/*
 * format.c - the table of formats.
 */
#include "daemon/report/format.h"

#include <string.h>

const struct format formats[] = {
    {"text", ".txt", "text/plain; charset=utf-8", "hottest functions and contexts, to be read",
     false, write_text},
    {"pprof", ".pb.gz", "application/vnd.google.protobuf+gzip",
     "profile file, for hcct report, go tool pprof and other viewers", true, write_pprof},
    {"json", ".json", "application/json", "hcct-profile JSON, for scripts", false, write_json},
    {"folded", ".folded", "text/plain; charset=utf-8",
     "one line for each context, for flame graph tools", false, write_folded},
    {NULL, NULL, NULL, NULL, false, NULL},
};

const struct format_options format_default_options = {
    .by = PROFILE_BY_FUNCTION,
    .cut = FORMAT_DEFAULT_CUT,
    .top = FORMAT_DEFAULT_TOP,
};

const struct format *format_find(const char *name) {
    for (const struct format *format = formats; format->name != NULL; format++)
        if (strcmp(format->name, name) == 0)
            return format;
    return NULL;
}

const struct format *format_by_suffix(const char *path) {
    const struct format *best = NULL;
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

struct profile *format_select(const struct profile *profile, const struct format_options *options) {
    struct profile *grouped = profile_group(profile, options->by, 0), *kept;

    if (options->n == 0)
        return grouped;
    kept = profile_keep(grouped, options->n);
    profile_free(grouped);
    return kept;
}
