/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * locate.c - a short list of places, counted from where this program itself is.
 */
#include "client/locate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/options.h"
#include "common/wire/compiler.h"
#include "common/wire/wire.h"

struct thing {
    const char *what, *variable;
    int access;            /* what we must be able to do with it, as for access() */
    const char *nearby[4]; /* from the directory of this program */
    const char *compiled_in;
};

static const struct thing agent = {
    .what = "the agent libhcctagent.so",
    .variable = "HCCT_AGENT",
    .access = R_OK,
    .nearby = {"../preload/libhcctagent.so", "../lib/hcct/libhcctagent.so"},
    .compiled_in = PKGLIBDIR "/libhcctagent.so",
};

static const struct thing late_agent = {
    .what = "the agent libhcctattach.so",
    .variable = "HCCT_LATE_AGENT",
    .access = R_OK,
    .nearby = {"../preload/libhcctattach.so", "../lib/hcct/libhcctattach.so"},
    .compiled_in = PKGLIBDIR "/libhcctattach.so",
};

static const struct thing blocks = {
    .what = "libhcctblocks.so, which samples allocations,",
    .variable = "HCCT_BLOCKS",
    .access = R_OK,
    .nearby = {"../preload/libhcctblocks.so", "../lib/hcct/libhcctblocks.so"},
    .compiled_in = PKGLIBDIR "/libhcctblocks.so",
};

static const struct thing locks = {
    .what = "libhcctlocks.so, which samples waits for locks,",
    .variable = "HCCT_LOCKS",
    .access = R_OK,
    .nearby = {"../preload/libhcctlocks.so", "../lib/hcct/libhcctlocks.so"},
    .compiled_in = PKGLIBDIR "/libhcctlocks.so",
};

static const struct thing daemon_program = {
    .what = "hcctd",
    .variable = "HCCT_DAEMON",
    .access = X_OK,
    .nearby = {"hcctd", "../daemon/hcctd", "../sbin/hcctd"},
    .compiled_in = BINDIR "/hcctd",
};

static const struct thing remote_program = {
    .what = "hcct-remote, which libcurl is needed to build,",
    .variable = "HCCT_REMOTE",
    .access = X_OK,
    .nearby = {"remote/hcct-remote", "../libexec/hcct/hcct-remote"},
    .compiled_in = PKGLIBEXECDIR "/hcct-remote",
};

static bool use(const char *candidate, const struct thing *thing, char path[PATH_MAX]) {
    return realpath(candidate, path) != NULL && access(path, thing->access) == 0;
}

static bool own_directory(char directory[PATH_MAX]) {
    ssize_t n = readlink("/proc/self/exe", directory, PATH_MAX - 1);
    if (n <= 0)
        return false;
    directory[n] = '\0';
    *strrchr(directory, '/') = '\0';
    return true;
}

static bool use_nearby(const struct thing *thing, char path[PATH_MAX]) {
    char directory[PATH_MAX], candidate[2 * PATH_MAX];
    if (!own_directory(directory))
        return false;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(thing->nearby) && thing->nearby[i] != NULL; i++) {
        snprintf(candidate, sizeof candidate, "%s/%s", directory, thing->nearby[i]);
        if (use(candidate, thing, path))
            return true;
    }
    return false;
}

static bool locate(const struct thing *thing, char path[PATH_MAX]) {
    const char *override = getenv(thing->variable);
    if (override != NULL && override[0] != '\0') {
        if (use(override, thing, path))
            return true;
        complain("%s is '%s', where %s can't be used", thing->variable, override, thing->what);
        return false;
    }
    if (use_nearby(thing, path) || use(thing->compiled_in, thing, path))
        return true;
    complain("%s is neither near this program nor at %s: install hcct, or set %s to where it is",
             thing->what, thing->compiled_in, thing->variable);
    return false;
}

static bool locate_library(const struct thing *thing, char path[PATH_MAX]) {
    if (!locate(thing, path))
        return false;
    if (strpbrk(path, " :\t\n") == NULL)
        return true;
    complain("the agent's path %s has a space or a colon in it, which LD_PRELOAD can't carry: set "
             "%s to a copy elsewhere",
             path, thing->variable);
    return false;
}

bool locate_late_agent(char path[PATH_MAX]) {
    return locate(&late_agent, path);
}

bool locate_agent(char path[PATH_MAX]) {
    return locate_library(&agent, path);
}

bool locate_blocks(char path[PATH_MAX]) {
    return locate_library(&blocks, path);
}

bool locate_locks(char path[PATH_MAX]) {
    return locate_library(&locks, path);
}

bool locate_daemon(char path[PATH_MAX]) {
    return locate(&daemon_program, path);
}

bool locate_remote(char path[PATH_MAX]) {
    return locate(&remote_program, path);
}
