/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * table_cache_test.c - tables on disk: what is kept comes back as it was, and nothing that is
 * broken, of another, or too much.
 *
 * The table is this program's own.
 */
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/options.h"
#include "common/code/table_cache.h"
#include "common/code/call_sites_compile.h"
#include "common/code/unwind_compile.h"
#include "common/wire/unwind_table.h"
#include "tests/check.h"

static char root[] = "/tmp/table_cache_test.XXXXXX", directory[64];
static void *table;
static size_t table_bytes;

static void compile_own(void) {
    int fd = open("/proc/self/exe", O_RDONLY);
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    table = unwind_compile(elf, &table_bytes, NULL);
    elf_end(elf);
    close(fd);
    if (table == NULL)
        exit(99);
}

static struct module_info module_number(uint8_t number) {
    struct module_info module = {.path = "", .build_id_len = 20, .fd = -1};
    memset(module.build_id, number, module.build_id_len);
    return module;
}

static struct table_cache *new_cache(void) {
    return table_cache_new(directory, 100 * (table_bytes + 1000));
}

static bool has(struct table_cache *cache, const struct module_info *module) {
    size_t bytes = 0;
    void *got = table_cache_get(cache, module, TABLE_UNWIND, &bytes);
    bool equal = got != NULL && bytes == table_bytes && memcmp(got, table, bytes) == 0;
    CHECK(got == NULL || equal);
    free(got);
    return equal;
}

/* Where the table of a module is kept. */
static void path_of(const struct module_info *module, char path[256]) {
    char hex[64] = "";
    for (unsigned i = 0; i < module->build_id_len; i++)
        snprintf(hex + 2 * i, 3, "%02x", module->build_id[i]);
    snprintf(path, 256, "%s/%s-%u.unwind", directory, hex, UNWIND_TABLE_VERSION);
}

static unsigned files_in(const char *path) {
    DIR *stream = opendir(path);
    struct dirent *entry;
    unsigned n = 0;
    while (stream != NULL && (entry = readdir(stream)) != NULL)
        n += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    if (stream != NULL)
        closedir(stream);
    return n;
}

static void empty_directory(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    if (system(command) != 0)
        exit(99);
}

static void test_round_trip(void) {
    struct module_info one = module_number(1), two = module_number(2);
    struct table_cache *cache = new_cache(), *other;
    struct stat info;
    char path[256];
    CHECK(!has(cache, &one));
    CHECK_UINT(access(directory, F_OK), -1); /* nothing to keep, nothing made */
    table_cache_put(cache, &one, TABLE_UNWIND, table, table_bytes);
    CHECK(has(cache, &one));
    CHECK(!has(cache, &two));
    table_cache_free(cache);
    other = new_cache(); /* the next daemon */
    CHECK(has(other, &one));
    table_cache_free(other);
    path_of(&one, path);
    CHECK(stat(path, &info) == 0 && (info.st_mode & 07777) == 0600);
    CHECK(stat(directory, &info) == 0 && (info.st_mode & 07777) == 0700);
    CHECK_UINT(files_in(directory), 1);
    empty_directory();
}

/* The other kind, beside the first one under the same build-id. A program of another machine has no
 * sites, and a table that says so. */
static void test_kinds(void) {
    struct module_info module = module_number(2);
    struct table_cache *cache = new_cache();
    size_t bytes, kept_bytes = 0;
    int fd = open("/proc/self/exe", O_RDONLY);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    struct call_sites *sites = call_sites_compile(elf, &bytes);
    elf_end(elf);
    close(fd);
    CHECK(sites != NULL);
    CHECK(table_cache_get(cache, &module, TABLE_CALLS, &kept_bytes) == NULL);
    table_cache_put(cache, &module, TABLE_CALLS, sites, bytes);
    CHECK(!has(cache, &module));
    table_cache_put(cache, &module, TABLE_UNWIND, table, table_bytes);
    CHECK(has(cache, &module));
    CHECK_UINT(files_in(directory), 2);
    void *kept = table_cache_get(cache, &module, TABLE_CALLS, &kept_bytes);
    CHECK(kept != NULL && kept_bytes == bytes && memcmp(kept, sites, bytes) == 0);
    free(kept);
    /* what is no table of that kind is none */
    table_cache_put(cache, &module, TABLE_CALLS, table, table_bytes);
    CHECK(table_cache_get(cache, &module, TABLE_CALLS, &kept_bytes) == NULL);
    table_cache_free(cache);
    free(sites);
    empty_directory();
}

