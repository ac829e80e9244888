/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * descriptors.c - away with those to keep, then back to where they belong.
 */
#include "daemon/render/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Where close_range() is missing (Linux before 5.9), all are closed that could be. */
static void close_from(int first) {
    struct rlimit limit;
    if (close_range((unsigned)first, ~0u, 0) == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    for (rlim_t fd = (rlim_t)first; fd < limit.rlim_cur && fd < 1u << 20; fd++)
        close((int)fd);
}

bool descriptors_keep(const int *fds, unsigned n, int first) {
    int copy[DESCRIPTORS_KEPT_MAX];
    for (unsigned i = 0; i < n; i++) {
        copy[i] = fcntl(fds[i], F_DUPFD, first + (int)n);
        if (copy[i] < 0)
            return false;
    }
    for (unsigned i = 0; i < n; i++)
        if (dup2(copy[i], first + (int)i) < 0)
            return false;
    close_from(first + (int)n);
    return true;
}
