/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * open.c - pages written beside profiles, and xdg-open, in a process that nobody waits for.
 */
#include "client/commands/open.h"

#include <fcntl.h>
#include <limits.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/output.h"
#include "common/base/options.h"

static bool has_display(void) {
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (x != NULL && x[0] != '\0') || (wayland != NULL && wayland[0] != '\0');
}

/* Of two forks the second becomes init's child. It exits with a status when it can't run xdg-open,
 * which comes through a pipe that exec closes. */
static bool start_browser(const char *path) {
    int failed[2];
    char byte;
    if (pipe2(failed, O_CLOEXEC) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            int null = open("/dev/null", O_RDWR | O_CLOEXEC);
            setsid();
            for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
                dup2(null, fd);
            execlp("xdg-open", "xdg-open", path, (char *)NULL);
            _exit(write(failed[1], "x", 1) == 1 ? 127 : 126);
        }
        _exit(0);
    }
    close(failed[1]);
    bool started = child > 0 && waitpid(child, NULL, 0) == child && read(failed[0], &byte, 1) == 0;
    close(failed[0]);
    return started;
}

void open_page(const char *path) {
    char absolute[PATH_MAX];
    if (realpath(path, absolute) == NULL) {
        complain("%s can't be opened in a browser", path);
        return;
    }
    if (!has_display() || !start_browser(absolute))
        complain("there is no display: open file://%s in a browser", absolute);
}

/* ---- profiles ---- */

static bool write_beside(const struct profile *profile, const struct format *format,
                         const struct format_options *options, const char *name) {
    size_t length = strlen(name), suffix = strlen(format->suffix);
    struct output output;
    char page[PATH_MAX];
    if (length > suffix && strcmp(name + length - suffix, format->suffix) == 0)
        length -= suffix;
    snprintf(page, sizeof page, "%.*s.html", (int)length, name);
    if (!output_open(&output, page, NULL))
        return false;
    if (!write_html(output.file, profile, options)) {
        output_fail(&output);
        return false;
    }
    char *written = output_commit(&output, 0);
    if (written != NULL)
        open_page(written);
    free(written);
    return written != NULL;
}

static bool write_temporary(const struct profile *profile, const struct format_options *options) {
    const char *directory = getenv("TMPDIR");
    char page[PATH_MAX];
    snprintf(page, sizeof page, "%s/hcct-XXXXXX.html",
             directory != NULL && directory[0] == '/' ? directory : "/tmp");
    int fd = mkostemps(page, (int)strlen(".html"), O_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    bool written = file != NULL && write_html(file, profile, options);
    if (file != NULL)
        written = fclose(file) == 0 && written;
    if (written)
        open_page(page);
    else
        complain("%s can't be written: %s", page, strerror(errno));
    return written;
}

bool open_profile(const struct profile *profile, const struct format *format,
                  const struct format_options *options, const char *name, bool is_file) {
    struct stat status;
    if (!is_file || stat(name, &status) != 0 || !S_ISREG(status.st_mode))
        return write_temporary(profile, options);
    if (strcmp(format->name, "html") == 0) {
        open_page(name);
        return true;
    }
    return write_beside(profile, format, options, name);
}
