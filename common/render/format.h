/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * format.h - the formats that a profile can be written in: one table, one file for each.
 *
 * Text has UTF-8 glyphs where the locale says so (LC_CTYPE, which the program sets). LC_NUMERIC
 * must stay "C": numbers in files are written and read with a point.
 */
#ifndef HCCT_FORMAT_H
#define HCCT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/profile/profile.h"

struct diff;

struct format_options {
    enum profile_by by;
    double cut;     /* text without a number of lines: contexts below this inclusive share of N
                     * are folded into one line; dot: functions below it aren't drawn. 0: show all.
                     * Default FORMAT_DEFAULT_CUT */
    unsigned lines; /* text only: so many lines at most, with the heaviest contexts that fit;
                     * 0: all that `cut` leaves. Default FORMAT_DEFAULT_LINES */
    unsigned top;   /* text only: lines of the table of hottest functions; 0: none */
    bool color;     /* text only: escape sequences for a terminal */
    unsigned width; /* text only: columns to fit into, 0: no limit */
    unsigned n;     /* show only the n hottest contexts (and their ancestors), 0: all */
    double phi;     /* show only what has this share of N, as profile_prune has it; 0: all */
    const char *focus, *ignore; /* as filter.h has them; NULL: not asked for. For format_write */
    const struct profile *const
        *others; /* html only: of the same run, for other metrics, n_others */
    unsigned n_others;
    bool all; /* text of a comparison only: also what did not change beyond its error */
};

#define FORMAT_DEFAULT_CUT   0.01
#define FORMAT_DEFAULT_LINES 50
#define FORMAT_DEFAULT_TOP   10

/* The user has said what is to be cut, or how many functions are to be shown: all of the first are
 * printed, and the others have lines beyond the default. */
void format_set_cut(struct format_options *options, double cut);
void format_set_top(struct format_options *options, unsigned top);

struct format {
    const char *name;   /* as --format says it */
    const char *suffix; /* of file names: ".pb.gz" */
    const char *mime;   /* for HTTP */
    const char *help;
    bool binary; /* not for a terminal */
    bool plain;  /* contexts one by one, no filter asked for: what it takes follows from how many
                  * there are, so that a daemon may write it itself */
    bool groups; /* contexts as format_select() has them, by options->by */
    /* Writes the profile; false with errno set when writing failed. */
    bool (*write)(FILE *out, const struct profile *profile, const struct format_options *options);
    /* The same of a comparison (diff.h); NULL: it can't be written so. */
    bool (*write_diff)(FILE *out, const struct diff *diff, const struct format_options *options);
};

extern const struct format formats[]; /* ended by an entry without a name; the first is text */

/* The names of all that people ask for, to stand in a sentence. */
#define FORMAT_NAMES "text, pprof, json, otlp, folded, callgrind, speedscope, firefox, dot or html"

/* The same of those that have a write_diff(). */
#define FORMAT_DIFF_NAMES "text, json or html"

const struct format *format_find(const char *name); /* NULL: no such format */
/* By the suffix, or "callgrind.out" at the beginning of the name; NULL: no format has it. */
const struct format *format_by_suffix(const char *path);

extern const struct format_options format_default_options;

/* Whether errors of the profile's contexts are read: those of groups of contexts, as functions are,
 * follow from counts alone. */
bool format_reads_errors(const struct format *format, const struct format_options *options);

/* Writes the profile, filtered first where the options ask for it. Filters must have passed
 * filter_check. False with errno set when writing failed. */
bool format_write(const struct format *format, FILE *out, const struct profile *profile,
                  const struct format_options *options);

/* The profile as the options want it, grouped and reduced: what a writer of contexts prints. A new
 * one, for the caller to free. */
struct profile *format_select(const struct profile *profile, const struct format_options *options);

bool write_text(FILE *out, const struct profile *profile, const struct format_options *options);
bool write_json(FILE *out, const struct profile *profile, const struct format_options *options);
bool write_folded(FILE *out, const struct profile *profile, const struct format_options *options);
bool write_pprof(FILE *out, const struct profile *profile, const struct format_options *options);
bool write_otlp(FILE *out, const struct profile *profile, const struct format_options *options);
bool write_speedscope(FILE *out, const struct profile *profile,
                      const struct format_options *options);
bool write_firefox(FILE *out, const struct profile *profile, const struct format_options *options);
bool write_callgrind(FILE *out, const struct profile *profile,
                     const struct format_options *options);
bool write_dot(FILE *out, const struct profile *profile, const struct format_options *options);
bool write_html(FILE *out, const struct profile *profile, const struct format_options *options);
bool write_page_data(FILE *out, const struct profile *profile,
                     const struct format_options *options);

/* Comparisons, for people and as JSON (format "hcct-diff", documented in hcct-diff(1)); and as a
 * page: width is what came after, colours are the change. */
bool write_text_diff(FILE *out, const struct diff *diff, const struct format_options *options);
bool write_json_diff(FILE *out, const struct diff *diff, const struct format_options *options);
bool write_html_diff(FILE *out, const struct diff *diff, const struct format_options *options);
bool write_page_data_diff(FILE *out, const struct diff *diff, const struct format_options *options);

/* Reads a pprof profile, ours or another tool's, gzipped or not, from memory. NULL: `error` says in
 * one sentence what is wrong. Ours come back whole (write, read, write gives the same bytes after
 * decompression). */
struct profile *read_pprof(const void *data, size_t bytes, char *error, size_t error_bytes);
/* The same of one of several metrics in it: a metric (common/wire/metric.h) or a type; NULL: the
 * one that is to be shown first. profile->others says which are left out. */
struct profile *read_pprof_metric(const void *data, size_t bytes, const char *metric, char *error,
                                  size_t error_bytes);

/* The same for profiles of OpenTelemetry, uncompressed. What is not in every profile of that format
 * (all that comments of ours say) is there again in what write_otlp wrote. */
struct profile *read_otlp(const void *data, size_t bytes, char *error, size_t error_bytes);

/* Either of the two, by what is in it; gzipped or not. */
struct profile *format_read(const void *data, size_t bytes, char *error, size_t error_bytes);
struct profile *format_read_metric(const void *data, size_t bytes, const char *metric, char *error,
                                   size_t error_bytes);

#endif
