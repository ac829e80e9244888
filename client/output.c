/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * output.c - patterns to names, temporary file to final one.
 */
#include "client/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/options.h"

/* ---- names ---- */

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* False: `letter` means nothing. */
static bool put_value(FILE *out, const struct output *output, char letter, pid_t pid) {
    char host[256] = "";
    switch (letter) {
    case 'p':
        return fprintf(out, "%ld", (long)pid) > 0;
    case 'e':
        return fputs(last_part(output->command), out) >= 0;
    case 'h':
        gethostname(host, sizeof host - 1);
        return fputs(host, out) >= 0;
    case 't':
        return fprintf(out, "%lld", (long long)output->time) > 0;
    case '%':
        return fputc('%', out) >= 0;
    default:
        return false;
    }
}

static char *expand(const struct output *output, pid_t pid) {
    if (output->command == NULL)
        return strdup(output->pattern);
    char *name = NULL;
    size_t bytes;
    FILE *out = open_memstream(&name, &bytes);
    if (out == NULL)
        return NULL;
    bool good = true;
    for (const char *at = output->pattern; *at != '\0' && good; at++) {
        if (*at == '%')
            good = put_value(out, output, *++at, pid);
        else
            fputc(*at, out);
    }
    fclose(out);
    if (good)
        return name;
    free(name);
    return NULL;
}

/* Its directory must be known before the process is. */
static bool pid_in_directory(const char *pattern) {
    const char *slash = strrchr(pattern, '/');
    for (const char *at = pattern; slash != NULL && (at = strchr(at, '%')) != NULL && at < slash;
         at += 2)
        if (at[1] == 'p')
            return true;
    return false;
}

/* ---- opening ---- */

static bool complain_unwritable(const char *name, int error) {
    if (strcmp(name, "-") == 0)
        complain("standard output can't be written: %s", strerror(error));
    else
        complain("'%s' can't be written: %s; name another file with -o", name, strerror(error));
    return false;
}

static bool open_direct(struct output *output, const char *name) {
    output->file = fopen(name, "we");
    return output->file != NULL ? true : complain_unwritable(name, errno);
}

static bool open_temporary(struct output *output, const char *name) {
    int directory = (int)(last_part(name) - name);
    if (asprintf(&output->temporary, "%.*s.hcct-XXXXXX", directory, name) < 0) {
        output->temporary = NULL;
        return complain_unwritable(name, ENOMEM);
    }
    int fd = mkostemp(output->temporary, O_CLOEXEC);
    if (fd < 0) {
        int error = errno;
        free(output->temporary);
        output->temporary = NULL;
        return complain_unwritable(name, error);
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    output->file = fdopen(fd, "w");
    return true;
}

static bool open_name(struct output *output, const char *name) {
    struct stat status;
    if (last_part(name)[0] == '\0')
        return complain_unwritable(name, name[0] == '\0' ? ENOENT : EISDIR);
    if (stat(name, &status) != 0 || S_ISREG(status.st_mode))
        return open_temporary(output, name);
    if (S_ISDIR(status.st_mode))
        return complain_unwritable(name, EISDIR);
    return open_direct(output, name);
}

bool output_open(struct output *output, const char *pattern, const char *command) {
    *output = (struct output){.pattern = pattern, .command = command, .time = time(NULL)};
    if (strcmp(pattern, "-") == 0) {
        output->file = stdout;
        return true;
    }
    if (command != NULL && pid_in_directory(pattern)) {
        complain("%s: the pid (%%p) is not known yet when the directory is opened; use it in the "
                 "file's own name",
                 pattern);
        return false;
    }
    char *name = expand(output, 0);
    if (name == NULL) {
        complain("%s: after a %% there must be p (pid), e (command), h (host), t (time) or %%",
                 pattern);
        return false;
    }
    bool good = open_name(output, name);
    free(name);
    return good;
}

/* ---- ending ---- */

static bool keep_old(const char *name) {
    struct stat status;
    char *old;
    if (lstat(name, &status) != 0)
        return true;
    if (asprintf(&old, "%s.old", name) < 0)
        return false;
    bool kept = rename(name, old) == 0;
    free(old);
    return kept;
}

static void complain_failed(const char *name) {
    if (errno != EPIPE) /* a reader that has seen enough is no error */
        complain_unwritable(name, errno != 0 ? errno : EIO);
}

char *output_commit(struct output *output, pid_t pid) {
    char *name = output->file == stdout ? strdup("standard output") : expand(output, pid);
    FILE *file = output->file;
    output->file = NULL;
    errno = 0;
    bool good = !ferror(file) && fflush(file) == 0;
    if (file != stdout)
        good = fclose(file) == 0 && good;
    if (good && output->temporary != NULL)
        good = keep_old(name) && rename(output->temporary, name) == 0;
    if (!good) {
        complain_failed(name);
        output_abandon(output);
        free(name);
        name = NULL;
    }
    free(output->temporary);
    output->temporary = NULL;
    return name;
}

void output_fail(struct output *output) {
    complain_failed(output->pattern);
    output_discard(output);
}

void output_discard(struct output *output) {
    if (output->file != NULL && output->file != stdout)
        fclose(output->file);
    output_abandon(output);
    free(output->temporary);
    *output = (struct output){0};
}

void output_abandon(const struct output *output) {
    if (output->temporary != NULL)
        unlink(output->temporary);
}
