/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_files_test.c - which programs have calls that can be counted, and files that are damaged.
 */
#include "tests/check.h"

#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/commands/call_files.h"

#define MUTATIONS 400

/* Calls of programs as they are. */
#if defined(__x86_64__)
#define ARE_FOLLOWED true
#else
#define ARE_FOLLOWED false
#endif

static char *in_build(const char *name) {
    const char *build = getenv("HCCT_BUILDDIR");
    char *path;
    if (asprintf(&path, "%s/%s", build != NULL ? build : ".", name) < 0)
        exit(99);
    return path;
}

static bool hopeless(const char *command, const char *patterns) {
    char path[PATH_MAX] = "";
    bool answer = call_files_hopeless(command, patterns, path);
    CHECK(!answer || path[0] != '\0');
    return answer;
}

static void test_programs(void) {
    char *instrumented = in_build("tests/client/instrumented_target");
    char *fixed = in_build("tests/client/static_target");
    char *user = in_build("tests/client/library_user");
    char *libraries = in_build("tests/client");
    CHECK(!hopeless(instrumented, NULL));
    CHECK(!hopeless(instrumented, "no-such-module")); /* it reports by itself */
    CHECK(!hopeless(fixed, NULL));                    /* another matter */
    CHECK(hopeless("true", NULL) == !ARE_FOLLOWED);
    CHECK(hopeless("true", "no-such-module"));
    CHECK(hopeless("true", "libc.so*") == !ARE_FOLLOWED);
    CHECK(!hopeless("no-such-command-anywhere", NULL));
    CHECK(!hopeless("/", NULL));
    CHECK(!hopeless("", NULL));
    setenv("LD_LIBRARY_PATH", libraries, 1);
    CHECK(!hopeless(user, "no-such-module"));
    unsetenv("LD_LIBRARY_PATH");
    free(instrumented);
    free(fixed);
    free(user);
    free(libraries);
}

static uint32_t draw(uint64_t *state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

static size_t read_file(const char *path, uint8_t **data) {
    struct stat status;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fstat(fileno(file), &status) != 0 || status.st_size == 0)
        exit(99);
    size_t bytes = (size_t)status.st_size;
    *data = malloc(bytes);
    CHECK_UINT(fread(*data, 1, bytes, file), bytes);
    fclose(file);
    return bytes;
}

/* Headers and tables of anything, and files that end anywhere: there is an answer, whatever it is.
 */
static void test_damaged(void) {
    char *path = in_build("tests/client/instrumented_target"), copy[] = "/tmp/hcct-test-XXXXXX";
    uint8_t *data, *damaged;
    size_t bytes = read_file(path, &data);
    uint64_t state = 7;
    unsigned same = 0;
    int fd = mkstemp(copy);
    CHECK(fd >= 0);
    damaged = malloc(bytes);
    for (int i = 0; i < MUTATIONS; i++) {
        size_t kept = i % 4 == 0 ? draw(&state) % bytes : bytes;
        memcpy(damaged, data, bytes);
        for (unsigned k = draw(&state) % 16; k > 0; k--)
            damaged[draw(&state) % (i % 2 == 0 ? 0x800 : bytes)] ^= (uint8_t)(1 + draw(&state));
        CHECK(ftruncate(fd, 0) == 0);
        CHECK(pwrite(fd, damaged, kept, 0) == (ssize_t)kept);
        struct call_sites *sites = call_file_sites(copy);
        same += !hopeless(copy, "no-such-module");
        free(sites);
    }
    CHECK(same > 0);
    close(fd);
    unlink(copy);
    free(damaged);
    free(data);
    free(path);
}

int main(void) {
    test_programs();
    test_damaged();
    return check_report();
}
