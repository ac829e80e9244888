/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * elf_worker_test.c - the worker child: what it answers, and what happens when it can't: hostile
 * files, a child that dies before or during a request, a child that lies, a late one.
 *
 * This program is its own worker. $WORKER_MISBEHAVES says how the child is to fail; with
 * $WORKER_ONCE naming a file, only as long as that file is there.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/code/elf_protocol.h"
#include "common/code/elf_worker.h"
#include "common/code/module.h"
#include "common/wire/compiler.h"
#include "common/wire/unwind_table.h"
#include "tests/check.h"

#if defined(__aarch64__)
#define LIBC "/lib/aarch64-linux-gnu/libc.so.6"
#else
#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"
#endif

static char directory[] = "/tmp/elf_worker_test.XXXXXX";

/* ---- the child's side ---- */

/* A head of an answer and then what is no table and no symbols. */
static void lie(int fd) {
    struct elf_request request;
    struct elf_answer head = {.magic = ELF_ANSWER_MAGIC, .ok = 1, .bytes = 256};
    char nonsense[256];
    int file;
    memset(nonsense, 0x7f, sizeof nonsense);
    elf_receive_head(fd, &request, &file);
    elf_send(fd, &head, sizeof head, ELF_NO_DEADLINE);
    elf_send(fd, nonsense, sizeof nonsense, ELF_NO_DEADLINE);
    poll(NULL, 0, -1);
}

static void babble(int fd) {
    struct elf_answer head = {.magic = 0xbad, .ok = 1, .bytes = UINT64_MAX};
    struct elf_request request;
    int file;
    elf_receive_head(fd, &request, &file);
    elf_send(fd, &head, sizeof head, ELF_NO_DEADLINE);
    poll(NULL, 0, -1);
}

static void boast(int fd) {
    struct elf_answer head = {.magic = ELF_ANSWER_MAGIC, .ok = 1, .bytes = UINT64_MAX};
    struct elf_request request;
    int file;
    elf_receive_head(fd, &request, &file);
    elf_send(fd, &head, sizeof head, ELF_NO_DEADLINE);
    poll(NULL, 0, -1);
}

static void die_in_request(int fd) {
    struct elf_request request;
    int file;
    elf_receive_head(fd, &request, &file);
    _exit(1);
}

static const struct {
    const char *name;
    void (*act)(int fd);
} misbehaviours[] = {{"lie", lie}, {"babble", babble}, {"boast", boast}, {"die", die_in_request}};

static int child_main(void) {
    const char *how = getenv("WORKER_MISBEHAVES"), *once = getenv("WORKER_ONCE");
    if (how != NULL && (once == NULL || unlink(once) == 0))
        for (size_t i = 0; i < HCCT_ARRAY_LEN(misbehaviours); i++)
            if (strcmp(how, misbehaviours[i].name) == 0)
                misbehaviours[i].act(3);
    return elf_worker_main(3);
}

/* ---- the daemon's side ---- */

static bool compiles(struct elf_worker *worker, uint32_t module) {
    size_t bytes = 0;
    struct unwind_table *table = elf_worker_compile(worker, module, TABLE_UNWIND, &bytes);
    bool ok = table != NULL && table->bytes == bytes && table->rows > 10;
    free(table);
    return ok;
}

/* The name of the function at an entry; the caller frees it. */
static char *name_at(struct elf_worker *worker, uint32_t module, uint64_t address, bool *ok) {
    struct symbol_query query = {.address = address, .is_entry = true};
    struct symbol symbol;
    *ok = elf_worker_symbols(worker, module, &query, 1, &symbol);
    CHECK(symbol.n_lines > 0);
    char *name = strdup(symbol.lines[0].name);
    symbol_clear(&symbol);
    return name;
}

static void check_name(struct elf_worker *worker, uint32_t module, uint64_t address,
                       const char *want, bool want_ok) {
    bool ok;
    char *name = name_at(worker, module, address, &ok);
    CHECK_STR(name, want);
    CHECK(ok == want_ok);
    free(name);
}

/* The file address of an exported function of a library. */
static uint64_t address_in_libc(const char *name) {
    char command[256];
    uint64_t address = 0;
    snprintf(command, sizeof command, "nm -D %s 2>/dev/null | grep -E ' %s(@|$)'", LIBC, name);
    FILE *symbols = popen(command, "r");
    unsigned long read_address;
    if (symbols != NULL && fscanf(symbols, "%lx", &read_address) == 1)
        address = read_address;
    if (symbols != NULL)
        pclose(symbols);
    return address;
}

