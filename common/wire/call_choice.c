/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_choice.c - patterns, and the libraries that are left out where there are none.
 */
#include "common/wire/call_choice.h"

#include <stddef.h>
#include <string.h>

#define LEFT_OUT                                                                                   \
    "ld-linux*,ld-musl*,linux-vdso*,libc.so*,libm.so*,libmvec.so*,libpthread.so*,libdl.so*,"       \
    "librt.so*,libresolv.so*,libnsl.so*,libutil.so*,libanl.so*,libBrokenLocale.so*,"               \
    "libthread_db.so*,libnss_*,libgcc_s.so*,libstdc++.so*,libhcctagent.so*,"                       \
    "libasan.so*,libhwasan.so*,liblsan.so*,libtsan.so*,libubsan.so*"

/* One pattern, [p, end), against all of `text`. Only the last * can have been too short. */
static bool matches(const char *p, const char *end, const char *text) {
    const char *star = NULL, *resume = NULL;
    while (*text != '\0') {
        if (p < end && *p == '*') {
            star = ++p;
            resume = text;
        } else if (p < end && (*p == '?' || *p == *text)) {
            p++;
            text++;
        } else if (star != NULL) {
            p = star;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (p < end && *p == '*')
        p++;
    return p == end;
}

static bool any_matches(const char *patterns, const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    for (const char *p = patterns, *end;; p = end + 1) {
        end = p + strcspn(p, ",");
        bool whole = memchr(p, '/', (size_t)(end - p)) != NULL;
        if (end > p && matches(p, end, whole ? path : name))
            return true;
        if (*end == '\0')
            return false;
    }
}

bool call_choice(const char *patterns, const char *path) {
    if (patterns != NULL && patterns[0] != '\0')
        return any_matches(patterns, path);
    return !any_matches(LEFT_OUT, path);
}
