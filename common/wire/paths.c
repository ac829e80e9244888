/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "common/wire/paths.h"

#include <stdlib.h>
#include <string.h>

static size_t join(char *path, size_t bytes, const char *head, const char *tail) {
    size_t h = strlen(head), t = strlen(tail);
    if (h + t < bytes) {
        memcpy(path, head, h);
        memcpy(path + h, tail, t + 1);
    } else if (bytes > 0) {
        path[0] = '\0';
    }
    return h + t;
}

size_t paths_socket(char *path, size_t bytes, const char *override) {
    if (override != NULL && override[0] != '\0')
        return join(path, bytes, override, "");
    const char *socket = getenv("HCCT_SOCKET");
    if (socket != NULL && socket[0] != '\0')
        return join(path, bytes, socket, "");
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (runtime != NULL && runtime[0] == '/')
        return join(path, bytes, runtime, "/hcct/hcctd.sock");
    return join(path, bytes, "/run/hcct/hcctd.sock", "");
}
