/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit_code_test.c - reading this process's own perf map and jitdump: as they come, grow, are cut
 * and replaced, and when they are none of ours.
 *
 * What is to be seen after some milliseconds is waited for.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/code/frame.h"
#include "common/code/jit_code.h"
#include "common/code/module.h"
#include "daemon/ingest/addresses.h"
#include "tests/check.h"
#include "tests/code/jit_names_of.h"

static char path[64], elsewhere[64], directory[64], dump_path[128];

static void remove_files(void) {
    unlink(dump_path);
    rmdir(directory);
    unlink(path);
    unlink(elsewhere);
}

static void put(const char *file, const char *mode, const char *text) {
    FILE *f = fopen(file, mode);
    if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0) {
        fprintf(stderr, "%s can't be written\n", file);
        remove_files();
        exit(99);
    }
}

static bool says_stale(struct jit_code *jit) {
    for (unsigned i = 0; i < PATIENCE; i++) {
        if (jit_code_poll(jit))
            return true;
        poll(NULL, 0, 10);
    }
    return false;
}

static struct jit_code *new_jit(void) {
    return jit_code_new(getpid(), geteuid());
}

static void test_growth(void) {
    struct jit_code *jit = new_jit();
    put(path, "w", "1000 100 one\n");
    CHECK(!jit_code_poll(jit)); /* nobody has asked */
    CHECK_STR(name_at(jit, 0x1050), "one");
    CHECK_STR(name_at(jit, 0x2050), "[generated code]");
    put(path, "a", "2000 100 two\n");
    CHECK(says_stale(jit)); /* there was no name for an address */
    CHECK_STR(name_at(jit, 0x2050), "two");
    put(path, "a", "1080 10 three\n");
    CHECK(says_stale(jit)); /* there was another function */
    CHECK_STR(name_at(jit, 0x1080), "three");
    jit_code_free(jit);
}

static void test_late_file(void) {
    struct jit_code *jit = new_jit();
    unlink(path);
    CHECK_STR(name_at(jit, 0x1050), "[generated code]");
    put(path, "w", "1000 100 late\n");
    CHECK_STR(awaited(jit, 0x1050, "late"), "late");
    jit_code_free(jit);
}