static uint32_t write_module(const char *name, const char *content, size_t bytes) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && write(fd, content, bytes) == (ssize_t)bytes);
    close(fd);
    return module_intern_path(path);
}

static void test_answers(struct elf_worker *worker, uint32_t libc, uint64_t malloc_at) {
    size_t n = 3000; /* more than go in one request */
    struct symbol_query *queries = calloc(n, sizeof *queries);
    struct symbol *symbols = calloc(n, sizeof *symbols);
    unsigned named = 0;
    CHECK(compiles(worker, libc));
    for (size_t i = 0; i < n; i++)
        queries[i] = (struct symbol_query){.address = malloc_at, .is_entry = i % 2 == 0};
    CHECK(elf_worker_symbols(worker, libc, queries, n, symbols));
    for (size_t i = 0; i < n; i++) {
        const struct symbol *symbol = &symbols[i];
        named += strcmp(symbol->lines[symbol->n_lines - 1].name, "malloc") == 0;
        symbol_clear(&symbols[i]);
    }
    CHECK_UINT(named, n);
    free(queries);
    free(symbols);
    CHECK(elf_worker_symbols(worker, libc, NULL, 0, NULL));
}

static void test_vdso(struct elf_worker *worker) {
    struct module_mapping mapping = {.path = "", .is_vdso = true};
    uint32_t vdso = module_intern(&mapping);
#if defined(__x86_64__)
    CHECK(compiles(worker, vdso)); /* aarch64's has no entries */
#endif
    check_name(worker, vdso, 0, "[vdso]+0x0", true);
}

static void test_hostile_files(struct elf_worker *worker, uint32_t libc) {
    static char content[200000];
    struct module_info info;
    uint64_t random = 7;
    for (size_t i = 0; i < sizeof content; i++) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        content[i] = (char)(random >> 56);
    }
    uint32_t garbage = write_module("garbage", content, sizeof content);
    CHECK(!compiles(worker, garbage));
    check_name(worker, garbage, 0x1234, "garbage+0x1234", true);
    int fd = open(LIBC, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = read(fd, content, sizeof content);
    close(fd);
    CHECK(bytes > 0);
    CHECK(module_get(libc, &info));
    /* With libc's own build-id they would be libc. */
    char *id = memmem(content, (size_t)bytes, info.build_id, info.build_id_len);
    CHECK(id != NULL);
    if (info.build_id_len > 0 && id != NULL)
        id[0] ^= 1;
    uint32_t cut = write_module("cut", content, (size_t)bytes);
    CHECK(!compiles(worker, cut));
    bool ok;
    free(name_at(worker, cut, 0x2000, &ok));
    memset(content + 64, 0xff, 4096); /* the program headers */
    uint32_t broken = write_module("broken", content, (size_t)bytes);
    CHECK(!compiles(worker, broken));
    check_name(worker, broken, 0x1234, "broken+0x1234", true);
}

static void test_no_module(struct elf_worker *worker) {
    size_t bytes;
    CHECK(elf_worker_compile(worker, 0, TABLE_UNWIND, &bytes) == NULL);
    CHECK(elf_worker_compile(worker, 999999, TABLE_UNWIND, &bytes) == NULL);
    check_name(worker, 999999, 0x10, "?+0x10", false);
    uint32_t gone = module_intern_path("/nonexistent/libgone.so.1");
    CHECK(elf_worker_compile(worker, gone, TABLE_UNWIND, &bytes) == NULL);
    check_name(worker, gone, 0xabc, "libgone.so.1+0xabc", false);
}

/* All our children, which are workers, come to a sudden end. */
static unsigned kill_children(void) {
    char path[64];
    unsigned killed = 0;
    long pid;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *children = fopen(path, "re");
    while (children != NULL && fscanf(children, "%ld", &pid) == 1)
        killed += kill((pid_t)pid, SIGKILL) == 0;
    if (children != NULL)
        fclose(children);
    return killed;
}

static void test_killed_between(struct elf_worker *worker, uint32_t libc, uint64_t malloc_at) {
    for (int i = 0; i < 4; i++) {
        CHECK(compiles(worker, libc));
        if (kill_children() == 0)
            printf("no list of children in /proc: none was killed\n");
        check_name(worker, libc, malloc_at, "malloc", true);
        kill_children();
    }
}

/* A child that misbehaves once is replaced and asked again; one that dies of each request about a
 * module is not asked about it any more, but about others it is; one that lies neither. */
