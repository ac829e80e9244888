/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * late_tasks.c - reads the files of threads, by system calls alone.
 */
#include "preload/life/late_tasks.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "preload/life/sys.h"

#define TASKS       "/proc/self/task"
#define STATUS_ROOM 4096 /* what is looked for last stands at the end of a status */
#define BLOCKED     "\nSigBlk:\t"
#define ASLEEP      "\nState:\tS"
#define SWITCHES    "\nvoluntary_ctxt_switches:\t"

uint64_t late_tasks_count(void) {
    struct stat status;
    return sys4(SYS_newfstatat, AT_FDCWD, TASKS, &status, 0) == 0 ? (uint64_t)status.st_nlink : 0;
}

long late_tasks_open(void) {
    return sys4(SYS_openat, AT_FDCWD, TASKS, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
}

static uint64_t decimal(const char *text) {
    uint64_t value = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        value = value * 10 + (uint64_t)(*text - '0');
    return value;
}

pid_t late_tasks_number(const char *name) {
    return (pid_t)decimal(name);
}

void late_tasks_name(pid_t tid, char name[LATE_TASKS_NAME]) {
    char digit[LATE_TASKS_NAME];
    int n = 0, at = 0;
    for (; tid > 0 && n < 12; tid /= 10)
        digit[n++] = (char)('0' + tid % 10);
    while (n > 0)
        name[at++] = digit[--n];
    name[at] = '\0';
}

static long open_file(int tasks, const char *name, const char *file) {
    char path[32];
    size_t length = strnlen(name, LATE_TASKS_NAME);
    memcpy(path, name, length);
    strcpy(path + length, file);
    return sys4(SYS_openat, tasks, path, O_RDONLY | O_CLOEXEC, 0);
}

const char *late_tasks_read(int tasks, const char *name, const char *file) {
    static char text[STATUS_ROOM];
    long fd = open_file(tasks, name, file);
    long got = fd >= 0 ? sys3(SYS_read, fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        sys1(SYS_close, fd);
    text[got > 0 ? got : 0] = '\0';
    return text;
}

bool late_tasks_tells_waits(int tasks) {
    char name[LATE_TASKS_NAME];
    late_tasks_name((pid_t)sys0(SYS_gettid), name);
    long fd = open_file(tasks, name, "/syscall");
    if (fd >= 0)
        sys1(SYS_close, fd);
    return fd >= 0;
}

uint64_t late_tasks_hexadecimal(const char *text) {
    uint64_t value = 0;
    for (; (*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'f'); text++)
        value = value << 4 | (uint64_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
    return value;
}

uint64_t late_tasks_blocked(int tasks, const char *name) {
    const char *line = strstr(late_tasks_read(tasks, name, "/status"), BLOCKED);
    return line != NULL ? late_tasks_hexadecimal(line + strlen(BLOCKED)) : UINT64_MAX;
}

bool late_tasks_sleeps(int tasks, const char *name, uint64_t *switches) {
    const char *text = late_tasks_read(tasks, name, "/status");
    const char *line = strstr(text, SWITCHES);
    if (line == NULL || strstr(text, ASLEEP) == NULL)
        return false;
    *switches = decimal(line + strlen(SWITCHES));
    return true;
}