/* A process with this argument that runs until it is killed. */
static pid_t start_process(const char *argument) {
    int ends[2];
    char byte;
    CHECK(pipe(ends) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl("/proc/self/exe", "java", argument, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    CHECK(read(ends[0], &byte, 1) == 1);
    close(ends[0]);
    return pid;
}

/* What it lists as it ends names what was asked for before: one number a block of 64 bytes. */
static void test_names_at_the_end(const char *argument, bool late) {
    char map[64];
    pid_t pid = start_process(argument);
    struct jit_code *jit = jit_code_new(pid, geteuid());
    uint32_t one = jit_code_name(jit, 0x1010), same = jit_code_name(jit, 0x103f);
    uint32_t two = jit_code_name(jit, 0x1080), none = jit_code_name(jit, 0x7000);
    CHECK(late ? one == same && one != two && two != none : one == JIT_UNNAMED && two == one);
    CHECK_STR(jit_name(one), "[generated code]");
    snprintf(map, sizeof map, "/tmp/perf-%d.map", (int)pid);
    put(map, "w", "0x0000000000001020 0x50 int A.one(int)\n0x1080 0x40 two\n");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    jit_code_free(jit);
    unlink(map);
    CHECK_STR(jit_name(one), late ? "int A.one(int)" : "[generated code]");
    CHECK_STR(jit_name(two), late ? "two" : "[generated code]");
    CHECK_STR(jit_name(none), "[generated code]");
}

static void test_begins_anew(void) {
    struct jit_code *jit = new_jit();
    put(path, "w", "1000 100 before\n5000 100 more\n");
    CHECK_STR(name_at(jit, 0x1050), "before");
    put(path, "w", "1000 100 cut\n");
    CHECK(says_stale(jit));
    CHECK_STR(name_at(jit, 0x1050), "cut");
    CHECK_STR(name_at(jit, 0x5050), "[generated code]");
    put(elsewhere, "w", "1000 100 replaced by another file\n");
    CHECK(rename(elsewhere, path) == 0);
    CHECK(says_stale(jit));
    CHECK_STR(name_at(jit, 0x1050), "replaced by another file");
    CHECK(unlink(path) == 0); /* what was read stays */
    poll(NULL, 0, 150);
    jit_code_poll(jit);
    CHECK_STR(name_at(jit, 0x1050), "replaced by another file");
    jit_code_free(jit);
}

static void check_refused(const char *why) {
    struct jit_code *jit = new_jit();
    if (strcmp(name_at(jit, 0x1050), "[generated code]") != 0)
        fprintf(stderr, "read: %s\n", why);
    CHECK_STR(name_at(jit, 0x1050), "[generated code]");
    jit_code_free(jit);
}

static void test_refused(void) {
    const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    put(path, "w", "1000 100 of an earlier process\n");
    CHECK(utimensat(AT_FDCWD, path, old, 0) == 0);
    check_refused("older than the process");
    unlink(path);
    put(elsewhere, "w", "1000 100 behind a link\n");
    CHECK(symlink(elsewhere, path) == 0);
    check_refused("a symbolic link");
    unlink(path);
    CHECK(mkfifo(path, 0600) == 0);
    check_refused("a pipe");
    unlink(path);
    if (geteuid() == 0) {
        put(path, "w", "1000 100 of another user\n");
        CHECK(chown(path, 12345, (gid_t)-1) == 0);
        check_refused("another user's");
        unlink(path);
    }
}

/* ---- jitdump ---- */

static void put_words(FILE *f, const uint32_t *words, size_t n) {
    fwrite(words, sizeof *words, n, f);
}

static void put_header(FILE *f) {
    put_words(f, (const uint32_t[]){0x4a695444, 1, 40, 62, 0, (uint32_t)getpid(), 0, 0, 0, 0}, 10);
}

/* With `code` bytes of code behind the name, of which `cut` are not there yet. */
static void put_load(FILE *f, uint64_t address, const char *name, uint32_t code, uint32_t cut) {
    uint32_t size = (uint32_t)(16 + 40 + strlen(name) + 1) + code;
    put_words(f, (const uint32_t[]){0, size, 0, 0, (uint32_t)getpid(), 1}, 6);
    fwrite(&(const uint64_t[]){address, address, code, 1}, 8, 4, f);
    fwrite(name, 1, strlen(name) + 1, f);
    for (uint32_t i = cut; i < code; i++)
        fputc(0x90, f);
}

static void put_move(FILE *f, uint64_t from, uint64_t to, uint64_t size) {
    put_words(f, (const uint32_t[]){1, 64, 0, 0, (uint32_t)getpid(), 1}, 6);
    fwrite(&(const uint64_t[]){to, from, to, size, 1}, 8, 5, f);
}

static FILE *open_dump(const char *mode) {
    FILE *f = fopen(dump_path, mode);
    if (f == NULL) {
        fprintf(stderr, "%s can't be written\n", dump_path);
        remove_files();
        exit(99);
    }
    return f;
}

/* As programs do it for perf: a page of it, executable. */
static void *map_dump(void) {
    FILE *f = open_dump("r");
    void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
    fclose(f);
    return at;
}

/* Named by perf map and jitdump; found in any directory, by its mapping. */
static void test_dump(void) {
    struct jit_code *jit = new_jit();
    put(path, "w", "9000 100 of the map\n");
    FILE *f = open_dump("w");
    put_header(f);
    put_words(f, (const uint32_t[]){4, 24, 0, 0, 7, 7}, 6); /* unwind data: passed over */
    put_load(f, 0x1000, "one", 0x100, 0);
    put_load(f, 0x200000, "two", 0x100000, 0); /* longer than what is read at once */
    put_load(f, 0x3000, "not whole yet", 0x100, 1);
    fclose(f);
    void *mapped = map_dump();
    if (mapped == MAP_FAILED) { /* nothing there can be executed */
        jit_code_free(jit);
        return;
    }
    CHECK_STR(name_at(jit, 0x1050), "one");
    CHECK_STR(name_at(jit, 0x2fffff), "two");
    CHECK_STR(name_at(jit, 0x9050), "of the map");
    CHECK_STR(name_at(jit, 0x3050), "[generated code]");
    f = open_dump("a");
    fputc(0x90, f);
    put_load(f, 0x1080, "three", 0x10, 0);
    put_move(f, 0x200000, 0x5000, 0x100);
    fclose(f);
    CHECK_STR(awaited(jit, 0x5050, "two"), "two");
    CHECK_STR(name_at(jit, 0x3050), "not whole yet");
    CHECK_STR(name_at(jit, 0x1088), "three");
    f = open_dump("a");
    put_words(f, (const uint32_t[]){0, 3, 0, 0}, 4); /* a record shorter than its head */
    put_load(f, 0x7000, "behind nonsense", 0x100, 0);
    fclose(f);
    poll(NULL, 0, 150);
    jit_code_poll(jit);
    CHECK_STR(name_at(jit, 0x7050), "[generated code]");
    CHECK_STR(name_at(jit, 0x1088), "three");
    jit_code_free(jit);
    munmap(mapped, 4096);
    unlink(path);
}

/* In frames: one for each function, whatever its addresses; modules go before. */
static void test_frames(void) {
    struct frame_key key;
    struct addresses *map = addresses_new(frame_user(geteuid()));
    put(path, "w", "1000 100 one\n2000 100 two\n");
    CHECK(frame_get(addresses_frame(map, 0x1010, 0x2010), &key));
    CHECK(key.routine_module == 0 && key.routine == 0x1010 && key.site == 0x2010);
    CHECK(addresses_name_generated(map, getpid(), geteuid()));
    addresses_add(map, 0x8000, 0x9000, 0x7000, 5, 0);
    uint32_t frame = addresses_frame(map, 0x1010, 0x2010);
    CHECK(frame_get(frame, &key));
    CHECK(key.routine_module == MODULE_JIT && key.site_module == MODULE_JIT);
    CHECK_STR(jit_name((uint32_t)key.routine), "one");
    CHECK_STR(jit_name((uint32_t)key.site), "two");
    CHECK_UINT(addresses_frame(map, 0x10ff, 0x2100), frame); /* a call may end a function */
    CHECK(addresses_frame(map, 0x2010, 0x2010) != frame);
    CHECK(frame_get(addresses_frame(map, 0x1010, 0x8010), &key));
    CHECK(key.routine_module == MODULE_JIT && key.site_module == 5 && key.site == 0x1010);
    CHECK(frame_get(addresses_frame(map, 0x8020, 0), &key));
    CHECK(key.routine_module == 5 && key.site_module == 0 && key.site == 0);
    CHECK(frame_get(addresses_frame(map, 3, 0), &key));
    CHECK(key.routine_module == 0 && key.routine == 3);
    put(path, "a", "1000 200 three\n");
    for (unsigned i = 0; i < PATIENCE && addresses_frame(map, 0x1010, 0x2010) == frame; i++) {
        poll(NULL, 0, 10);
        addresses_refresh(map);
    }
    CHECK(frame_get(addresses_frame(map, 0x1010, 0x2010), &key));
    CHECK_STR(jit_name((uint32_t)key.routine), "three");
    addresses_free(map);
}

static const char *routine_name(struct addresses *map, uint64_t address) {
    struct frame_key key;
    CHECK(frame_get(addresses_frame(map, address, 0), &key) && key.routine_module == MODULE_JIT);
    return jit_name((uint32_t)key.routine);
}

/* What was met while the process was there has its name when that is gone. */
static void test_met_before_the_end(void) {
    char names[64];
    struct addresses *met = addresses_new(frame_user(geteuid()));
    struct addresses *asked_late = addresses_new(frame_user(geteuid()));
    pid_t pid = start_process("ends");
    snprintf(names, sizeof names, "/tmp/perf-%d.map", (int)pid);
    put(names, "w", "1000 100 one\n");
    CHECK(addresses_name_generated(met, pid, geteuid()));
    CHECK(addresses_name_generated(asked_late, pid, geteuid()));
    addresses_meet(met, 0x9000);
    put(names, "a", "2000 100 two\n");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    poll(NULL, 0, 20); /* it is not read again at once */
    CHECK_STR(routine_name(met, 0x2010), "two");
    CHECK_STR(routine_name(met, 0x1010), "one");
    CHECK_STR(routine_name(asked_late, 0x1010), "[generated code]");
    addresses_free(met);
    addresses_free(asked_late);
    unlink(names);
}

int main(int argc, char **argv) {
    struct stat info;
    if (argc > 1) /* a process of start_process() */
        return write(STDOUT_FILENO, argv[1], 1) == 1 ? pause() : 99;
    snprintf(directory, sizeof directory, "/tmp/jit_code_test.XXXXXX");
    if (mkdtemp(directory) == NULL)
        return 99;
    snprintf(dump_path, sizeof dump_path, "%s/jit-%d.dump", directory, (int)getpid());
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    snprintf(elsewhere, sizeof elsewhere, "/tmp/jit_code_test.%d", (int)getpid());
    if (lstat(path, &info) == 0 && unlink(path) != 0)
        return 77; /* somebody else's, who had our PID */
    test_growth();
    test_late_file();
    test_names_at_the_end("-XX:+DumpPerfMapAtExit", true);
    test_names_at_the_end("-XX:+DumpPerfMapAtExitOf", false);
    test_begins_anew();
    test_refused();
    test_frames();
    test_met_before_the_end();
    test_dump();
    remove_files();
    return check_report();
}
