/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * symbol_service_test.c - answers that wait, and answers that don't: this program as the daemon,
 * and as the worker's child whose debug information takes as long as the test says.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/code/elf_protocol.h"
#include "common/code/module.h"
#include "common/code/symbol_cache.h"
#include "common/code/symbol_service.h"
#include "tests/check.h"

/* ---- the child: a request for debug information waits at the gate, or is its death; where the
 * gate is for names, too, any request waits, and one for names says so ---- */

/* A child whose first request has this name dies of it. */
#define DEADLY "_Z deadly"

static void die_of_name(const struct elf_request *request) {
    char bytes[sizeof *request + ELF_PATH_MAX + 1] = "";
    size_t n = sizeof *request + request->path_bytes;
    if (request->kind == ELF_DEMANGLE && request->path_bytes <= ELF_PATH_MAX &&
        recv(3, bytes, n, MSG_PEEK | MSG_WAITALL) == (ssize_t)n &&
        strstr(bytes + sizeof *request, DEADLY) != NULL)
        _exit(1);
}

static int child_main(void) {
    const char *gate = getenv("TEST_GATE"), *death = getenv("TEST_DEATH");
    char deadly[PATH_MAX];
    snprintf(deadly, sizeof deadly, "%s.deadly", gate);
    if (access(deadly, F_OK) == 0) {
        death = deadly;
        gate = NULL;
    }
    bool all = gate != NULL && getenv("TEST_GATE_FOR_ALL") != NULL;
    struct elf_request request;
    bool whole =
        recv(3, &request, sizeof request, MSG_PEEK | MSG_WAITALL) == (ssize_t)sizeof request;
    if (whole)
        die_of_name(&request);
    if (whole && (all || request.kind == ELF_SYMBOLS)) {
        if (death != NULL)
            _exit(1);
        if (all && request.kind == ELF_NAMES)
            close(open(getenv("TEST_GATE_FOR_ALL"), O_CREAT | O_WRONLY, 0600));
        while (gate != NULL && access(gate, F_OK) == 0)
            usleep(2000);
    }
    return elf_worker_main(3);
}

/* ---- the daemon's side ---- */

#define OTHER_USER 65534

static __attribute__((noinline)) int well_known_function(int n) {
    return n + 1;
}

static char gate[] = "/tmp/symbol_service_test.XXXXXX";
static uint32_t self;
static uint64_t function_at; /* in the file */

