/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * named.c - the names in /proc.
 */
#include "client/attach/named.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/options.h"
#include "common/base/utf8.h"

#define NAME_MOST 15 /* bytes of a command's name that the kernel keeps */
#define SHOWN     8  /* processes of one name */

static bool read_name(pid_t pid, char *text, size_t bytes) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *file = fopen(path, "re");
    bool found = file != NULL && fgets(text, (int)bytes, file) != NULL;
    if (file != NULL)
        fclose(file);
    if (found)
        text[strcspn(text, "\n")] = '\0';
    return found;
}

/* A thread of the kernel has none. */
static bool read_program(pid_t pid, char *text, size_t bytes) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(path, text, bytes - 1);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static bool is_named(pid_t pid, const char *who) {
    char name[64], program[PATH_MAX];
    if (pid == getpid() || !read_program(pid, program, sizeof program))
        return false;
    const char *slash = strrchr(program, '/');
    if (slash != NULL && strcmp(slash + 1, who) == 0)
        return true;
    return read_name(pid, name, sizeof name) && strncmp(name, who, NAME_MOST) == 0 &&
           strlen(who) >= strlen(name);
}

/* How many there are; the first `most` of them in `list`. */
static size_t find_all(const char *who, pid_t *list, size_t most) {
    DIR *directory = opendir("/proc");
    struct dirent *entry;
    size_t n = 0;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        if (pid <= 0 || !is_named(pid, who))
            continue;
        if (n < most)
            list[n] = pid;
        n++;
    }
    if (directory != NULL)
        closedir(directory);
    return n;
}

static void complain_of_many(const char *who, const pid_t *list, size_t n) {
    char text[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < n && i < SHOWN; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", i > 0 ? ", " : "",
                                 (int)list[i]);
    complain("there are %zu processes named '%s': %s%s; say which by its number", n, who, text,
             n > SHOWN ? ", ..." : "");
}

static bool is_there(pid_t pid) {
    bool is = kill(pid, 0) == 0 || errno != ESRCH;
    if (!is)
        complain("there is no process %d", (int)pid);
    return is;
}

bool named_process(const char *who, pid_t *pid) {
    pid_t list[SHOWN];
    char *end;
    long number = strtol(who, &end, 10);
    if (number > 0 && number <= INT32_MAX && *end == '\0') {
        *pid = (pid_t)number;
        return is_there(*pid);
    }
    char *clean = strdup(who);
    if (clean != NULL)
        utf8_clean(clean);
    size_t n = who[0] != '\0' ? find_all(who, list, SHOWN) : 0;
    *pid = n == 1 ? list[0] : 0;
    if (n == 0)
        complain("there is no process named '%s', or its program can't be read by this user",
                 clean != NULL ? clean : "");
    else if (n > 1)
        complain_of_many(clean != NULL ? clean : "", list, n);
    free(clean);
    return n == 1;
}
