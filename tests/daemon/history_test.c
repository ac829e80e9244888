/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_test.c - two weeks of hours, one after the other, by a clock of the test's own: what is
 * kept is the newest, as large as it may be, and each hour is found again; nothing of it stays in
 * memory; files that are none of ours are left alone, those of an earlier version go, and of
 * damaged ones, and of those that can't be opened for a while, what is whole stays.
 */
#include "daemon/history/history.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/render/format.h"
#include "tests/check.h"
#include "tests/report/sample.h"

#define HOUR  3600u
#define FIRST (480000u * HOUR)
#define HOURS (14u * 24u)
#define LIMIT 150000u

static char directory[] = "/tmp/hcct-history-XXXXXX", path[64];

/* A log that can't be opened, for a while; NULL: all can. */
static const char *unopened;

int __real_openat(int at, const char *name, int flags, ...);
int __wrap_openat(int at, const char *name, int flags, ...);

/* As where the process has no descriptor left. */
int __wrap_openat(int at, const char *name, int flags, ...) {
    va_list more;
    if (unopened != NULL && strcmp(name, unopened) == 0) {
        errno = EMFILE;
        return -1;
    }
    va_start(more, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    return __real_openat(at, name, flags, mode);
}

static uint64_t weight_of(const struct profile *profile) {
    uint64_t sum = 0;
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        sum += profile->nodes[i].count;
    return sum;
}

static void write_hour(unsigned hour, uid_t uid, bool keep) {
    struct profile *profile = hour % 2 == 0 ? sample_build() : sample_random(hour);
    const struct history_cell cell = {.begin_s = FIRST + hour * HOUR,
                                      .end_s = FIRST + (hour + 1) * HOUR,
                                      .weight = weight_of(profile),
                                      .uid = uid};
    FILE *file = history_begin(&cell);
    CHECK(file != NULL);
    CHECK(format_write(format_find("pprof"), file, profile, &format_default_options));
    CHECK(history_commit(file, keep));
    profile_free(profile);
}

/* NULL: it can't be read. */
static struct profile *read_cell(const struct history_cell *cell) {
    const struct history_choice all = {NULL, NULL};
    struct profile *profile = NULL;
    size_t n;
    struct history_part *parts = history_read(cell, 1, &all, true, &n);
    CHECK(n <= 1);
    if (n == 1) {
        profile = parts[0].profile;
        free(parts[0].trees);
    }
    free(parts);
    return profile;
}

static bool sees(const void *uid, uid_t other) {
    return *(const uid_t *)uid == other;
}

static uint64_t bytes_kept(unsigned *files) {
    struct stat file;
    uint64_t sum = 0;
    DIR *list = opendir(path);
    *files = 0;
    for (const struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;)
        if (strstr(entry->d_name, ".hours") != NULL &&
            fstatat(dirfd(list), entry->d_name, &file, 0) == 0) {
            sum += (uint64_t)file.st_size;
            ++*files;
        }
    closedir(list);
    return sum;
}

static void expect_hour(unsigned hour, uid_t uid) {
    uint64_t middle = FIRST + hour * HOUR + HOUR / 2;
    size_t n;
    struct history_cell *cell = history_list(middle, middle + 60, sees, &uid, &n);
    CHECK_UINT(n, 1);
    CHECK_UINT(cell[0].begin_s, FIRST + hour * HOUR);
    struct profile *profile = read_cell(&cell[0]);
    CHECK(profile != NULL || cell[0].weight == 0);
    if (profile != NULL)
        CHECK_UINT(weight_of(profile), cell[0].weight);
    profile_free(profile);
    free(cell);
}

static void test_two_weeks(void) {
    const uid_t user = 1000;
    unsigned files;
    size_t n, before = 0;
    for (unsigned hour = 0; hour < HOURS; hour++) {
        write_hour(hour, user, true);
        CHECK(bytes_kept(&files) <= LIMIT);
        expect_hour(hour, user);
        if (hour == 24)
            before = mallinfo2().uordblks;
    }
    /* what malloc keeps for itself counts as used; all hours would be some megabytes */
    CHECK(mallinfo2().uordblks <= before + (256u << 10));
    struct history_cell *cell = history_list(0, UINT64_MAX, sees, &user, &n);
    CHECK(n > 24 && n < HOURS);
    CHECK(files == 1 || files == 2); /* of two weeks each */
    for (size_t i = 0; i < n; i++) { /* without a gap, up to the last one */
        unsigned hour = HOURS - (unsigned)(n - i);
        CHECK_UINT(cell[i].begin_s, FIRST + hour * HOUR);
        expect_hour(hour, user);
    }
    free(cell);
}

static void test_users(void) {
    const uid_t one = 1000, other = 1001;
    size_t n;
    write_hour(HOURS - 1, other, true);
    expect_hour(HOURS - 1, one);
    expect_hour(HOURS - 1, other);
    struct history_cell *cell = history_list(0, UINT64_MAX, sees, &other, &n);
    CHECK_UINT(n, 1);
    free(cell);
}

static void test_given_up(void) {
    const uid_t user = 1002;
    size_t n;
    write_hour(3, user, false);
    CHECK(history_list(0, UINT64_MAX, sees, &user, &n) == NULL);
    CHECK_UINT(n, 0);
}

static void put_file(const char *name, const char *text, size_t bytes) {
    char whole[256];
    snprintf(whole, sizeof whole, "%s/%s", path, name);
    FILE *file = fopen(whole, "w");
    fwrite(text, 1, bytes, file);
    fclose(file);
}

static char *get_file(const char *name, size_t *bytes) {
    char whole[256];
    snprintf(whole, sizeof whole, "%s/%s", path, name);
    FILE *file = fopen(whole, "r");
    char *text = malloc(1u << 20);
    CHECK(file != NULL);
    *bytes = file != NULL ? fread(text, 1, 1u << 20, file) : 0;
    if (file != NULL)
        fclose(file);
    return text;
}

static void test_foreign(void) {
    const uid_t user = 7;
    size_t n;
    static const char *const names[] = {"1-7-0-0", "1-7-0-0.hours.old", "01-7-0-0.hours",
                                        "1-7-0-0.pb.gz", "notes"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        put_file(names[i], "", 0);
    CHECK(history_list(0, UINT64_MAX, sees, &user, &n) == NULL);
    put_file("1-7-0-0.hours", "no hours", 8);
    CHECK(history_list(0, UINT64_MAX, sees, &user, &n) == NULL);
    char link[256];
    snprintf(link, sizeof link, "%s/2-7-0-0.hours", path);
    CHECK(symlink("/etc/passwd", link) == 0);
    CHECK(history_list(0, UINT64_MAX, sees, &user, &n) == NULL);
    const struct history_cell cell = {.begin_s = 30 * 86400, .end_s = 31 * 86400, .uid = 7};
    CHECK(read_cell(&cell) == NULL);
}

static void name_log(char name[64], unsigned hour, uid_t uid) {
    snprintf(name, 64, "%u-%u-0-0.hours", (FIRST + hour * HOUR) / (14 * 86400), (unsigned)uid);
}

/* A log that was cut off anywhere, or has a wrong byte anywhere: hours that are whole are there,
 * and the next one is added behind them. */
static void test_damaged(void) {
    const uid_t user = 1003;
    const unsigned base = HOURS - 5; /* the oldest of all would go */
    char name[64];
    size_t bytes, n;
    for (unsigned hour = 0; hour < 4; hour++)
        write_hour(base + hour, user, true);
    name_log(name, base, user);
    char *whole = get_file(name, &bytes), *wrong = malloc(bytes);
    CHECK(bytes > 0);
    for (size_t at = 0; at + 1 < bytes; at += 1 + at % 97) {
        put_file(name, whole, at);
        struct history_cell *cell = history_list(0, UINT64_MAX, sees, &user, &n);
        CHECK(n < 4);
        for (size_t i = 0; i < n; i++)
            expect_hour(base + (unsigned)i, user);
        free(cell);
        memcpy(wrong, whole, bytes);
        wrong[at] = (char)~wrong[at];
        put_file(name, wrong, bytes);
        cell = history_list(0, UINT64_MAX, sees, &user, &n);
        for (size_t i = 0; i < n; i++) {
            struct profile *profile = read_cell(&cell[i]);
            CHECK(profile == NULL || weight_of(profile) == cell[i].weight);
            profile_free(profile);
        }
        free(cell);
    }
    put_file(name, whole, bytes - 5);
    write_hour(base + 4, user, true);
    struct history_cell *cell = history_list(0, UINT64_MAX, sees, &user, &n);
    CHECK_UINT(n, 4);
    expect_hour(base + 2, user);
    expect_hour(base + 4, user);
    free(cell);
    free(whole);
    free(wrong);
}

static size_t hours_of(uid_t uid) {
    size_t n;
    free(history_list(0, UINT64_MAX, sees, &uid, &n));
    return n;
}

/* A log that can't be opened while the oldest hours go may have younger ones: it stays. */
static void test_not_opened(void) {
    const uid_t user = 1004, other = 1005, oldest = 1000;
    char name[64];
    size_t before = hours_of(oldest);
    write_hour(HOURS - 1, user, true);
    name_log(name, HOURS - 1, user);
    unopened = name;
    for (unsigned hour = HOURS - 12; hour < HOURS; hour++)
        write_hour(hour, other, true);
    CHECK_UINT(hours_of(user), 0);
    unopened = NULL;
    CHECK(hours_of(oldest) < before); /* some had to go meanwhile */
    CHECK_UINT(hours_of(user), 1);
    expect_hour(HOURS - 1, user);
}

static bool is_there(const char *name) {
    char whole[256];
    struct stat file;
    snprintf(whole, sizeof whole, "%s/%s", path, name);
    return lstat(whole, &file) == 0;
}

/* Hours of a version that kept each in a file of its own go when the directory is opened; nothing
 * else does. */
static void test_earlier(void) {
    static const char *const ours[] = {"1700000000-1700003600-0-0-0-123456789.pb.gz",
                                       "1700003600-1700007200-1000-1-2-0.pb.gz"};
    static const char *const others[] = {"1700000000-1700003600-0-0-0.pb.gz",
                                         "1700000000-1700003600-0-0-0-1-2.pb.gz",
                                         "01700000000-1700003600-0-0-0-1.pb.gz",
                                         "1700000000-1700003600-0-0-0-1.pb.gz.old",
                                         "1700000000-1700003600-0-0-0-1.pb",
                                         "1700003600-1700000000-0-0-0-1.pb.gz",
                                         " 1700000000-1700003600-0-0-0-1.pb.gz",
                                         "1700000000-1700003600-0-0-0-+1.pb.gz",
                                         "hcct.pb.gz"};
    static const char linked[] = "1700000001-1700003600-0-0-0-1.pb.gz",
                      second[] = "1700000002-1700003600-0-0-0-1.pb.gz",
                      open_to_all[] = "1700000003-1700003600-0-0-0-1.pb.gz",
                      folder[] = "1700000004-1700003600-0-0-0-1.pb.gz";
    const size_t n_ours = sizeof ours / sizeof ours[0], n_others = sizeof others / sizeof others[0];
    struct history_earlier gone = {7, 7};
    char whole[256], other[256];
    CHECK(mkdir(path, 0700) == 0);
    for (size_t i = 0; i < n_ours; i++)
        put_file(ours[i], "1234567", 3 + i);
    for (size_t i = 0; i < n_others; i++)
        put_file(others[i], "", 0);
    snprintf(whole, sizeof whole, "%s/%s", path, linked);
    snprintf(other, sizeof other, "%s/%s", path, others[0]);
    CHECK(symlink(other, whole) == 0);
    snprintf(whole, sizeof whole, "%s/%s", path, second);
    CHECK(link(other, whole) == 0);
    put_file(open_to_all, "", 0);
    snprintf(whole, sizeof whole, "%s/%s", path, open_to_all);
    CHECK(chmod(whole, 0666) == 0);
    snprintf(whole, sizeof whole, "%s/%s", path, folder);
    CHECK(mkdir(whole, 0700) == 0);
    CHECK(history_open(directory, LIMIT, &gone) && history_is_open());
    CHECK_UINT(gone.files, n_ours);
    CHECK_UINT(gone.bytes, 7);
    for (size_t i = 0; i < n_ours; i++)
        CHECK(!is_there(ours[i]));
    for (size_t i = 0; i < n_others; i++)
        CHECK(is_there(others[i]));
    CHECK(is_there(linked) && is_there(second) && is_there(open_to_all) && is_there(folder));
}

int main(void) {
    const uid_t anybody = 0;
    size_t n;
    CHECK(mkdtemp(directory) != NULL);
    snprintf(path, sizeof path, "%s/history", directory);
    CHECK(history_list(0, UINT64_MAX, sees, &anybody, &n) == NULL && n == 0);
    test_earlier();
    test_two_weeks();
    test_users();
    test_given_up();
    test_not_opened();
    test_damaged();
    test_foreign();
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    CHECK(system(command) == 0);
    return check_report();
}
