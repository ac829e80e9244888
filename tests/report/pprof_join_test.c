/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * pprof_join_test.c - several metrics in one file: each comes back as it was, by its name, and what
 * can't be joined is refused. And which metrics go together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/render/format.h"
#include "common/render/pprof_join.h"
#include "common/wire/metric.h"
#include "tests/check.h"

#define PARTS 3

/* ---- files ---- */

struct file {
    char *data;
    size_t bytes;
};

/* A profile of one metric, with functions that others have, too, and one of its own. */
static struct profile *make(const char *type, const char *unit, uint64_t weight, uint64_t period) {
    struct profile *profile = profile_new();
    uint32_t process = profile_add_process(
        profile,
        &(struct profile_process){
            .command = "app", .exe = "/bin/app", .pid = 7, .collector = "x", .walks = weight});
    uint32_t main = profile_add_node(profile, profile_root(profile, process),
                                     profile_add_pseudo(profile, "main"), weight, 1);
    profile->type = profile_string(profile, type);
    profile->unit = profile_string(profile, unit);
    profile->period = period;
    profile->phi = 0.25;
    profile_add_node(profile, main, profile_add_pseudo(profile, type), 2 * weight, 0);
    profile->processes[process].total = 3 * weight;
    return profile;
}

static struct file write(const struct profile *profile) {
    struct file file;
    FILE *out = open_memstream(&file.data, &file.bytes);
    CHECK(write_pprof(out, profile, &format_default_options));
    fclose(out);
    return file;
}

static struct file join(const struct file *files, size_t n, const char *want_error) {
    struct pprof_part parts[20];
    struct file file;
    char error[256] = "";
    FILE *out = open_memstream(&file.data, &file.bytes);
    for (size_t i = 0; i < n; i++)
        parts[i] = (struct pprof_part){files[i].data, files[i].bytes};
    CHECK(pprof_join(out, parts, n, error, sizeof error) == (*want_error == '\0'));
    CHECK(strstr(error, want_error) != NULL);
    fclose(out);
    return file;
}

static struct profile *read(const struct file *file, const char *metric, const char *want_error) {
    char error[256] = "";
    struct profile *profile =
        format_read_metric(file->data, file->bytes, metric, error, sizeof error);
    CHECK((profile != NULL) == (*want_error == '\0'));
    CHECK_STR(error, want_error);
    return profile;
}

/* Byte for byte what it was before. */
static void check_same(const struct file *joined, const char *metric, const struct file *alone,
                       const char *others) {
    struct profile *profile = read(joined, metric, "");
    if (profile == NULL)
        return;
    CHECK_STR(profile->others, others);
    struct file back = write(profile);
    CHECK(back.bytes == alone->bytes && memcmp(back.data, alone->data, back.bytes) == 0);
    free(back.data);
    profile_free(profile);
}

static void test_join(void) {
    struct profile *profiles[PARTS] = {make("cpu", "nanoseconds", 100, 1000000),
                                       make("inuse_space", "bytes", 7000, 524288),
                                       make("delay", "nanoseconds", 30, 0)};
    struct file files[PARTS], joined, one;
    for (int i = 0; i < PARTS; i++)
        files[i] = write(profiles[i]);
    joined = join(files, PARTS, "");
    check_same(&joined, NULL, &files[0], "heap, lock");
    check_same(&joined, "cpu", &files[0], "heap, lock");
    check_same(&joined, "heap", &files[1], "cpu, lock");
    check_same(&joined, "inuse_space", &files[1], "cpu, lock");
    check_same(&joined, "lock", &files[2], "cpu, heap");
    (void)read(&joined, "wait",
               "it has no metric 'wait', or no sample of it: it has cpu, heap, lock");
    (void)read(&files[1], "cpu", "it has no metric 'cpu', or no sample of it: it has heap");
    check_same(&files[1], "heap", &files[1], "");

    one = join(files, 1, "");
    CHECK(one.bytes == files[0].bytes && memcmp(one.data, files[0].data, one.bytes) == 0);
    free(one.data);
    free(join(&joined, 1, "").data); /* as it is */
    struct file again[2] = {joined, files[0]}, same[2] = {files[0], files[0]};
    free(join(again, 2, "of one metric").data);
    free(join(same, 2, "twice").data);
    struct file damaged[2] = {files[0], {.data = (char *)"\x1f\x8bnonsense", .bytes = 10}};
    free(join(damaged, 2, "a").data);
    free(join(files, 0, "none").data);
    free(joined.data);
    for (int i = 0; i < PARTS; i++) {
        free(files[i].data);
        profile_free(profiles[i]);
    }
}

/* ---- lists ---- */

static void test_lists(void) {
    struct metric_list list;
    CHECK(metric_list_read("cpu", &list) == NULL && list.n == 1 && list.by_ticks == 0);
    CHECK(metric_list_read("heap,lock,cpu", &list) == NULL && list.n == 3 && list.by_ticks == 2);
    CHECK_UINT(list.metric[0]->collector, WIRE_COLLECT_HEAP);
    CHECK(metric_list_read("alloc,heap", &list) == NULL && list.by_ticks == list.n);
    CHECK(metric_list_read("", &list) != NULL && metric_list_read("cpu,", &list) != NULL);
    CHECK(metric_list_read(",cpu", &list) != NULL && metric_list_read("cpu,x", &list) != NULL);
    CHECK(metric_list_read("cp", &list) != NULL && metric_list_read("cpux", &list) != NULL);
    CHECK(strstr(metric_list_read("cpu,wait", &list), "timer") != NULL);
    CHECK(strstr(metric_list_read("heap,alloc,heap-objects", &list), "table") != NULL);
    CHECK(metric_list_read("faults,heap", &list) == NULL && list.by_ticks == 0);
    CHECK(metric_list_read("faults,cpu", &list) == NULL && list.by_ticks == 1);
    CHECK(strstr(metric_list_read("faults,wait", &list), "CPU time") != NULL);
    CHECK(strstr(metric_list_read("lock,lock", &list), "twice") != NULL);
    CHECK_STR(metric_type_of_word("heap"), "inuse_space");
    CHECK_STR(metric_word_of_type("inuse_space"), "heap");
    CHECK_STR(metric_word_of_type("branches"), "branches");
}

int main(void) {
    test_join();
    test_lists();
    return check_report();
}
