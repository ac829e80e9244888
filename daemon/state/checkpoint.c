/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * checkpoint.c - a thread, a directory, and whose it is.
 */
#include "daemon/state/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/options.h"
#include "common/base/own_directory.h"
#include "daemon/ingest/families.h"
#include "daemon/ingest/ingest.h"
#include "daemon/ingest/registry.h"
#include "daemon/state/checkpoint_load.h"
#include "daemon/state/checkpoint_save.h"
#include "daemon/state/timed_thread.h"

static struct {
    char path[PATH_MAX], temporary[PATH_MAX];
    bool open;
    unsigned seconds;
    struct timed_thread thread;
} checkpoint = {.thread = TIMED_THREAD_NONE};

/* ---- the directory ---- */

/* What is read there says whose profiles they are: the directory must be ours. Held until the
 * process ends, however that may be. */
static bool lock_directory(const char *directory) {
    int fd = own_directory_make(directory);
    return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

bool checkpoint_open(const char *directory, char *error, size_t room) {
    const size_t space = sizeof checkpoint.path;
    int n = snprintf(checkpoint.path, space, "%s/hcctd.state", directory);
    int m = snprintf(checkpoint.temporary, space, "%s/hcctd.state.new", directory);
    errno = ENAMETOOLONG;
    if (n < (int)space && m < (int)space)
        checkpoint.open = lock_directory(directory);
    if (!checkpoint.open)
        snprintf(error, room, "--state-dir %.200s can't be used: %s", directory,
                 errno == EWOULDBLOCK ? "another hcctd does so" : own_directory_error(errno));
    return checkpoint.open;
}

/* ---- writing ---- */

static void write_one(void) {
    static int reported; /* the same error is worth one line */
    if (checkpoint_save(checkpoint.temporary) &&
        rename(checkpoint.temporary, checkpoint.path) == 0) {
        reported = 0;
        return;
    }
    if (errno != reported)
        complain("%s can't be written: %s", checkpoint.path, strerror(errno));
    reported = errno;
}

/* Waits for the next one to be due. False: the daemon ends. */
static bool wait_due(void) {
    uint64_t due = clock_now() + (uint64_t)checkpoint.seconds * CLOCK_SECOND;
    return timed_thread_wait(&checkpoint.thread, due);
}

static void *run(void *unused) {
    (void)unused;
    while (wait_due()) {
        registry_give_up();
        ingest_flush(NULL);
        write_one();
    }
    return NULL;
}

bool checkpoint_start(unsigned seconds) {
    if (!checkpoint.open)
        return true;
    checkpoint.seconds = seconds;
    return timed_thread_start(&checkpoint.thread, run);
}

void checkpoint_stop(void) {
    if (timed_thread_stop(&checkpoint.thread))
        write_one();
}

/* ---- reading ---- */

bool checkpoint_restore(const struct mcct_params *tree) {
    struct process **list;
    size_t n;
    if (!checkpoint.open)
        return false;
    const char *wrong = checkpoint_load(checkpoint.path, tree, &list, &n);
    if (wrong != NULL && errno != ENOENT)
        complain("%s is not used: %s; profiles begin anew", checkpoint.path, wrong);
    if (wrong == NULL) {
        families_read_all();
        families_add_missed(list, n);
    }
    for (size_t i = 0; i < n; i++)
        registry_add(list[i]);
    free(list);
    registry_give_up();
    return wrong == NULL;
}
