/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit_debug_test.c - reading what this process itself has registered for debuggers: as it comes,
 * is changed and goes, and when it is nonsense.
 *
 * What is to be seen after some milliseconds is waited for.
 */
#include <link.h>
#include <poll.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/code/frame.h"
#include "common/code/jit_code.h"
#include "common/code/jit_debug.h"
#include "common/code/module.h"
#include "tests/check.h"
#include "tests/code/jit_names_of.h"
#include "tests/targets/made_object.h"

#define MANY 200u

struct jit_descriptor __jit_debug_descriptor = {.version = 1};

static struct made_object object[MANY];
static struct jit_code_entry entry[MANY];

static void set_object(unsigned i, uint64_t at, const char *name) {
    make_object(&object[i], at, 0x100, &(struct made_function){name, 0, 0x100}, 1);
    entry[i].symfile_addr = &object[i];
    entry[i].symfile_size = sizeof object[i];
}

/* At the head, as all do. */
static void add(unsigned i, uint64_t at, const char *name) {
    set_object(i, at, name);
    entry[i].next_entry = __jit_debug_descriptor.first_entry;
    __jit_debug_descriptor.first_entry = &entry[i];
}

static uint64_t bias_of_executable(void) {
    return _r_debug.r_map->l_addr;
}

static struct jit_code *new_jit(void) {
    struct jit_code *jit = jit_code_new(getpid(), geteuid());
    CHECK(jit != NULL);
    jit_code_module(jit, module_intern_path("/proc/self/exe"), bias_of_executable());
    return jit;
}

static void test_names(void) {
    struct jit_code *jit = new_jit();
    add(0, 0x1000, "first");
    CHECK_STR(name_at(jit, 0x10ff), "first");
    CHECK_STR(name_at(jit, 0x1100), "[generated code]");
    add(1, 0x2000, "second");
    CHECK_STR(awaited(jit, 0x2010, "second"), "second");
    /* gone, but samples of it may come */
    __jit_debug_descriptor.first_entry = &entry[0];
    jit_code_poll(jit);
    CHECK_STR(name_at(jit, 0x2010), "second");
    /* another in its place: object and entry are where others were, and of the same size */
    add(1, 0x2000, "third!");
    CHECK_STR(awaited(jit, 0x2010, "third!"), "third!");
    /* put behind others */
    set_object(2, 0x3000, "behind");
    entry[2].next_entry = NULL;
    entry[0].next_entry = &entry[2];
    CHECK_STR(awaited(jit, 0x3010, "behind"), "behind");
    CHECK_STR(name_at(jit, 0x1010), "first");
    CHECK(!jit_code_is_refused(jit));
    jit_code_free(jit);
}

/* A list that is another one is seen at a look at its descriptor. */
static void test_changed(void) {
    struct perf_map *map = perf_map_new();
    struct jit_debug *debug = jit_debug_new(getpid(), geteuid());
    __jit_debug_descriptor = (struct jit_descriptor){.version = 1};
    jit_debug_module(debug, module_intern_path("/proc/self/exe"), bias_of_executable());
    CHECK(!jit_debug_has_changed(debug)); /* it is not known yet */
    add(0, 0xe000, "one");
    jit_debug_read(debug, map, true);
    CHECK(!jit_debug_has_changed(debug));
    __jit_debug_descriptor.first_entry = NULL; /* one goes, and another takes its place */
    add(1, 0xe000, "other");
    for (unsigned i = 0; i < PATIENCE && !jit_debug_has_changed(debug); i++)
        poll(NULL, 0, 10); /* a reading is followed by a rest */
    CHECK(jit_debug_has_changed(debug));
    jit_debug_read(debug, map, false);
    CHECK_STR(perf_map_find(map, 0xe050), "other");
    CHECK(!jit_debug_has_changed(debug));
    jit_debug_free(debug);
    perf_map_free(map);
}

static void test_many(void) {
    struct jit_code *jit = new_jit();
    char name[32];
    __jit_debug_descriptor.first_entry = NULL;
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "function %u", i);
        add(i, 0x100000 + 0x100 * i, name);
    }
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "function %u", i);
        CHECK_STR(name_at(jit, 0x100050 + 0x100 * i), name);
    }
    jit_code_free(jit);
}