static void test_build_ids(void) {
    struct module_info shortest = module_number(3), too_short = module_number(3),
                       none = module_number(3);
    struct table_cache *cache = new_cache();
    shortest.build_id_len = TABLE_CACHE_BUILD_ID_MIN;
    too_short.build_id_len = TABLE_CACHE_BUILD_ID_MIN - 1;
    none.build_id_len = 0;
    table_cache_put(cache, &none, TABLE_UNWIND, table, table_bytes);
    table_cache_put(cache, &too_short, TABLE_UNWIND, table, table_bytes);
    CHECK_UINT(files_in(directory), 0);
    table_cache_put(cache, &shortest, TABLE_UNWIND, table, table_bytes);
    CHECK(has(cache, &shortest));
    CHECK(!has(cache, &too_short));
    CHECK(!has(cache, &none));
    table_cache_free(cache);
    empty_directory();
}

/* ---- files that are not as they were written ---- */

static void flip(const char *path, off_t at, uint8_t bits) {
    uint8_t byte;
    int fd = open(path, O_RDWR);
    CHECK(pread(fd, &byte, 1, at) == 1);
    byte ^= bits;
    CHECK(pwrite(fd, &byte, 1, at) == 1);
    close(fd);
}

/* Every byte of the header, and some everywhere else. */
static void test_flipped(void) {
    struct module_info module = module_number(4);
    struct table_cache *cache = new_cache();
    struct stat info = {0};
    char path[256];
    unsigned found = 0;
    path_of(&module, path);
    table_cache_put(cache, &module, TABLE_UNWIND, table, table_bytes);
    CHECK(stat(path, &info) == 0);
    for (off_t at = 0; at < info.st_size; at += at < 200 ? 1 : 97) {
        flip(path, at, 1 << at % 8);
        found += has(cache, &module);
        flip(path, at, 1 << at % 8);
    }
    CHECK_UINT(found, 0);
    CHECK(has(cache, &module));
    table_cache_free(cache);
    empty_directory();
}

static void test_torn(void) {
    struct module_info module = module_number(5);
    struct table_cache *cache = new_cache();
    struct stat info = {0};
    char path[256];
    path_of(&module, path);
    table_cache_put(cache, &module, TABLE_UNWIND, table, table_bytes);
    CHECK(stat(path, &info) == 0);
    const off_t sizes[] = {0, 1, 40, 48, 49, info.st_size / 2, info.st_size - 1, info.st_size + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CHECK(truncate(path, sizes[i]) == 0);
        CHECK(!has(cache, &module));
        table_cache_put(cache, &module, TABLE_UNWIND, table, table_bytes); /* made again */
        CHECK(has(cache, &module));
    }
    table_cache_free(cache);
    empty_directory();
}

/* A table that is what its checksum says, and leads out of its bounds. */
static void test_inconsistent(void) {
    struct module_info module = module_number(6);
    struct table_cache *cache = new_cache();
    struct unwind_table *bad = malloc(table_bytes);
    memcpy(bad, table, table_bytes);
    bad->blocks_off = table_bytes;
    table_cache_put(cache, &module, TABLE_UNWIND, bad, table_bytes);
    CHECK_UINT(files_in(directory), 1);
    CHECK(!has(cache, &module));
    free(bad);
    table_cache_free(cache);
    empty_directory();
}

static void test_other_module(void) {
    struct module_info one = module_number(7), two = module_number(8);
    struct table_cache *cache = new_cache();
    char from[256], to[256];
    path_of(&one, from);
    path_of(&two, to);
    table_cache_put(cache, &one, TABLE_UNWIND, table, table_bytes);
    CHECK(rename(from, to) == 0);
    CHECK(!has(cache, &one));
    CHECK(!has(cache, &two));
    table_cache_free(cache);
    empty_directory();
}

/* ---- files that others could have written ---- */

