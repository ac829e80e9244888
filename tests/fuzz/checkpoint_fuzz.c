/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * checkpoint_fuzz.c - any records as a checkpoint: refused with a sentence and nothing taken, or
 * processes that can be written and read back as the same.
 *
 * Few changes get past the checksum of a file. So inputs are what stands between its head and its
 * end, which are put around them here. open() is ours: there are two files, both in memory.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

static int open_memory(const char *path, int flags, ...);
#define open open_memory
#include "daemon/state/checkpoint_file.c"
#undef open

#include "common/tree/tree_copy.h"
#include "daemon/ingest/registry.h"
#include "daemon/state/checkpoint_load.h"
#include "daemon/state/checkpoint_save.h"

#define GIVEN   "given"
#define WRITTEN "written"
#define EPSILON 0.001 /* more contexts than there are in any input */

static int given = -1, written = -1;

/* Files are told apart by their names' first letters. */
static int open_memory(const char *path, int flags, ...) {
    int memory = path[0] == GIVEN[0] ? given : written, fd = dup(memory);
    fuzz_must(fd >= 0 && lseek(fd, 0, SEEK_SET) == 0);
    fuzz_must((flags & O_TRUNC) == 0 || ftruncate(fd, 0) == 0);
    return fd;
}

static void put_records(const uint8_t *data, size_t size) {
    static struct checkpoint_file out;
    fuzz_must(ftruncate(given, 0) == 0 && checkpoint_file_create(&out, GIVEN));
    put_bytes(&out, data, size);
    fuzz_must(checkpoint_file_finish(&out));
}

/* What can be told of trees without their shape. */
struct sums {
    uint64_t total, unseen, counts, errors, nodes, processes;
};

static void add(struct sums *sums, const struct process *p) {
    struct tree_copy copy;
    fuzz_must(tree_copy_take(&copy, p->tree));
    sums->processes++;
    sums->total += copy.stats.total;
    sums->unseen += copy.stats.unseen;
    sums->nodes += copy.n;
    for (size_t i = 0; i < copy.n; i++) {
        fuzz_must(copy.node[i].error <= copy.node[i].count || copy.node[i].residual);
        fuzz_must(copy.node[i].parent < i || i == 0);
        sums->counts += copy.node[i].count;
        sums->errors += copy.node[i].error;
    }
    tree_copy_free(&copy);
}

/* Their references go to the registry. False: refused. */
static bool load(const char *path, struct sums *sums) {
    const struct mcct_params params = {.epsilon = EPSILON};
    struct process **list;
    size_t n;
    const char *wrong = checkpoint_load(path, &params, &list, &n);
    *sums = (struct sums){0};
    fuzz_must(wrong == NULL || (wrong[0] != '\0' && list == NULL && n == 0));
    for (size_t i = 0; i < n; i++) {
        fuzz_must(list[i]->exe != NULL && list[i]->frames != NULL && !list[i]->live);
        add(sums, list[i]);
        registry_add(list[i]);
    }
    free(list);
    return wrong == NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct sums first, second;
    if (given < 0) {
        given = memfd_create(GIVEN, MFD_CLOEXEC);
        written = memfd_create(WRITTEN, MFD_CLOEXEC);
    }
    put_records(data, size);
    if (load(GIVEN, &first)) {
        fuzz_must(checkpoint_save(WRITTEN));
        registry_clear();
        fuzz_must(load(WRITTEN, &second));
        fuzz_must(memcmp(&first, &second, sizeof first) == 0);
    }
    registry_clear();
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "checkpoint", .mutations = 5000};
