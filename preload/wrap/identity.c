/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * identity.c - after these calls the daemon's socket may be out of reach: another user may not
 * connect to it, another root does not have it.
 */
#include <sched.h>
#include <unistd.h>

#include "common/wire/compiler.h"
#include "preload/life/attach.h"
#include "preload/wrap/real.h"

hcct_export int setuid(uid_t user) {
    agent_announce_child();
    return real_setuid(user);
}

hcct_export int seteuid(uid_t user) {
    agent_announce_child();
    return real_seteuid(user);
}

hcct_export int setreuid(uid_t real, uid_t effective) {
    agent_announce_child();
    return real_setreuid(real, effective);
}

hcct_export int setresuid(uid_t real, uid_t effective, uid_t saved) {
    agent_announce_child();
    return real_setresuid(real, effective, saved);
}

hcct_export int chroot(const char *path) {
    agent_announce_child();
    return real_chroot(path);
}

hcct_export int unshare(int flags) {
    agent_announce_child();
    return real_unshare(flags);
}

hcct_export int setns(int fd, int kind) {
    agent_announce_child();
    return real_setns(fd, kind);
}