static void test_others(void) {
    struct module_info module = module_number(9);
    struct table_cache *cache = new_cache();
    char path[256], away[256];
    path_of(&module, path);
    snprintf(away, sizeof away, "%s/away", root);
    table_cache_put(cache, &module, TABLE_UNWIND, table, table_bytes);
    CHECK(chmod(path, 0620) == 0);
    CHECK(!has(cache, &module));
    CHECK(chmod(path, 0602) == 0);
    CHECK(!has(cache, &module));
    CHECK(chmod(path, 0600) == 0);
    CHECK(has(cache, &module));
    if (geteuid() == 0) {
        CHECK(chown(path, 12345, (gid_t)-1) == 0);
        CHECK(!has(cache, &module));
        CHECK(chown(path, 0, (gid_t)-1) == 0);
        CHECK(has(cache, &module));
    }
    CHECK(rename(path, away) == 0);
    CHECK(symlink(away, path) == 0);
    CHECK(!has(cache, &module));
    unlink(path);
    CHECK(mkfifo(path, 0600) == 0);
    CHECK(!has(cache, &module));
    unlink(away);
    table_cache_free(cache);
    empty_directory();
}

/* What a cache says on stderr while it may keep two tables. */
static unsigned lines_said(struct table_cache *cache) {
    struct module_info one = module_number(10), two = module_number(11);
    char path[128], line[512];
    unsigned lines = 0;
    snprintf(path, sizeof path, "%s/stderr", root);
    fflush(stderr);
    int saved = dup(2), fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(fd, 2);
    close(fd);
    table_cache_put(cache, &one, TABLE_UNWIND, table, table_bytes);
    table_cache_put(cache, &two, TABLE_UNWIND, table, table_bytes);
    dup2(saved, 2);
    close(saved);
    FILE *said = fopen(path, "r");
    while (said != NULL && fgets(line, sizeof line, said) != NULL)
        lines++;
    if (said != NULL)
        fclose(said);
    CHECK(!has(cache, &one));
    return lines;
}

static void check_unusable(const char *request) {
    struct table_cache *cache = table_cache_new(request, 100 * table_bytes);
    CHECK(cache != NULL);
    CHECK_UINT(lines_said(cache), 1);
    table_cache_free(cache);
}

static void test_unusable_directories(void) {
    char path[128];
    snprintf(path, sizeof path, "%s/file", root);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    check_unusable(path);
    CHECK(unlink(path) == 0);
    snprintf(path, sizeof path, "%s/no/such", root);
    check_unusable(path);
    CHECK(mkdir(directory, 0700) == 0 && chmod(directory, 0777) == 0);
    check_unusable(directory);
    CHECK_UINT(files_in(directory), 0);
    if (geteuid() == 0) {
        CHECK(chmod(directory, 0700) == 0 && chown(directory, 12345, (gid_t)-1) == 0);
        check_unusable(directory);
    }
    empty_directory();
    check_unusable("/proc/hcct");
}

/* ---- where it is ---- */

