/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * title_test.c - what a profile is called: by the command that was recorded, else by its processes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/diff.h"
#include "common/profile/merge.h"
#include "common/render/format.h"
#include "common/render/pprof_comments.h"
#include "common/render/title.h"
#include "tests/check.h"

#define HOSTILE "sh -c 'x'\x1b[2J\n\xc2\x85"

static void add(struct profile *profile, const char *command, const char *exe, uint64_t weight) {
    uint32_t process = profile_add_process(
        profile, &(struct profile_process){.command = command, .exe = exe, .clock = "cpu"});
    if (weight > 0)
        profile_add_node(profile, profile_root(profile, process),
                         profile_add_pseudo(profile, "work"), weight, 0);
}

static struct profile *make(const char *title) {
    struct profile *profile = profile_new();
    profile->type = "cpu";
    profile->unit = "nanoseconds";
    profile->title = profile_string(profile, title);
    return profile;
}

static void check_title(const struct profile *profile, const char *command, const char *whole) {
    char *title = title_of_command(profile);
    CHECK_STR(title, command);
    free(title);
    title = title_of_profile(profile);
    CHECK_STR(title, whole);
    free(title);
}

static void test_names(void) {
    struct profile *profile = make("");
    check_title(profile, "no process", "no process: 0 ns of CPU time");
    add(profile, "sh", "/bin/dash", 0);
    check_title(profile, "sh", "sh: 0 ns of CPU time");
    add(profile, "as", "/bin/x-as", 10);
    add(profile, "cc1", "/lib/cc1", 50);
    check_title(profile, "cc1, as, sh", "cc1, as, sh: 60 ns of CPU time");
    add(profile, "as", "/bin/x-as", 41);
    check_title(profile, "as, cc1, sh", "as, cc1, sh: 101 ns of CPU time");
    add(profile, "ld\x1b[1m", "/bin/ld", 20);
    add(profile, "make", "/bin/make", 3);
    check_title(profile, "as, cc1, ld [1m and 2 more",
                "as, cc1, ld [1m and 2 more: 124 ns of CPU time");
    profile->title = profile_string(profile, HOSTILE);
    check_title(profile, "sh -c 'x' [2J  ", "sh -c 'x' [2J  : 124 ns of CPU time");
    profile_free(profile);
}

static struct profile *write_and_read(const struct profile *profile) {
    char *text, error[256] = "";
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    struct profile *back;
    CHECK(write_pprof(out, profile, &format_default_options));
    fclose(out);
    back = read_pprof(text, bytes, error, sizeof error);
    CHECK_STR(error, "");
    free(text);
    return back;
}

static void test_files(void) {
    static const char *const titles[] = {"", "make -j2", "a \"b\\c\" 'd' = e", HOSTILE};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
        struct profile *profile = make(titles[i]), *back;
        add(profile, "as", "/bin/as", 10);
        back = write_and_read(profile);
        CHECK_STR(back->title, titles[i]);
        profile_free(back);
        profile_free(profile);
    }
}

/* Files of other versions know no title, or more than we do. */
static void test_versions(void) {
    struct profile *profile = profile_new();
    int version = 0;
    CHECK(comment_read(profile, "hcct: profile 2 phi=0.01 summary=exact", &version));
    CHECK_STR(profile->title, "");
    CHECK(comment_read(profile, "hcct: profile 2 later=\"x title=y\" title=\"a b\" more=1",
                       &version));
    CHECK_STR(profile->title, "a b");
    profile_free(profile);
}

static void check_sum(const char *first, const char *second, const char *want) {
    struct profile *parts[] = {make(first), make(second)}, *sum;
    char error[256] = "";
    size_t bad = 0;
    add(parts[0], "gzip", "/bin/busybox", 1);
    add(parts[1], "awk", "/bin/busybox", 2);
    add(parts[1], "gzip", "/bin/busybox", 4);
    sum = merge_profiles((const struct profile *const *)parts, 2, &bad, error, sizeof error);
    CHECK_STR(error, "");
    CHECK_STR(sum->title, want);
    CHECK_UINT(sum->n_processes, 3); /* one file by two names */
    check_title(sum, *want != '\0' ? want : "gzip, awk",
                *want != '\0' ? "make -j2: 7 ns of CPU time" : "gzip, awk: 7 ns of CPU time");
    profile_free(sum);
    profile_free(parts[0]);
    profile_free(parts[1]);
}

static void check_diff(const char *command, const char *exe, uint32_t processes) {
    struct profile *before = make("./old"), *after = make("");
    struct diff_options options = {.by = PROFILE_BY_FUNCTION};
    struct diff diff;
    char error[256] = "";
    add(before, "server", "/opt/check", 10);
    add(after, command, exe, 10);
    if (processes > 2)
        add(after, "other", "/opt/check", 10);
    CHECK(diff_make(&diff, before, after, &options, error, sizeof error));
    CHECK_STR(diff.side[DIFF_BEFORE].title, "./old");
    CHECK_STR(diff.side[DIFF_BEFORE].exe, "server");
    CHECK_STR(diff.side[DIFF_AFTER].title, "");
    CHECK_STR(diff.side[DIFF_AFTER].exe, command);
    CHECK_UINT(diff.profile->n_processes, processes);
    diff_free(&diff);
    profile_free(before);
    profile_free(after);
}

int main(void) {
    test_names();
    test_files();
    test_versions();
    check_sum("make -j2", "make -j2", "make -j2");
    check_sum("make -j2", "make", "");
    check_sum("", "make", "");
    check_diff("server", "/opt/check-2", 2);
    check_diff("check", "/opt/check", 2); /* an older file knew it by its file's name */
    check_diff("server", "/opt/check-2", 3);
    return check_report();
}
