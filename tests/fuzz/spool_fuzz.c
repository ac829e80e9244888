/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * spool_fuzz.c - any files in the directory of hcct push: it is refused, or what waits in it can be
 * read or is complained about, and what is taken then is there when it is opened again.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "client/remote/spool.h"
#include "common/profile/profile.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/whole.h"
#include "tests/report/sample.h"

#define FILES_MAX 8u
#define NAME_ROOM 256u
#define BYTES_MAX 100000u

static char directory[] = "/tmp/hcct-spool-XXXXXX";
static char file[FILES_MAX][NAME_ROOM];
static unsigned n_files;

/* Nobody needs it after a power failure. */
int fsync(int fd) {
    (void)fd;
    return 0;
}

static void remove_directory(void) {
    rmdir(directory);
}

static void make_directory(void) {
    static bool made;
    if (made)
        return;
    made = true;
    stderr = fopen("/dev/null", "we"); /* complaints */
    fuzz_must(stderr != NULL && mkdtemp(directory) != NULL);
    atexit(remove_directory);
}

/* Names that are taken already, or lead elsewhere, are none. */
static void put_file(const char *name, const uint8_t *bytes, size_t n) {
    char path[sizeof directory + NAME_ROOM];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = name[0] != '\0' && strchr(name, '/') == NULL
                 ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
                 : -1;
    if (fd < 0)
        return;
    fuzz_must(write(fd, bytes, n) == (ssize_t)n);
    close(fd);
    strcpy(file[n_files++], path + sizeof directory);
}

static void put_files(struct fuzz_input *input) {
    static uint8_t bytes[FUZZ_INPUT_MAX];
    while (n_files < FILES_MAX && input->size > 0) {
        char name[NAME_ROOM] = "";
        fuzz_take(input, name, fuzz_take_byte(input));
        put_file(name, bytes, fuzz_take_bytes(input, bytes));
    }
}

static void remove_file(const char *name) {
    char path[sizeof directory + NAME_ROOM];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    unlink(path);
}

static void remove_files(const struct spool *spool) {
    remove_file("state");
    for (; n_files > 0; n_files--)
        remove_file(file[n_files - 1]);
    for (int i = 0; i < SPOOL_COLLECTORS; i++) {
        char name[NAME_ROOM];
        snprintf(name, sizeof name, "base-%s-%llu", spool_collectors[i],
                 (unsigned long long)spool->base[i].number);
        remove_file(name);
    }
}

static void read_profile(struct profile *profile) {
    if (profile == NULL)
        return;
    must_be_whole(profile);
    profile_free(profile);
}

/* All that waits; the last one has the weight that was taken, unless that is NULL, and is removed.
 */
static void read_pushes(const struct spool *spool, const uint64_t *taken) {
    uint8_t id[PUSH_ID_BYTES];
    size_t n;
    struct spool_push *push = spool_waiting(spool, &n);
    for (size_t i = 0; i < n; i++) {
        struct profile *profile = spool_read(spool, &push[i], id);
        fuzz_must(i == 0 || push[i].number >= push[i - 1].number);
        fuzz_must(push[i].number <= spool->sequence);
        if (taken != NULL && i == n - 1) {
            fuzz_must(profile != NULL && profile_total(profile) == *taken &&
                      push[i].number == spool->sequence);
            spool_remove(spool, &push[i]);
        }
        read_profile(profile);
    }
    free(push);
}

static bool open_and_read(struct spool *spool, const uint64_t *taken) {
    if (!spool_open(spool, directory, BYTES_MAX))
        return false;
    read_pushes(spool, taken);
    for (int i = 0; i < SPOOL_COLLECTORS; i++)
        read_profile(spool_base(spool, i));
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input input = {data, size};
    struct spool spool;
    char error[256] = "";
    make_directory();
    put_files(&input);
    if (open_and_read(&spool, NULL)) {
        struct profile *profile = sample_random(size);
        int collector = (int)(size % SPOOL_COLLECTORS);
        uint64_t weight = profile_total(profile);
        bool taken = !spool_is_full(&spool) && spool.sequence < UINT64_MAX &&
                     spool_take(&spool, collector, profile, profile, 1, error, sizeof error);
        profile_free(profile);
        spool_close(&spool);
        if (taken) {
            fuzz_must(open_and_read(&spool, &weight));
            spool_close(&spool);
        }
    }
    remove_files(&spool);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "spool", .mutations = 1000};