static void test_misbehaviour(const char *how, bool again_after_once, uint32_t libc,
                              uint32_t other) {
    char once[512];
    snprintf(once, sizeof once, "%s/once", directory);
    close(open(once, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    setenv("WORKER_MISBEHAVES", how, 1);
    setenv("WORKER_ONCE", once, 1);
    struct elf_worker *worker = elf_worker_new("/proc/self/exe");
    CHECK(compiles(worker, libc) == again_after_once);
    CHECK(compiles(worker, other));
    elf_worker_free(worker);
    unlink(once);

    unsetenv("WORKER_ONCE");
    worker = elf_worker_new("/proc/self/exe");
    CHECK(!compiles(worker, libc));
    check_name(worker, libc, 0x77, "libc.so.6+0x77", false);
    unsetenv("WORKER_MISBEHAVES"); /* children are well again */
    CHECK(!compiles(worker, libc));
    check_name(worker, libc, 0x77, "libc.so.6+0x77", false);
    CHECK(compiles(worker, other));
    elf_worker_free(worker);
}

static void test_no_program(uint32_t libc) {
    struct elf_worker *worker = elf_worker_new("/nonexistent/program");
    CHECK(!compiles(worker, libc));
    check_name(worker, libc, 0x77, "libc.so.6+0x77", false);
    elf_worker_free(worker);
}

static void test_deadline(void) {
    int ends[2];
    char byte;
    static char much[4 << 20];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    CHECK(elf_receive(ends[0], &byte, 1, elf_now() + 2000000) == ELF_LATE);
    CHECK(elf_send(ends[0], much, sizeof much, elf_now() + 2000000) == ELF_LATE);
    close(ends[1]);
    CHECK(elf_send(ends[0], much, sizeof much, elf_now() + 1000000000) == ELF_GONE);
    close(ends[0]);
}

/* Symbols survive the way through bytes; any cut or wrong length is noticed. */
static void test_symbols_in_bytes(void) {
    char long_name[5000];
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    struct symbol_line lines[] = {{(char *)"inner\n", (char *)"_Zinner", NULL, 0, 7},
                                  {long_name, (char *)"o", (char *)"/a/b.c", 12, 3}};
    struct symbol symbol = {.n_lines = 2, .lines = lines}, got[2];
    struct elf_bytes bytes = {0};
    elf_put_symbol(&bytes, &symbol);
    CHECK(!bytes.failed && elf_get_symbols(bytes.bytes, bytes.n, got, 1));
    CHECK_UINT(got[0].n_lines, 2);
    CHECK_STR(got[0].lines[0].name, "inner?");
    CHECK_STR(got[0].lines[0].system_name, "_Zinner");
    CHECK(got[0].lines[0].file == NULL);
    CHECK_UINT(got[0].lines[0].start_line, 7);
    CHECK_UINT(strlen(got[0].lines[1].name), 4096);
    CHECK_STR(got[0].lines[1].file, "/a/b.c");
    CHECK_UINT(got[0].lines[1].line, 12);
    symbol_clear(&got[0]);
    CHECK(!elf_get_symbols(bytes.bytes, bytes.n, got, 2));
    unsigned taken = 0;
    for (size_t n = 0; n < bytes.n; n++)
        taken += elf_get_symbols(bytes.bytes, n, got, 1);
    CHECK_UINT(taken, 0);
    memset(bytes.bytes, 0xff, 4); /* four thousand million lines */
    CHECK(!elf_get_symbols(bytes.bytes, bytes.n, got, 1));
    free(bytes.bytes);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--elf-worker") == 0)
        return child_main();
    unsetenv("DEBUGINFOD_URLS");
    uint64_t malloc_at = address_in_libc("malloc");
    if (mkdtemp(directory) == NULL || malloc_at == 0) {
        fprintf(stderr, "skipped: needs nm and %s\n", LIBC);
        return 77;
    }
    uint32_t libc = module_intern_path(LIBC), other = module_intern_path("/proc/self/exe");
    struct elf_worker *worker = elf_worker_new("/proc/self/exe");
    test_answers(worker, libc, malloc_at);
    test_vdso(worker);
    test_hostile_files(worker, libc);
    test_no_module(worker);
    test_killed_between(worker, libc, malloc_at);
    elf_worker_free(worker);
    test_misbehaviour("die", true, libc, other);
    test_misbehaviour("lie", false, libc, other);
    test_misbehaviour("babble", false, libc, other);
    test_misbehaviour("boast", false, libc, other);
    test_no_program(libc);
    test_deadline();
    test_symbols_in_bytes();
    CHECK(waitpid(-1, NULL, WNOHANG) == -1); /* no child is left behind */
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    CHECK(system(command) == 0);
    return check_report();
}
