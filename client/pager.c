/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * pager.c - a pipe to a shell that runs the pager.
 */
#include "client/pager.h"

#include "client/program_file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/options.h"

#define NOT_FOUND 127 /* as a shell says it */

bool pager_is_wanted(void) {
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && term != NULL && strcmp(term, "dumb") != 0;
}

static bool is_long(const char *text, size_t bytes) {
    struct winsize size;
    size_t lines = 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0)
        return false;
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    return lines >= size.ws_row; /* the prompt takes a line, too */
}

/* NULL: there is none, or none is to be used. */
static const char *find_pager(void) {
    const char *pager = getenv("PAGER");
    struct program_file program;
    if (pager == NULL)
        return program_file_find("less", &program) ? "less" : NULL;
    return pager[0] != '\0' && strcmp(pager, "cat") != 0 ? pager : NULL;
}

static bool write_out(const char *text, size_t bytes) {
    if (fwrite(text, 1, bytes, stdout) == bytes && fflush(stdout) == 0)
        return true;
    complain("standard output can't be written: %s", strerror(errno));
    return false;
}

static void ignore(int signal) {
    (void)signal;
}

/* While a pager runs, ^C is the pager's; one that is left early is no error. A handler, as the
 * pager would inherit it when signals were ignored. */
static void leave_signals(struct sigaction old[2]) {
    struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, &old[0]);
    sigaction(SIGPIPE, &action, &old[1]);
}

static void take_signals(const struct sigaction old[2]) {
    sigaction(SIGINT, &old[0], NULL);
    sigaction(SIGPIPE, &old[1], NULL);
}

/* False: there is no such pager, and nothing was shown. */
static bool run(const char *pager, const char *text, size_t bytes) {
    struct sigaction old[2];
    setenv("LESS", "FRX", 0); /* colours; quits where all fits; leaves it on the screen */
    leave_signals(old);
    FILE *pipe = popen(pager, "we");
    int status = -1;
    if (pipe != NULL) {
        fwrite(text, 1, bytes, pipe);
        status = pclose(pipe);
    }
    take_signals(old);
    return status != -1 && !(WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND);
}

bool pager_show(const char *text, size_t bytes) {
    const char *pager = is_long(text, bytes) ? find_pager() : NULL;
    return (pager != NULL && run(pager, text, bytes)) || write_out(text, bytes);
}
