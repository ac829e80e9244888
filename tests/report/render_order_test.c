/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * render_order_test.c - what is rendered by another process of the program is what this one would
 * have rendered: order out, order in, the same bytes in every format.
 */
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

#include "common/profile/process_fields.h"
#include "common/render/render_order.h"
#include "tests/report/sample.h"

#define RANDOM 60

static char *render(const struct format *format, const struct profile *profile,
                    const struct format_options *options) {
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    CHECK(format_write(format, out, profile, options));
    fclose(out);
    return text;
}

static char *write_order(const struct format *format, struct profile *profile,
                         const struct format_options *options, size_t *bytes) {
    char *order;
    FILE *out = open_memstream(&order, bytes);
    CHECK(render_order_write(format, out, 0, profile, options, RENDER_AFTER));
    fclose(out);
    return order;
}

static void same(const struct format *format, struct profile *profile,
                 const struct format_options *options) {
    char *here = render(format, profile, options), *there;
    struct render_order read;
    size_t bytes;
    char *order = write_order(format, profile, options, &bytes);
    FILE *in = fmemopen(order, bytes, "r");
    CHECK(render_order_read(in, &read));
    CHECK(read.format == format);
    there = render(read.format, read.profile, &read.options);
    CHECK_STR(there, here);
    render_order_free(&read);
    fclose(in);
    free(order);
    free(there);
    free(here);
}

static void same_in_all_formats(struct profile *profile, const struct format_options *options) {
    for (const struct format *format = formats; format->name != NULL; format++)
        if (!format->binary)
            same(format, profile, options);
    profile_free(profile);
}

static void test_samples(void) {
    static struct profile *(*const make[])(void) = {sample_shell, sample_build,       sample_names,
                                                    sample_hard,  sample_stripped,    sample_calls,
                                                    sample_none,  sample_call_bursts, sample_empty};
    struct format_options narrow = format_default_options;
    narrow.by = PROFILE_BY_LINE;
    narrow.width = 60;
    narrow.color = true;
    narrow.n = 5;
    narrow.phi = 0.01;
    narrow.focus = "a|e";
    narrow.ignore = "main.*x";
    for (size_t i = 0; i < sizeof make / sizeof make[0]; i++) {
        same_in_all_formats(make[i](), &format_default_options);
        same_in_all_formats(make[i](), &narrow);
    }
    same_in_all_formats(sample_deep(3000), &format_default_options);
    for (uint64_t seed = 0; seed < RANDOM; seed++)
        same_in_all_formats(sample_random(seed), &format_default_options);
}

/* Each text of a process goes along, whichever there are. */
static void test_texts(void) {
    struct profile *profile = sample_calls();
    for (const struct process_field *field = process_fields; field->name != NULL; field++)
        if (field->kind == FIELD_STRING && strcmp(field->name, "collector") != 0)
            process_field_set_string(&profile->processes[1], field, field->name);
    same_in_all_formats(profile, &format_default_options);
}

/* Contexts that were cut have bounds from before. */
static void test_bounded(void) {
    struct profile *whole = sample_build(), *cut = profile_prune(whole, 0.05);
    CHECK(cut->bounded && cut->flat != NULL);
    same_in_all_formats(cut, &format_default_options);
    profile_free(whole);
}

/* Two profiles that are compared are two orders in one file; that which was before is the first. */
static void test_comparison(void) {
    struct profile *before = sample_shell(), *after = sample_build();
    const struct format *json = format_find("json");
    struct render_order read;
    char *order;
    size_t bytes;
    FILE *out = open_memstream(&order, &bytes);
    CHECK(render_order_write(json, out, 0, before, &format_default_options, RENDER_AFTER));
    int64_t start = ftello(out);
    CHECK(render_order_write(json, out, start, after, &format_default_options, RENDER_AFTER));
    fclose(out);
    FILE *in = fmemopen(order, bytes, "r");
    CHECK(render_order_read(in, &read) && read.before != NULL);
    CHECK_UINT(profile_total(read.before), profile_total(before));
    CHECK_UINT(profile_total(read.profile), profile_total(after));
    render_order_free(&read);
    fclose(in);
    order[start - 1] ^= 0x40; /* where the first one's head is */
    in = fmemopen(order, bytes, "r");
    CHECK(!render_order_read(in, &read));
    render_order_free(&read);
    fclose(in);
    free(order);
    profile_free(before);
    profile_free(after);
}

/* Of several metrics each is an order, and the last one is shown first. */
static void test_beside(void) {
    struct profile *part[] = {sample_build(), sample_names(), sample_shell()};
    struct render_order read;
    char *order;
    size_t bytes;
    FILE *out = open_memstream(&order, &bytes);
    for (size_t i = 0; i < 3; i++)
        CHECK(render_order_write(format_find("html"), out, ftello(out), part[i],
                                 &format_default_options, RENDER_BESIDE));
    fclose(out);
    FILE *in = fmemopen(order, bytes, "r");
    CHECK(render_order_read(in, &read) && read.before == NULL);
    CHECK_UINT(profile_total(read.profile), profile_total(part[2]));
    CHECK_UINT(read.options.n_others, 2);
    CHECK_UINT(profile_total(read.options.others[0]), profile_total(part[1]));
    CHECK_UINT(profile_total(read.options.others[1]), profile_total(part[0]));
    render_order_free(&read);
    fclose(in);
    free(order);
    for (size_t i = 0; i < 3; i++)
        profile_free(part[i]);
}

/* An order that ends early is none, wherever it ends. */
static void test_cut_off(void) {
    struct profile *profile = sample_names();
    struct format_options options = format_default_options;
    size_t bytes;
    options.focus = "f";
    char *order = write_order(formats, profile, &options, &bytes);
    for (size_t n = 0; n < bytes; n += 1 + n / 50) {
        struct render_order read;
        FILE *in = n > 0 ? fmemopen(order, n, "r") : fopen("/dev/null", "r");
        CHECK(!render_order_read(in, &read));
        render_order_free(&read);
        fclose(in);
    }
    free(order);
    profile_free(profile);
}

int main(void) {
    test_samples();
    test_texts();
    test_bounded();
    test_comparison();
    test_beside();
    test_cut_off();
    return check_report();
}
