/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * past_sum_test.c - any hours of the history, added up from logs, days and all, are what
 * merge_profiles() makes of their profiles: each context, each bound, each process. A renderer that
 * adds them up itself writes the same bytes.
 */
#include "daemon/history/history.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/profile/copy.h"
#include "common/profile/merge.h"
#include "common/render/format.h"
#include "common/render/render_order.h"
#include "daemon/history/history_add.h"
#include "tests/check.h"
#include "tests/report/forest.h"
#include "tests/report/sample.h"

#define HOUR   3600u
#define HOURS  80u
#define LOG    (14u * 86400u) /* a log ends there */
#define FIRST  (1400ull * LOG - 50 * HOUR)
#define RANGES 60

static char directory[] = "/tmp/hcct-past-XXXXXX";
static char *file[HOURS]; /* as the keeper writes them */
static size_t bytes[HOURS];
static uint64_t seed = 7;

static const struct forest_view views[] = {
    {.collector = "calls", .exe = "/opt/a/app", .pruned = 30, .missing = 20},
    {.collector = "calls", .exe = "/opt/a/app"},
    {.collector = "calls", .exe = "/opt/b/other", .pruned = 50},
};

/* The same program does other things in each hour; one has a phi of its own. */
static struct profile *make_forest(unsigned hour, const struct forest *forest) {
    struct forest some = *forest;
    for (uint32_t i = 1; i < FOREST_CONTEXTS; i++)
        some.weight[i] = forest_random(&seed, 3) == 0 ? forest_random(&seed, 1000) : 0;
    struct profile *profile = forest_profile(&some, &views[hour % 3], &seed);
    if (hour == 30)
        profile->phi = 0.5;
    if (hour % 5 == 0)
        profile->processes[1].pid = 100 + hour;
    return profile;
}

/* Names that the first hour had not, and others have; design effects. */
static void spoil(struct profile *profile, unsigned hour) {
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        struct profile_location *place = &profile->locations[i];
        if (place->module == 0)
            continue;
        profile_set_effects(profile, i, (float)(1 + (hour * i) % 5), (float)(1 + (hour + i) % 3));
        if (hour > 0 || i % 4 != 0)
            continue;
        const char *name = profile_place_name(profile, profile, place);
        struct profile_line line = {.function = profile_add_function(profile, name, name, "", 0)};
        profile_set_lines(profile, i, &line, 1);
    }
}

static struct profile *read_hour(unsigned hour) {
    char error[256];
    struct profile *profile = read_pprof(file[hour], bytes[hour], error, sizeof error);
    CHECK(profile != NULL);
    return profile;
}

static void write_hours(struct profile *(*make)(unsigned hour, const struct forest *forest),
                        uid_t uid) {
    struct forest forest;
    forest_grow(&forest, &seed, 1000);
    for (unsigned hour = 0; hour < HOURS; hour++) {
        struct profile *profile = make(hour, &forest);
        spoil(profile, hour);
        const struct history_cell cell = {.begin_s = FIRST + hour * HOUR,
                                          .end_s = FIRST + (hour + 1) * HOUR,
                                          .weight = profile_total(profile),
                                          .uid = uid};
        free(file[hour]);
        FILE *out = open_memstream(&file[hour], &bytes[hour]);
        CHECK(write_pprof(out, profile, &format_default_options));
        fclose(out);
        FILE *kept = history_begin(&cell);
        CHECK(fwrite(file[hour], 1, bytes[hour], kept) == bytes[hour]);
        CHECK(history_commit(kept, true));
        profile_free(profile);
    }
}

/* ---- what it is compared by ---- */

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Contexts stand in another order; of modules, ranges are those of the last hour that has them. */
static char *sorted_dump(const struct profile *profile) {
    for (uint32_t i = 1; i < profile->n_modules; i++)
        profile->modules[i].start = profile->modules[i].limit = 0;
    char *text = sample_dump(profile), **lines, *sorted = malloc(strlen(text) + 64);
    size_t n = 0;
    lines = malloc((strlen(text) + 1) * sizeof *lines);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        lines[n++] = line;
    qsort(lines, n, sizeof *lines, by_text);
    char *end = sorted;
    for (size_t i = 0; i < n; i++)
        end += sprintf(end, "%s\n", lines[i]);
    sprintf(end, "%zu", n);
    free(lines);
    free(text);
    return sorted;
}

static bool weighs(const struct profile *profile) {
    for (uint32_t i = 1; i < profile->n_processes; i++)
        if (profile->processes[i].total > 0)
            return true;
    return false;
}

static bool has_exe(const void *exe, const struct profile_process *process) {
    return exe == NULL || strcmp(process->exe, exe) == 0;
}

/* ---- both ways ---- */

