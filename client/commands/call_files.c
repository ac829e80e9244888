/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_files.c - the program's file, and the lines that the dynamic loader lists.
 */
#include "client/commands/call_files.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/program_file.h"
#include "common/code/call_sites_compile.h"
#include "common/code/call_verdict.h"
#include "common/wire/call_choice.h"

/* ---- one file ---- */

/* Only regular files: another one may never end. NULL: not to be read. */
static Elf *open_file(const char *path, int *fd) {
    struct stat status;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0 || fstat(*fd, &status) != 0 || !S_ISREG(status.st_mode) ||
        elf_version(EV_CURRENT) == EV_NONE)
        return NULL;
    return elf_begin(*fd, ELF_C_READ_MMAP, NULL);
}

static void close_file(Elf *elf, int fd) {
    elf_end(elf);
    if (fd >= 0)
        close(fd);
}

static enum calls_verdict verdict_of(const char *path) {
    struct call_segment segment;
    struct elf_dynamic dynamic;
    int fd;
    Elf *elf = open_file(path, &fd);
    enum calls_verdict verdict =
        elf != NULL ? call_verdict_of(elf, &segment, &dynamic) : CALLS_UNREADABLE;
    close_file(elf, fd);
    return verdict;
}

struct call_sites *call_file_sites(const char *path) {
    size_t bytes;
    int fd;
    Elf *elf = open_file(path, &fd);
    struct call_sites *sites = elf != NULL ? call_sites_compile(elf, &bytes) : NULL;
    close_file(elf, fd);
    return sites;
}

/* ---- all files ---- */

static void visit_file(const char *path, bool is_program, call_file_visit *visit, void *arg) {
    const struct call_file file = {path, is_program, verdict_of(path)};
    visit(arg, &file);
}

_Noreturn static void become_loader(const struct program_file *program, int out) {
    const char *argv[] = {program->loader, "--list", program->path, NULL};
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(null, STDERR_FILENO);
    dup2(out, STDOUT_FILENO);
    execv(program->loader, (char *const *)(uintptr_t)argv);
    _exit(127);
}

/* Lines are "\tNAME => PATH (ADDRESS)" or "\tPATH (ADDRESS)". */
static void visit_line(char *line, call_file_visit *visit, void *arg) {
    char *path = strchr(line, '/'), *arrow = strstr(line, "=> ");
    if (arrow != NULL)
        path = arrow + 3;
    char *end = path != NULL ? strrchr(path, '(') : NULL;
    if (end == NULL || end == path || *path != '/')
        return;
    end[-1] = '\0';
    visit_file(path, false, visit, arg);
}

/* False: the loader lists nothing. */
static bool visit_libraries(const struct program_file *program, call_file_visit *visit, void *arg) {
    char *line = NULL;
    size_t room = 0;
    int ends[2];
    bool listed = false;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0)
        become_loader(program, ends[1]);
    close(ends[1]);
    FILE *list = fdopen(ends[0], "r");
    while (pid > 0 && list != NULL && getline(&line, &room, list) > 0) {
        visit_line(line, visit, arg);
        listed = true;
    }
    free(line);
    if (list != NULL)
        fclose(list);
    else
        close(ends[0]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return listed;
}

bool call_files_visit(const char *command, call_file_visit *visit, void *arg) {
    struct program_file program;
    if (!program_file_find(command, &program) || !program.is_elf || program.foreign_class ||
        program.loader[0] == '\0')
        return false;
    visit_file(program.path, true, visit, arg);
    return visit_libraries(&program, visit, arg);
}

/* ---- is there hope? ---- */

struct hope {
    const char *patterns;
    char *path; /* of the program */
    bool any;
};

static void look_for_hope(void *arg, const struct call_file *file) {
    struct hope *hope = arg;
    if (file->is_program)
        strcpy(hope->path, file->path);
    hope->any |= file->verdict == CALLS_OWN_HOOKS ||
                 (file->verdict == CALLS_FOLLOWED && call_choice(hope->patterns, file->path));
}

bool call_files_hopeless(const char *command, const char *patterns, char *path) {
    struct hope hope = {.patterns = patterns, .path = path};
    return call_files_visit(command, look_for_hope, &hope) && !hope.any;
}
