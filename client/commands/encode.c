/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* commands/encode.c - what calling contexts as numbers would be for a program, by its trace. */
#include "client/command.h"
#include "client/commands/encode_trace.h"
#include "common/base/options.h"

#include <errno.h>
#include <string.h>

#define EVERY_DEFAULT 997u /* a prime, to keep out of step with what programs do */

struct given {
    const char *format; /* NULL: not given */
    unsigned id_bits, every;
    bool partial;
};

#define AT(member) offsetof(struct given, member)

static const struct option_spec specs[] = {
    {"every", 0, OPTION_UNSIGNED, "N", AT(every), 1, 1u << 30,
     "sample, decode and check one call in N, and one return in N (997)"},
    {"id-bits", 0, OPTION_UNSIGNED, "N", AT(id_bits), 2, 64,
     "edges that need numbers of more bits go without (64)"},
    {"partial", 0, OPTION_FLAG, NULL, AT(partial), 0, 0,
     "of a trace that ends early, show what is there"},
    {"format", 0, OPTION_STRING, "F", AT(format), 0, 0, "text or json (text)"},
    OPTIONS_END,
};

static const struct option_command command = {
    .usage = "hcct encode [options] TRACE",
    .about = "Executes the calls of a trace again, with each thread's calling context kept as a\n"
             "number and a short stack: how large numbers get, how many calls would need code of\n"
             "their own, how often codes are given anew; and whether contexts are decoded right.\n"
             "TRACE - is standard input.",
    .examples = "  hcct record --collector calls --trace app.trace -- ./app\n"
                "  hcct encode app.trace\n",
    .options = specs,
};

/* ---- */

static bool resolve(const struct given *given, bool *json) {
    *json = given->format != NULL && strcmp(given->format, "json") == 0;
    if (given->format == NULL || *json || strcmp(given->format, "text") == 0)
        return true;
    complain("--format '%s': it must be text or json", given->format);
    return false;
}

/* Whether there is something to show; says why not. */
static int judge(const char *name, const struct trace_reader *reader,
                 const struct encoded_trace *trace, bool partial) {
    if (trace->refused != NULL)
        complain("%s: %s", name, trace->refused);
    else if (trace->end == TRACE_READ_END && trace->n == 0)
        complain("%s: the trace is complete, and there is no call in it", name);
    else if (trace->end == TRACE_READ_FAILED || (trace->end == TRACE_READ_CUT && trace->n == 0))
        complain("%s", trace_reader_error(reader));
    else if (trace->end == TRACE_READ_CUT && !partial)
        complain("%s; --partial shows what is there", trace_reader_error(reader));
    else
        return HCCT_EXIT_OK;
    return trace->refused == NULL && trace->end == TRACE_READ_END ? HCCT_EXIT_NO_DATA
                                                                  : HCCT_EXIT_FAILURE;
}

/* A context that is decoded wrong is a defect of this program. */
static int judge_decoded(const struct encoded_trace *trace) {
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < trace->n; i++)
        wrong += trace->process[i].wrong + trace->process[i].kept_wrong;
    if (wrong > 0)
        complain("%llu contexts were decoded wrong", (unsigned long long)wrong);
    return wrong > 0 ? HCCT_EXIT_FAILURE : HCCT_EXIT_OK;
}

static int show(const struct encoded_trace *trace, bool json) {
    if (json ? encoded_write_json(stdout, trace) : encoded_write_text(stdout, trace))
        return judge_decoded(trace);
    complain("standard output can't be written: %s", strerror(errno));
    return HCCT_EXIT_FAILURE;
}

static int encode(const char *name, const struct given *given, bool json) {
    const struct encode_options options = {.id_bits = given->id_bits, .every = given->every};
    char error[512];
    struct encoded_trace trace;
    struct trace_reader *reader = trace_reader_open(name, error, sizeof error);
    if (reader == NULL) {
        complain("%s", error);
        return HCCT_EXIT_FAILURE;
    }
    encode_trace(reader, &options, &trace);
    int status = judge(name, reader, &trace, given->partial);
    if (status == HCCT_EXIT_OK)
        status = show(&trace, json);
    if (status == HCCT_EXIT_OK && trace.end == TRACE_READ_CUT)
        complain("%s; the figures are of these", trace_reader_error(reader));
    encoded_trace_free(&trace);
    trace_reader_close(reader);
    return status;
}

int cmd_encode(int argc, char **argv) {
    struct given given = {.id_bits = 64, .every = EVERY_DEFAULT};
    bool json;
    int rest;
    options_parse(&command, argc, argv, &given, &rest);
    if (rest >= argc) {
        complain("name a trace: hcct encode TRACE; 'hcct record --collector calls --trace FILE' "
                 "writes one");
        return HCCT_EXIT_USAGE;
    }
    options_no_more(&command, argc, argv, rest + 1);
    if (!resolve(&given, &json))
        return HCCT_EXIT_USAGE;
    return encode(argv[rest], &given, json);
}
