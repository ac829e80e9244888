/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* encode_write.c - what encoding a trace has shown, for people and for programs. */
#include <math.h>

#include "client/commands/encode_trace.h"
#include "common/base/json_out.h"
#include "common/render/format_number.h"

static double ratio(uint64_t part, uint64_t whole) {
    return whole > 0 ? (double)part / (double)whole : 0;
}

static double percent(uint64_t part, uint64_t whole) {
    return 100 * ratio(part, whole);
}

/* ---- for people ---- */

static void write_graph(FILE *out, const struct encoded *e) {
    fprintf(out, "  call graph   %s functions, ", format_count(e->functions).text);
    fprintf(out, "%s edges; ", format_count(e->edges).text);
    fprintf(out, "the last encoding has %s of them", format_count(e->encoded).text);
    if (e->newer > 0)
        fprintf(out, ", %s are newer", format_count(e->newer).text);
    if (e->circles > 0)
        fprintf(out, ", %s close a circle", format_count(e->circles).text);
    if (e->out_of_range > 0)
        fprintf(out, ", %s were out of range", format_count(e->out_of_range).text);
    fprintf(out, "\n  largest id   %s", format_count(e->max_id).text);
    if (e->max_id > 0)
        fprintf(out, " (2^%.1f)", log2((double)e->max_id));
    fputc('\n', out);
}

static void write_calls(FILE *out, const struct encoded *e) {
    uint64_t calls = encoded_calls(e);
    fprintf(out, "  calls        %.1f %% have code 0, %.1f %% add a code, ",
            percent(e->calls[CONTEXT_FREE], calls), percent(e->calls[CONTEXT_ADDED], calls));
    fprintf(out, "%.2f %% push on the stack, %.2f %% repeat its top\n",
            percent(e->calls[CONTEXT_PUSHED], calls), percent(e->calls[CONTEXT_REPEATED], calls));
    fprintf(out, "               %.1f %% indirect, or otherwise not followed; ",
            percent(e->unseen, calls));
    fprintf(out, "%.1f %% need code and are of functions that call nothing\n",
            percent(e->leaf, calls));
}

static void write_contexts(FILE *out, const struct encoded *e) {
    fprintf(out, "  depth        %.1f calls on average, %s at most; ",
            ratio(e->path_sum, e->samples), format_count(e->path_max).text);
    fprintf(out, "of the stack %.2f and %s\n", ratio(e->stack_sum, e->samples),
            format_count(e->stack_max).text);
    fprintf(out, "  encodings    %s, ", format_count(e->encodings).text);
    fprintf(out, "in %.1f ms of CPU time\n", (double)e->encoding_ns / 1e6);
    fprintf(out, "  checked      %s contexts, ", format_count(e->samples).text);
    fprintf(out, "%s decoded wrong; ", format_count(e->wrong).text);
    fprintf(out, "%s by encodings of their time, ", format_count(e->kept).text);
    fprintf(out, "%s wrong\n", format_count(e->kept_wrong).text);
}

static void write_process(FILE *out, const struct encoded *e) {
    fprintf(out, "%s (pid %u): %s calls", e->command, e->pid, format_count(encoded_calls(e)).text);
    fprintf(out, " by %s thread%s\n", format_count(e->threads).text, e->threads == 1 ? "" : "s");
    write_graph(out, e);
    write_calls(out, e);
    write_contexts(out, e);
}

bool encoded_write_text(FILE *out, const struct encoded_trace *trace) {
    for (uint32_t i = 0; i < trace->n; i++) {
        if (i > 0)
            fputc('\n', out);
        write_process(out, &trace->process[i]);
    }
    return fflush(out) == 0 && !ferror(out);
}

/* ---- for programs ---- */

static void put_calls(struct json_out *json, const struct encoded *e) {
    json_object_member(json, "calls");
    json_number_member(json, "all", encoded_calls(e));
    json_number_member(json, "free", e->calls[CONTEXT_FREE]);
    json_number_member(json, "added", e->calls[CONTEXT_ADDED]);
    json_number_member(json, "pushed", e->calls[CONTEXT_PUSHED]);
    json_number_member(json, "repeated", e->calls[CONTEXT_REPEATED]);
    json_number_member(json, "unseen", e->unseen);
    json_number_member(json, "leaf", e->leaf);
    json_end(json, '}');
}

static void put_graph(struct json_out *json, const struct encoded *e) {
    json_number_member(json, "functions", e->functions);
    json_number_member(json, "edges", e->edges);
    json_number_member(json, "encoded", e->encoded);
    json_number_member(json, "newer", e->newer);
    json_number_member(json, "circles", e->circles);
    json_number_member(json, "out_of_range", e->out_of_range);
    json_number_member(json, "max_id", e->max_id);
    json_number_member(json, "encodings", e->encodings);
    json_number_member(json, "encoding_ns", e->encoding_ns);
}

static void put_contexts(struct json_out *json, const struct encoded *e) {
    json_object_member(json, "depth");
    json_double_member(json, "average", ratio(e->path_sum, e->samples));
    json_number_member(json, "max", e->path_max);
    json_double_member(json, "stack_average", ratio(e->stack_sum, e->samples));
    json_number_member(json, "stack_max", e->stack_max);
    json_end(json, '}');
    json_object_member(json, "checked");
    json_number_member(json, "contexts", e->samples);
    json_number_member(json, "wrong", e->wrong);
    json_number_member(json, "of_the_time", e->kept);
    json_number_member(json, "of_the_time_wrong", e->kept_wrong);
    json_end(json, '}');
}

static void put_process(struct json_out *json, const struct encoded *e) {
    json_begin(json, '{');
    json_bytes_member(json, "command", e->command);
    json_number_member(json, "pid", e->pid);
    json_number_member(json, "threads", e->threads);
    put_calls(json, e);
    put_graph(json, e);
    put_contexts(json, e);
    json_end(json, '}');
}

bool encoded_write_json(FILE *out, const struct encoded_trace *trace) {
    struct json_out json = {.out = out};
    json_begin(&json, '{');
    json_string_member(&json, "format", "hcct-encoding");
    json_number_member(&json, "version", 1);
    json_array_member(&json, "processes");
    for (uint32_t i = 0; i < trace->n; i++)
        put_process(&json, &trace->process[i]);
    json_end(&json, ']');
    json_end(&json, '}');
    fputc('\n', out);
    return fflush(out) == 0 && !ferror(out);
}