static void shut_gate(bool shut) {
    if (!shut)
        CHECK(unlink(gate) == 0);
    else
        close(open(gate, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static uint64_t find_function(void) {
    FILE *symbols = popen("nm /proc/$PPID/exe | grep ' well_known_function'", "r");
    unsigned long address = 0;
    if (symbols == NULL || fscanf(symbols, "%lx", &address) != 1)
        address = 0;
    if (symbols != NULL)
        pclose(symbols);
    return address;
}

/* Asks for the function, and n - 1 other addresses. */
static void check_answer(struct symbol_service *service, size_t n, enum symbol_patience patience,
                         bool for_now, bool has_line) {
    struct symbol_request *wanted = calloc(n, sizeof *wanted);
    for (size_t i = 0; i < n; i++) {
        wanted[i].module = self;
        wanted[i].query = (struct symbol_query){function_at + i, i == 0};
    }
    symbol_service_resolve(service, wanted, n, patience);
    CHECK_STR(wanted[0].symbol.lines[0].name, "well_known_function");
    CHECK((wanted[0].symbol.lines[0].line != 0) == has_line);
    for (size_t i = 0; i < n; i++) {
        CHECK(wanted[i].is_for_now == for_now);
        CHECK(wanted[i].symbol.n_lines > 0);
        symbol_clear(&wanted[i].symbol);
    }
    free(wanted);
}

/* Whoever can't wait gets the name, then all; and what was known once needs no child. */
static void test_slow(void) {
    struct symbol_service *service = symbol_service_new("/proc/self/exe");
    shut_gate(true);
    int64_t before = elf_now();
    check_answer(service, 1, SYMBOL_SOON, true, false);
    CHECK(elf_now() - before >= SYMBOL_FIRST_NS); /* it did wait for more */
    check_answer(service, 200, SYMBOL_SOON, true, false);
    shut_gate(false);
    check_answer(service, 200, SYMBOL_COMPLETE, false, true);
    setenv("TEST_DEATH", "1", 1);
    check_answer(service, 200, SYMBOL_SOON, false, true);
    unsetenv("TEST_DEATH");
    symbol_service_free(service);
}

/* A file that everybody may write is believed for its own user's processes alone. */
static uint32_t make_foreign_module(void) {
    char path[] = "/tmp/symbol_service_test.XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, "some file", 9) == 9 && fchmod(fd, 0666) == 0);
    close(fd);
    const struct module_mapping mapping = {.pid = getpid(), .uid = OTHER_USER, .path = path};
    uint32_t module = module_intern(&mapping);
    unlink(path);
    struct module_info info;
    CHECK(module_get(module, &info) && info.uid == OTHER_USER && info.fd >= 0);
    return module;
}

struct foreign {
    struct symbol_service *service;
    uint32_t module;
};

static void *ask_for_foreign(void *arg) {
    const struct foreign *foreign = arg;
    struct symbol_request request = {.module = foreign->module, .query = {0x1234, true}};
    symbol_service_resolve(foreign->service, &request, 1, SYMBOL_SOON);
    symbol_clear(&request.symbol);
    return NULL;
}

/* What one user's file takes, names or lines, is not waited for by who asks of another's. */
static void test_other_user(void) {
    struct foreign foreign = {symbol_service_new("/proc/self/exe"), make_foreign_module()};
    pthread_t thread;
    char names_gate[sizeof gate + 10], deadly[sizeof gate + 10];
    snprintf(deadly, sizeof deadly, "%s.deadly", gate);
    shut_gate(true);
    snprintf(names_gate, sizeof names_gate, "%s.names", gate);
    setenv("TEST_GATE_FOR_ALL", names_gate, 1);
    CHECK(pthread_create(&thread, NULL, ask_for_foreign, &foreign) == 0);
    while (access(names_gate, F_OK) != 0) /* it has not got lines in time, and waits for names */
        usleep(10000);
    /* children that begin now find no gate, and die of lines, so that names are needed */
    close(open(deadly, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    check_answer(foreign.service, 100, SYMBOL_COMPLETE, false, false);
    unlink(deadly);
    shut_gate(false);
    unlink(names_gate);
    pthread_join(thread, NULL);
    symbol_service_free(foreign.service);
    unsetenv("TEST_GATE_FOR_ALL");
}

/* Debug information that kills its reader costs lines, not names, and nobody waits for ever. */
static void test_failing(void) {
    struct symbol_service *service = symbol_service_new("/proc/self/exe");
    setenv("TEST_DEATH", "1", 1);
    check_answer(service, 1, SYMBOL_COMPLETE, false, false);
    check_answer(service, 100, SYMBOL_SOON, false, false);
    unsetenv("TEST_DEATH");
    symbol_service_free(service);
}

/* The end does not wait for what is under way. */
static void test_end_at_work(void) {
    struct symbol_service *service = symbol_service_new("/proc/self/exe");
    shut_gate(true);
    check_answer(service, 1, SYMBOL_SOON, true, false);
    symbol_service_free(service);
    shut_gate(false);
}

/* More than one request has room for, and names that are none. */
static void test_demangle(void) {
    enum { MANY = 1000 };
    static const char *name[MANY];
    static struct symbol symbol[MANY];
    struct symbol_service *service = symbol_service_new("/proc/self/exe");
    for (size_t i = 0; i < MANY; i++)
        name[i] = i % 2 == 0 ? "_ZN3app4loopEm" : "_Z not one";
    symbol_service_demangle(service, name, MANY, symbol);
    for (size_t i = 0; i < MANY; i++) {
        CHECK_UINT(symbol[i].n_lines, 1);
        if (symbol[i].n_lines != 1)
            continue;
        CHECK_STR(symbol[i].lines[0].name, i % 2 == 0 ? "app::loop(unsigned long)" : "_Z not one");
        CHECK_STR(symbol[i].lines[0].system_name, name[i]);
        symbol_clear(&symbol[i]);
    }
    symbol_service_demangle(service, name, 0, symbol);
    symbol_service_free(service);
    /* one that a child dies of costs itself, and no other */
    service = symbol_service_new("/proc/self/exe");
    name[0] = DEADLY;
    symbol_service_demangle(service, name, MANY, symbol);
    for (size_t i = 0; i < MANY; i++) {
        CHECK_UINT(symbol[i].n_lines, i != 0);
        symbol_clear(&symbol[i]);
    }
    symbol_service_free(service);
}

static void test_no_module(void) {
    struct symbol_service *service = symbol_service_new("/proc/self/exe");
    struct symbol_request requests[] = {{.module = 0, .query = {0x12, false}},
                                        {.module = MODULE_JIT, .query = {0x34, false}}};
    symbol_service_resolve(service, requests, 2, SYMBOL_COMPLETE);
    for (size_t i = 0; i < 2; i++) {
        CHECK(!requests[i].is_for_now);
        CHECK(requests[i].symbol.n_lines == 1);
        symbol_clear(&requests[i].symbol);
    }
    symbol_service_free(service);
}

/* ---- the cache ---- */

static struct symbol_query at(uint64_t address) {
    return (struct symbol_query){address, false};
}

static enum symbol_state state_of(struct symbol_cache *cache, uint32_t module, uint64_t address) {
    struct symbol symbol = {0};
    struct symbol_query query = at(address);
    enum symbol_state state = symbol_cache_get(cache, module, &query, &symbol);
    if (state == SYMBOL_KNOWN)
        CHECK_UINT(symbol.lines[0].line, address);
    symbol_clear(&symbol);
    return state;
}

static void put(struct symbol_cache *cache, uint32_t module, uint64_t address) {
    struct symbol_line line = {(char *)"name", (char *)"name", (char *)"/file.c", (uint32_t)address,
                               1};
    const struct symbol symbol = {.n_lines = 1, .lines = &line};
    struct symbol_query query = at(address);
    symbol_cache_put(cache, module, &query, &symbol);
}

/* The line of the bare name that is kept for a pending address; 0: none is. */
static uint64_t bare_line(struct symbol_cache *cache, uint64_t address) {
    struct symbol symbol = {0};
    struct symbol_query query = at(address);
    bool kept = symbol_cache_get_name(cache, 1, &query, &symbol);
    uint64_t line = kept ? symbol.lines[0].line : 0;
    symbol_clear(&symbol);
    return line;
}

static void test_bare_name(void) {
    struct symbol_cache *cache = symbol_cache_new(100000);
    struct symbol_query query = at(7);
    struct symbol_line line = {(char *)"bare", (char *)"bare", NULL, 99, 0};
    const struct symbol bare = {.n_lines = 1, .lines = &line};
    symbol_cache_put_name(cache, 1, &query, &bare);
    CHECK_UINT(bare_line(cache, 7), 0); /* nobody is finding it out */
    CHECK(symbol_cache_reserve(cache, 1, &query));
    CHECK_UINT(bare_line(cache, 7), 0);
    symbol_cache_put_name(cache, 1, &query, &bare);
    CHECK(state_of(cache, 1, 7) == SYMBOL_PENDING); /* still */
    CHECK_UINT(bare_line(cache, 7), 99);
    put(cache, 1, 7);
    CHECK(state_of(cache, 1, 7) == SYMBOL_KNOWN);
    symbol_cache_put_name(cache, 1, &query, &bare);
    CHECK(state_of(cache, 1, 7) == SYMBOL_KNOWN); /* not what is less */
    CHECK_UINT(bare_line(cache, 7), 0);
    symbol_cache_free(cache);
}

static void test_cache(void) {
    struct symbol_cache *cache = symbol_cache_new(100000);
    struct symbol_query query = at(7);
    CHECK(state_of(cache, 1, 7) == SYMBOL_ABSENT);
    CHECK(symbol_cache_reserve(cache, 1, &query));
    CHECK(!symbol_cache_reserve(cache, 1, &query));
    CHECK(state_of(cache, 1, 7) == SYMBOL_PENDING);
    put(cache, 1, 7);
    CHECK(!symbol_cache_reserve(cache, 1, &query));
    CHECK(state_of(cache, 1, 7) == SYMBOL_KNOWN);
    CHECK(state_of(cache, 2, 7) == SYMBOL_ABSENT);
    put(cache, 1, 8);
    symbol_cache_drop(cache, 1, &(struct symbol_query){8, false});
    CHECK(state_of(cache, 1, 8) == SYMBOL_ABSENT);
    for (uint64_t i = 1000; i < 21000; i++) { /* many times what there is room for */
        put(cache, 3, i);
        CHECK(symbol_cache_bytes(cache) <= 100000);
        CHECK(state_of(cache, 1, 7) == SYMBOL_KNOWN); /* as it is in use */
    }
    CHECK(state_of(cache, 3, 20999) == SYMBOL_KNOWN);
    CHECK(state_of(cache, 3, 20900) == SYMBOL_KNOWN);
    CHECK(state_of(cache, 3, 1000) == SYMBOL_ABSENT);
    symbol_cache_free(cache);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--elf-worker") == 0)
        return child_main();
    unsetenv("DEBUGINFOD_URLS");
    int fd = mkstemp(gate);
    CHECK(fd >= 0 && well_known_function(fd) == fd + 1);
    close(fd);
    unlink(gate);
    setenv("TEST_GATE", gate, 1);
    function_at = find_function();
    self = module_intern_path("/proc/self/exe");
    test_cache();
    test_bare_name();
    if (function_at == 0) {
        fprintf(stderr, "skipped: needs nm\n");
        return 77;
    }
    test_slow();
    test_other_user();
    test_failing();
    test_end_at_work();
    test_no_module();
    test_demangle();
    CHECK(waitpid(-1, NULL, WNOHANG) == -1); /* no child is left behind */
    return check_report();
}