/* What makes no sense costs a name, and what comes in its place is read. */
static void test_nonsense(void) {
    struct jit_code *jit = new_jit();
    __jit_debug_descriptor.first_entry = (void *)8;
    CHECK_STR(name_at(jit, 0x5050), "[generated code]");
    __jit_debug_descriptor.first_entry = NULL;
    add(0, 0x5000, "after it");
    entry[0].next_entry = &entry[0];
    CHECK_STR(awaited(jit, 0x5050, "after it"), "after it");
    CHECK_STR(name_at(jit, 0x6050), "[generated code]");
    add(1, 0x6000, "half");
    entry[1].symfile_size = offsetof(struct made_object, names);
    poll(NULL, 0, 20);
    CHECK_STR(name_at(jit, 0x6050), "[generated code]");
    entry[1].symfile_size = UINT64_MAX;
    poll(NULL, 0, 20);
    CHECK_STR(name_at(jit, 0x6050), "[generated code]");
    entry[1].symfile_size = sizeof object[1];
    CHECK_STR(awaited(jit, 0x6050, "half"), "half");
    __jit_debug_descriptor.version = 2; /* of which nothing is known */
    add(2, 0x7000, "of the future");
    poll(NULL, 0, 20);
    CHECK_STR(name_at(jit, 0x7050), "[generated code]");
    __jit_debug_descriptor.version = 1;
    CHECK_STR(awaited(jit, 0x7050, "of the future"), "of the future");
    jit_code_free(jit);
}

/* Symbols that point out of what they are in, and sections that were not loaded. */
static void test_symbols(void) {
    struct jit_code *jit = new_jit();
    __jit_debug_descriptor.first_entry = NULL;
    add(0, 0x8000, "beyond its section");
    object[0].symbol[1].st_size = 0x101;
    add(1, 0, "not loaded");
    add(2, 0xa000, "beyond names");
    object[2].symbol[1].st_name = 0x10000;
    add(3, 0xb000, "no function");
    object[3].symbol[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
    add(4, 0, "linked");
    object[4].header.e_type = ET_DYN;
    object[4].symbol[1].st_value = 0xc000;
    CHECK_STR(name_at(jit, 0xc050), "linked");
    CHECK_STR(name_at(jit, 0x8050), "[generated code]");
    CHECK_STR(name_at(jit, 0x50), "[generated code]");
    CHECK_STR(name_at(jit, 0xa050), "[generated code]");
    CHECK_STR(name_at(jit, 0xb050), "[generated code]");
    jit_code_free(jit);
}

/* A process that is of another user by its files' owner, as one that has taken other rights is, is
 * not read, not even by root; and it is known that there would have been something. */
static void test_refused(void) {
    struct perf_map *map = perf_map_new();
    struct jit_debug *debug = jit_debug_new(getpid(), geteuid() + 1);
    jit_debug_module(debug, module_intern_path("/proc/self/exe"), bias_of_executable());
    jit_debug_read(debug, map, true);
    CHECK(jit_debug_is_refused(debug));
    jit_debug_free(debug);
    /* one without such a list is not asked */
    debug = jit_debug_new(getpid(), geteuid() + 1);
    jit_debug_module(debug, module_intern_path("/bin/true"), 0);
    jit_debug_read(debug, map, true);
    CHECK(!jit_debug_is_refused(debug));
    jit_debug_free(debug);
    perf_map_free(map);
}

/* What was read stays, and a process that is over has nothing more to say. */
static void test_over(void) {
    struct perf_map *map = perf_map_new();
    char byte;
    int ends[2];
    __jit_debug_descriptor.first_entry = NULL;
    add(0, 0xd000, "of a child");
    pid_t pid = pipe(ends) == 0 ? fork() : -1;
    if (pid == 0) {
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
    }
    if (pid < 0)
        exit(99);
    struct jit_debug *debug = jit_debug_new(pid, geteuid());
    jit_debug_module(debug, module_intern_path("/proc/self/exe"), bias_of_executable());
    jit_debug_read(debug, map, true);
    CHECK_STR(perf_map_find(map, 0xd050), "of a child");
    close(ends[0]);
    close(ends[1]);
    waitpid(pid, NULL, 0);
    jit_debug_forget(debug);
    for (unsigned i = 0; i < 3; i++) {
        jit_debug_read(debug, map, true);
        poll(NULL, 0, 20);
    }
    CHECK_STR(perf_map_find(map, 0xd050), "of a child");
    jit_debug_free(debug);
    perf_map_free(map);
}

int main(void) {
    test_names();
    test_changed();
    test_many();
    test_nonsense();
    test_symbols();
    test_refused();
    test_over();
    return check_report();
}
