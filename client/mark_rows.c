/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * mark_rows.c - columns.
 */
#include "client/mark_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "common/base/options.h"
#include "common/base/utf8.h"

void mark_rows_head(void) {
    printf("%-16s %-8s %-20s %s\n", "TIME", "PID", "COMMAND", "MARK");
}

/* "27 Nov 03:10:00", in local time. */
static void moment_text(char *text, size_t bytes, double seconds) {
    time_t time = (time_t)seconds;
    struct tm when;
    if (localtime_r(&time, &when) == NULL || strftime(text, bytes, "%d %b %H:%M:%S", &when) == 0)
        text[0] = '\0';
}

void mark_row(double seconds, uint64_t pid, const char *program, const char *name) {
    char moment[64], command[64], mark[256];
    moment_text(moment, sizeof moment, seconds);
    utf8_copy_clean(command, sizeof command, program);
    utf8_copy_clean(mark, sizeof mark, name);
    printf("%-16s %-8" PRIu64 " %-20s %s\n", moment, pid, command, mark);
}

void mark_rows_lost(uint64_t lost) {
    fflush(stdout);
    complain("%" PRIu64 " more mark%s found no place, and %s lost", lost, lost == 1 ? "" : "s",
             lost == 1 ? "is" : "are");
}
