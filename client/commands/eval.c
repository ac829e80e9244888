/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * eval.c - a profile compared with an exact one.
 */
#include "client/command.h"
#include "client/profile_file.h"
#include "client/transform_options.h"
#include "common/base/options.h"
#include "common/profile/eval.h"
#include "common/render/results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct given {
    const char *exact, *approx, *tau, *by, *scale, *exe, *format; /* NULL: not given */
    double phi;                                                   /* 0: not given */
    struct transform transform;
};

#define AT(member) offsetof(struct given, member)

static const struct option_spec specs[] = {
    {"exact", 0, OPTION_STRING, "FILE", AT(exact), 0, 0, "the profile that is right"},
    {"approx", 0, OPTION_STRING, "FILE", AT(approx), 0, 0, "the profile that is compared with it"},
    {"phi", 0, OPTION_FRACTION, "P", AT(phi), 0, 1,
     "hot is what has this share of the total (that of approx, else 0.0001)"},
    {"tau", 0, OPTION_STRING, "T,...", AT(tau), 0, 0,
     "thresholds of hot edge coverage, as shares of the hottest (0.01 to 1)"},
    {"by", 0, OPTION_STRING, "WHAT", AT(by), 0, 0,
     "contexts are paths of site or function (by what the profiles are)"},
    {"scale", 0, OPTION_STRING, "WHEN", AT(scale), 0, 0,
     "counts to the exact total: auto, or no (auto: when totals differ)"},
    {"exe", 'p', OPTION_STRING, "NAME", AT(exe), 0, 0,
     "only this executable: its path, or the last part of it"},
    {"format", 0, OPTION_STRING, "F", AT(format), 0, 0, "text or json (text)"},
    TRANSFORM_SYSTEM_CALLS(given, transform),
    OPTIONS_END,
};

static const struct option_command command = {
    .usage = "hcct eval --exact FILE --approx FILE [options]",
    .about = "Tells how well a profile approximates an exact one of the same program: degree of\n"
             "overlap, coverage, what is missing, wrong counts, sizes. FILE - is standard input.",
    .examples = "  hcct eval --exact all.pb.gz --approx hcct.pb.gz\n"
                "  hcct eval --exact all.pb.gz --approx bursts.pb.gz --phi 0.001 --format json\n",
    .options = specs,
};

/* "0.01,0.1,1"; each above 0 and at most 1. */
static bool parse_taus(const char *text, struct eval_options *options) {
    const char *at = text;
    for (;;) {
        char *end;
        double tau = strtod(at, &end);
        if (end == at || (*end != ',' && *end != '\0') || !(tau > 0 && tau <= 1)) {
            complain("--tau '%s': it must be numbers above 0 and up to 1, with commas between",
                     text);
            return false;
        }
        if (options->n_taus == EVAL_TAUS_MAX) {
            complain("--tau '%s': at most %d numbers", text, EVAL_TAUS_MAX);
            return false;
        }
        options->tau[options->n_taus++] = tau;
        if (*end == '\0')
            return true;
        at = end + 1;
    }
}

/* Is the word the second of two choices? False with *ok false: it is neither. */
static bool is_second(const char *option, const char *word, const char *first, const char *second,
                      bool *ok) {
    if (strcmp(word, second) == 0)
        return true;
    if (strcmp(word, first) != 0) {
        complain("--%s '%s': it must be %s or %s", option, word, first, second);
        *ok = false;
    }
    return false;
}

static bool resolve(const struct given *given, struct eval_options *options, bool *json) {
    bool ok = true;
    *options = (struct eval_options){.phi = given->phi, .exe = given->exe};
    *json = false;
    if (given->exact == NULL || given->approx == NULL) {
        complain("name two profiles: hcct eval --exact FILE --approx FILE");
        return false;
    }
    if (strcmp(given->exact, "-") == 0 && strcmp(given->approx, "-") == 0) {
        complain("only one of the profiles can be standard input");
        return false;
    }
    if (given->by != NULL)
        options->by =
            is_second("by", given->by, "site", "function", &ok) ? EVAL_BY_FUNCTION : EVAL_BY_SITE;
    if (ok && given->scale != NULL)
        options->no_scale = is_second("scale", given->scale, "auto", "no", &ok);
    if (ok && given->format != NULL)
        *json = is_second("format", given->format, "text", "json", &ok);
    return ok && (given->tau == NULL || parse_taus(given->tau, options));
}

static struct profile *read_profile(const char *name, const struct transform *transform) {
    size_t bytes;
    char *data = profile_file_load(name, &bytes);
    struct profile *profile = data != NULL ? profile_file_parse(name, data, bytes) : NULL;
    free(data);
    return profile != NULL ? transform_apply(profile, transform, PROFILE_BY_SITE) : NULL;
}

static int compare(const struct profile *exact, const struct profile *approx,
                   const struct eval_options *options, bool json) {
    struct eval eval;
    char error[2048];
    if (!eval_compare(&eval, exact, approx, options, error, sizeof error)) {
        complain("%s", error);
        return HCCT_EXIT_FAILURE;
    }
    bool written = json ? eval_write_json(stdout, &eval) : eval_write_text(stdout, &eval);
    if (!written)
        complain("standard output can't be written: %s", strerror(errno));
    eval_free(&eval);
    return written ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

int cmd_eval(int argc, char **argv) {
    struct given given = {0};
    struct eval_options options;
    bool json;
    int rest, status = HCCT_EXIT_FAILURE;
    options_parse(&command, argc, argv, &given, &rest);
    options_no_more(&command, argc, argv, rest);
    if (!resolve(&given, &options, &json))
        return HCCT_EXIT_USAGE;
    struct profile *exact = read_profile(given.exact, &given.transform);
    struct profile *approx = exact != NULL ? read_profile(given.approx, &given.transform) : NULL;
    if (approx != NULL)
        status = compare(exact, approx, &options, json);
    profile_free(exact);
    profile_free(approx);
    return status;
}
