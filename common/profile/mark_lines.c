/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * mark_lines.c - one line.
 */
#include "common/profile/mark_lines.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/utf8.h"

#define SECONDS_MOST (UINT64_MAX / CLOCK_SECOND - 1)
#define HEAD_ROOM    64 /* what stands before a name has 43 characters at most */

void mark_line_put(FILE *out, const struct mark_line *mark) {
    fprintf(out, "%" PRIu64 ".%09" PRIu64 " %" PRIu32 " %s\n", mark->time_ns / CLOCK_SECOND,
            mark->time_ns % CLOCK_SECOND, mark->pid, mark->name);
}

bool mark_line_next(const char **text, struct mark_line *mark) {
    uint64_t seconds, ns;
    char head[HEAD_ROOM]; /* a copy: sscanf() would look for the end of all lines each time */
    int used = 0;
    size_t n = strcspn(*text, "\n");
    snprintf(head, sizeof head, "%.*s", (int)(n < sizeof head ? n : sizeof head), *text);
    if (sscanf(head, "%20" SCNu64 ".%9" SCNu64 " %10" SCNu32 " %n", &seconds, &ns, &mark->pid,
               &used) != 3 ||
        used == 0 || (size_t)used >= n || seconds > SECONDS_MOST)
        return false;
    mark->time_ns = seconds * CLOCK_SECOND + ns;
    snprintf(mark->name, sizeof mark->name, "%.*s", (int)(n - (size_t)used), *text + used);
    utf8_clean(mark->name);
    *text += n + ((*text)[n] == '\n');
    return true;
}