static struct profile *add_plainly(const bool *wanted, const char *exe) {
    struct profile *parts[HOURS], *sum = NULL;
    char error[256];
    size_t n = 0, bad;
    for (unsigned hour = 0; hour < HOURS; hour++) {
        if (!wanted[hour])
            continue;
        struct profile *whole = read_hour(hour);
        parts[n] = copy_processes(whole, has_exe, exe);
        profile_free(whole);
        if (weighs(parts[n]))
            n++;
        else
            profile_free(parts[n]);
    }
    if (n > 0)
        sum = merge_profiles((const struct profile *const *)parts, n, &bad, error, sizeof error);
    for (size_t i = 0; i < n; i++)
        profile_free(parts[i]);
    return sum;
}

static struct profile *add_parts(struct history_part *parts, size_t n) {
    struct merge_part some[HOURS];
    char error[256];
    size_t bad;
    if (n == 0)
        return NULL;
    for (size_t i = 0; i < n; i++)
        some[i] = (struct merge_part){parts[i].profile, parts[i].trees};
    if (n > 1)
        return merge_parts(some, n, &bad, error, sizeof error);
    merge_finish(parts[0].profile, parts[0].trees);
    struct profile *sum = parts[0].profile;
    parts[0].profile = NULL;
    return sum;
}

static struct profile *add_from_logs(const struct history_cell *cells, const bool *wanted,
                                     const char *exe, bool days) {
    const struct history_choice choice = {has_exe, exe};
    struct history_cell some[HOURS];
    size_t n = 0, n_parts;
    for (unsigned hour = 0; hour < HOURS; hour++)
        if (wanted[hour])
            some[n++] = cells[hour];
    struct history_part *parts = history_read(some, n, &choice, days, &n_parts);
    struct profile *sum = add_parts(parts, n_parts);
    for (size_t i = 0; i < n_parts; i++) {
        profile_free(parts[i].profile);
        free(parts[i].trees);
    }
    free(parts);
    return sum;
}

/* The first line that differs tells more than all of them. */
static void check_same(char *got, char *want) {
    char *rest_got = NULL, *rest_want = NULL;
    char *one = strtok_r(got, "\n", &rest_got), *other = strtok_r(want, "\n", &rest_want);
    while (one != NULL && other != NULL && strcmp(one, other) == 0) {
        one = strtok_r(NULL, "\n", &rest_got);
        other = strtok_r(NULL, "\n", &rest_want);
    }
    CHECK_STR(one != NULL ? one : "", other != NULL ? other : "");
}

static void compare(const struct history_cell *cells, const bool *wanted, const char *exe) {
    struct profile *plain = add_plainly(wanted, exe);
    for (int days = 0; days < 2; days++) {
        char *want = plain != NULL ? sorted_dump(plain) : strdup("nothing");
        struct profile *sum = add_from_logs(cells, wanted, exe, days == 1);
        char *got = sum != NULL ? sorted_dump(sum) : strdup("nothing");
        check_same(got, want);
        free(got);
        free(want);
        profile_free(sum);
    }
    profile_free(plain);
}

/* ---- what is written of them ---- */

/* Of these hours, and of what is in memory. */
struct answer {
    const struct history_cell *cells;
    size_t n;
    struct process_choice choice;
    bool days;
    int live; /* an hour that is in memory; less than 0: nothing is */
    const struct format *format;
    struct format_options options;
};

static const struct history_time some_time = {FIRST, HOUR};

static struct profile *live_of(const struct answer *answer) {
    struct profile *profile = answer->live < 0 ? profile_new() : read_hour((unsigned)answer->live);
    profile->marks = profile_string(profile, "a mark");
    profile->title = profile_string(profile, "a title");
    profile->kernel_ns = 7;
    return profile;
}

static char *write_answer(const struct answer *answer, const struct profile *profile) {
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    CHECK(format_write(answer->format, out, profile, &answer->options));
    fclose(out);
    return text;
}

/* All are added up here, and go to the renderer as one profile. */
static char *answer_at_once(const struct answer *answer) {
    const struct history_choice choice = {process_choice_wants, &answer->choice};
    char error[256], *order;
    size_t n, n_parts;
    struct render_order read;
    struct history_part *parts =
        history_read(answer->cells, answer->n, &choice, answer->days, &n_parts);
    struct profile *sum =
        history_add(live_of(answer), parts, n_parts, &some_time, true, error, sizeof error);
    FILE *out = open_memstream(&order, &n);
    CHECK(render_order_write(answer->format, out, 0, sum, &answer->options, RENDER_AFTER));
    fclose(out);
    profile_free(sum);
    FILE *in = fmemopen(order, n, "r");
    CHECK(render_order_read(in, &read));
    char *text = write_answer(answer, read.profile);
    render_order_free(&read);
    fclose(in);
    free(order);
    return text;
}

/* The renderer's files. */
struct logs {
    int fd[HOURS];
    unsigned n;
};

