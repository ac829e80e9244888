/*
 * module_trust.h - whom can a file be believed, when it says by a build-id what it is?
 *
 * Anybody can write a file with any build-id. One that only root or the daemon's own user can have
 * written, at a name that only they can have given it, is what it says for everybody.
 */
#ifndef HCCT_MODULE_TRUST_H
#define HCCT_MODULE_TRUST_H

#include <stdbool.h>
#include <sys/types.h>

/* Is the open file such a one? `path` is its name in the root of that process (0: in the daemon's).
 * All user ids are the daemon's: root of another user namespace is not root. Not so for what is
 * deleted, mounted without set-user-id bits (as removable media and FUSE are), or at another name.
 */
bool module_is_trusted(int fd, pid_t pid, const char *path);

#endif