static void check_default(const char *cache_home, const char *home, const char *expected) {
    struct module_info module = module_number(12);
    if (cache_home != NULL)
        setenv("XDG_CACHE_HOME", cache_home, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    setenv("HOME", home, 1);
    struct table_cache *cache = table_cache_new(NULL, 100 * table_bytes);
    table_cache_put(cache, &module, TABLE_UNWIND, table, table_bytes);
    CHECK(has(cache, &module));
    CHECK_UINT(files_in(expected), 1);
    table_cache_free(cache);
}

static void test_places(void) {
    struct module_info module = module_number(13);
    char cache_home[64], home[64], expected[128];
    snprintf(cache_home, sizeof cache_home, "%s/caches", root);
    snprintf(home, sizeof home, "%s/home", root);
    CHECK(mkdir(home, 0755) == 0);
    snprintf(expected, sizeof expected, "%s/hcct", cache_home);
    check_default(cache_home, home, expected);
    snprintf(expected, sizeof expected, "%s/.cache/hcct", home);
    check_default(NULL, home, expected);
    CHECK(table_cache_new("none", 1000000) == NULL);
    table_cache_put(NULL, &module, TABLE_UNWIND, table, table_bytes);
    CHECK(!has(NULL, &module));
    if (geteuid() == 0) { /* as under sudo: the home is another user's */
        snprintf(home, sizeof home, "%s/theirs", root);
        CHECK(mkdir(home, 0755) == 0 && chown(home, 12345, (gid_t)-1) == 0);
        setenv("XDG_CACHE_HOME", home, 1);
        struct table_cache *cache = table_cache_new(NULL, 100 * table_bytes);
        CHECK_UINT(lines_said(cache), 1);
        CHECK_UINT(files_in(home), 0);
        table_cache_free(cache);
    }
}

/* ---- how much it is ---- */

static void set_last_use(const struct module_info *module, time_t when) {
    const struct timespec times[2] = {{.tv_sec = when}, {.tv_sec = when}};
    char path[256];
    path_of(module, path);
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

static void test_cap(void) {
    struct table_cache *cache = table_cache_new(directory, 4 * (table_bytes + 100));
    struct module_info module[6];
    char path[256];
    for (uint8_t i = 0; i < 6; i++)
        module[i] = module_number(20 + i);
    for (int i = 0; i < 4; i++) {
        table_cache_put(cache, &module[i], TABLE_UNWIND, table, table_bytes);
        set_last_use(&module[i], 1000000 + i);
    }
    CHECK_UINT(files_in(directory), 4);
    CHECK(has(cache, &module[0])); /* the oldest is used: now the second goes first */
    table_cache_put(cache, &module[4], TABLE_UNWIND, table, table_bytes);
    table_cache_put(cache, &module[5], TABLE_UNWIND, table, table_bytes);
    CHECK_UINT(files_in(directory), 4);
    CHECK(has(cache, &module[0]) && has(cache, &module[3]));
    CHECK(has(cache, &module[4]) && has(cache, &module[5]));
    CHECK(!has(cache, &module[1]) && !has(cache, &module[2]));

    snprintf(path, sizeof path, "%s/somebody's notes", directory);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    snprintf(path, sizeof path, "%s/.new-0123", directory); /* of a daemon that has crashed */
    close(open(path, O_CREAT | O_WRONLY, 0600));
    table_cache_put(cache, &module[4], TABLE_UNWIND, table, table_bytes);
    CHECK_UINT(access(path, F_OK), 0);
    const struct timespec old[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    CHECK(utimensat(AT_FDCWD, path, old, 0) == 0);
    table_cache_put(cache, &module[4], TABLE_UNWIND, table, table_bytes);
    CHECK_UINT(access(path, F_OK), -1);
    snprintf(path, sizeof path, "%s/somebody's notes", directory);
    CHECK_UINT(access(path, F_OK), 0);
    table_cache_free(cache);

    cache = table_cache_new(directory, table_bytes); /* no room even for one */
    unsigned before = files_in(directory);
    table_cache_put(cache, &module[1], TABLE_UNWIND, table, table_bytes);
    CHECK_UINT(files_in(directory), before);
    table_cache_free(cache);
    empty_directory();
}

/* Daemons that write the same tables at the same time: no reader ever sees half of one. */
static void test_at_once(void) {
    struct module_info module = module_number(30);
    pid_t writer[2];
    for (int i = 0; i < 2; i++) {
        writer[i] = fork();
        if (writer[i] == 0) {
            struct table_cache *own = new_cache();
            for (unsigned round = 0; round < 300; round++)
                table_cache_put(own, &module, TABLE_UNWIND, table, table_bytes);
            _exit(0);
        }
    }
    struct table_cache *cache = new_cache();
    for (unsigned i = 0; i < 100000 && !has(cache, &module); i++)
        usleep(100);
    unsigned missed = 0;
    for (unsigned round = 0; round < 300; round++)
        missed += !has(cache, &module);
    CHECK_UINT(missed, 0);
    for (int i = 0; i < 2; i++) {
        int status = 1;
        CHECK(waitpid(writer[i], &status, 0) == writer[i] && status == 0);
    }
    CHECK_UINT(files_in(directory), 1);
    table_cache_free(cache);
    empty_directory();
}

int main(void) {
    options_program = "table_cache_test";
    if (mkdtemp(root) == NULL)
        return 99;
    snprintf(directory, sizeof directory, "%s/cache", root);
    compile_own();
    test_round_trip();
    test_kinds();
    test_build_ids();
    test_flipped();
    test_torn();
    test_inconsistent();
    test_other_module();
    test_others();
    test_unusable_directories();
    test_places();
    test_cap();
    test_at_once();
    snprintf(directory, sizeof directory, "%s", root);
    empty_directory();
    free(table);
    return check_report();
}