static struct profile *add_hours(const void *arg, const struct render_order *order,
                                 struct profile *profile, const uint8_t *what, size_t n) {
    const struct logs *logs = arg;
    char error[256];
    return history_order_add(what, n, logs->fd, logs->n, profile,
                             format_reads_errors(order->format, &order->options), error,
                             sizeof error);
}

static void write_hours_of(const struct answer *answer, struct logs *logs, FILE *out) {
    struct history_ordered hours[HOURS];
    const struct history_order order = {some_time, answer->choice, answer->days, hours, answer->n};
    for (size_t i = 0; i < answer->n; i++) {
        const struct history_cell *cell = &answer->cells[i];
        if (i == 0 || !history_same_log(cell, &answer->cells[i - 1]))
            logs->fd[logs->n++] = history_open_log(cell);
        hours[i] = (struct history_ordered){{cell->begin_s, cell->end_s}, logs->n - 1};
    }
    history_order_write(&order, out);
}

static char *answer_in_parts(const struct answer *answer) {
    struct logs logs = {.n = 0};
    const struct render_adder adder = {add_hours, &logs};
    struct render_order read;
    struct profile *live = live_of(answer);
    char *order;
    size_t n;
    FILE *out = open_memstream(&order, &n);
    write_hours_of(answer, &logs, out);
    CHECK(render_order_write_part(answer->format, out, 0, live, &answer->options, RENDER_AFTER));
    fclose(out);
    profile_free(live);
    FILE *in = fmemopen(order, n, "r");
    CHECK(!render_order_read(in, &read)); /* who can't add them up has no answer */
    render_order_free(&read);
    CHECK(render_order_read_parts(in, &read, &adder));
    char *text = write_answer(answer, read.profile);
    render_order_free(&read);
    fclose(in);
    free(order);
    for (unsigned i = 0; i < logs.n; i++)
        close(logs.fd[i]);
    return text;
}

static void compare_answers(const struct answer *answer) {
    char *at_once = answer_at_once(answer), *in_parts = answer_in_parts(answer);
    check_same(in_parts, at_once);
    free(at_once);
    free(in_parts);
}

static void compare_formats(const struct history_cell *cells, const bool *wanted, const char *exe,
                            int range) {
    struct history_cell some[HOURS];
    struct answer answer = {.cells = some,
                            .choice = {.exe = exe},
                            .days = range % 2 == 0,
                            .live = range % 3 == 0 ? -1 : range,
                            .options = format_default_options};
    for (unsigned hour = 0; hour < HOURS; hour++)
        if (wanted[hour])
            some[answer.n++] = cells[hour];
    for (answer.format = formats; answer.format->name != NULL; answer.format++)
        for (int by = 0; by < PROFILE_BYS && strcmp(answer.format->name, "pprof") != 0; by++) {
            answer.options.by = (enum profile_by)by;
            answer.options.focus = by == PROFILE_BY_LINE ? "f1" : NULL;
            answer.options.phi = by == PROFILE_BY_MODULE ? 0.01 : 0;
            compare_answers(&answer);
        }
}

static bool is_user(const void *uid, uid_t other) {
    return *(const uid_t *)uid == other;
}

static void check_ranges(uid_t uid) {
    size_t n;
    struct history_cell *cells = history_list(0, UINT64_MAX, is_user, &uid, &n);
    CHECK_UINT(n, HOURS);
    for (int range = 0; range < RANGES && n == HOURS; range++) {
        bool wanted[HOURS] = {false};
        unsigned from = (unsigned)forest_random(&seed, HOURS), length;
        length = range % 4 == 0 ? HOURS : 1 + (unsigned)forest_random(&seed, HOURS - from);
        for (unsigned hour = from; hour < from + length && hour < HOURS; hour++)
            wanted[hour] = range % 7 != 0 || forest_random(&seed, 10) > 0;
        for (unsigned hour = 0; wanted[0] && hour < HOURS; hour++) /* for its names */
            wanted[hour] = true;
        compare(cells, wanted, range % 3 == 0 ? "/opt/b/other" : NULL);
        if (range % 10 == 0)
            compare_formats(cells, wanted, range % 2 == 0 ? "/opt/b/other" : NULL, range);
    }
    free(cells);
}

static struct profile *make_sample(unsigned hour, const struct forest *unused) {
    struct profile *profile = hour % 2 == 0 ? sample_build() : sample_stripped();
    (void)unused;
    for (uint32_t i = 1; i < profile->n_processes; i++) /* hcctd knows how it has sampled */
        profile->processes[i].collector = "walks";
    return profile;
}

int main(void) {
    char command[128];
    CHECK(mkdtemp(directory) != NULL);
    CHECK(history_open(directory, 100u << 20, &(struct history_earlier){0, 0}));
    write_hours(make_forest, 1000);
    check_ranges(1000);
    write_hours(make_sample, 1001);
    check_ranges(1001);
    for (unsigned hour = 0; hour < HOURS; hour++)
        free(file[hour]);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    CHECK(system(command) == 0);
    return check_report();
}
