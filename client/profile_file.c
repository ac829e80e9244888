/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * profile_file.c - load, parse, group, write: the road that a stored profile takes.
 */
#include "client/profile_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/options.h"
#include "common/wire/metric.h"

#define PROFILE_BYTES_MAX ((size_t)1 << 30)

static char *read_all(FILE *file, size_t *bytes) {
    size_t space = 1 << 16;
    char *data = malloc(space);
    *bytes = 0;
    while (data != NULL) {
        *bytes += fread(data + *bytes, 1, space - *bytes, file);
        if (*bytes < space)
            break;
        errno = EFBIG;
        char *more = space < PROFILE_BYTES_MAX ? realloc(data, 2 * space) : NULL;
        if (more == NULL) {
            free(data);
            return NULL;
        }
        data = more;
        space *= 2;
    }
    if (data != NULL && ferror(file)) {
        free(data);
        return NULL;
    }
    return data;
}

char *profile_file_load(const char *name, size_t *bytes) {
    bool from_stdin = strcmp(name, "-") == 0;
    FILE *file = from_stdin ? stdin : fopen(name, "re");
    char *data = file != NULL ? read_all(file, bytes) : NULL;
    if (data == NULL)
        complain("%s can't be read: %s", name, strerror(errno));
    if (file != NULL && !from_stdin)
        fclose(file);
    return data;
}

void profile_file_say_others(const struct profile *profile, const struct format *format) {
    if (*profile->others != '\0' && format != formats)
        complain("%s has one metric, %s: left out %s (--metric chooses)", format->name,
                 metric_word_of_type(profile->type), profile->others);
}

struct profile *profile_file_parse(const char *name, const void *data, size_t bytes) {
    return profile_file_parse_metric(name, data, bytes, NULL);
}

struct profile *profile_file_parse_metric(const char *name, const void *data, size_t bytes,
                                          const char *metric) {
    char error[512];
    struct profile *profile = format_read_metric(data, bytes, metric, error, sizeof error);
    if (profile == NULL)
        complain("%s: %s", name, error);
    return profile;
}

bool profile_file_write(FILE *out, const struct profile *profile, const struct format *format,
                        const struct format_options *options, double phi) {
    struct format_options cut = *options;
    cut.phi = phi;
    return format_write(format, out, profile, &cut);
}
