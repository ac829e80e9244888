/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * program_file.c - finds a program file and reads its first bytes.
 */
#include "client/program_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPT_DEPTH_MAX 4 /* as the kernel's */

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#endif

static void read_loader(int fd, const Elf64_Ehdr *header, struct program_file *program) {
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        off_t at = (off_t)(header->e_phoff + (uint64_t)i * sizeof segment);
        if (pread(fd, &segment, sizeof segment, at) != (ssize_t)sizeof segment)
            return;
        if (segment.p_type != PT_INTERP)
            continue;
        size_t n = sizeof program->loader - 1;
        if (segment.p_filesz < n)
            n = segment.p_filesz;
        if (pread(fd, program->loader, n, (off_t)segment.p_offset) < 0)
            program->loader[0] = '\0';
        return;
    }
}

/* The first word after "#!"; for "/usr/bin/env NAME" that is NAME. */
static void read_script(const char *line, char script[PATH_MAX]) {
    char words[256];
    char *rest = NULL;
    snprintf(words, sizeof words, "%.*s", (int)strcspn(line + 2, "\n"), line + 2);
    char *word = strtok_r(words, " \t", &rest);
    if (word == NULL)
        return;
    const char *slash = strrchr(word, '/');
    if (slash != NULL && strcmp(slash, "/env") == 0) {
        char *name = strtok_r(NULL, " \t", &rest);
        if (name != NULL && name[0] != '-' && strchr(name, '=') == NULL)
            word = name;
    }
    snprintf(script, PATH_MAX, "%s", word);
}

/* `script` gets the interpreter of a script, "" for any other file. */
static bool read_program(struct program_file *program, char script[PATH_MAX]) {
    union {
        Elf64_Ehdr elf;
        char text[256];
    } head = {0};
    struct stat status;
    script[0] = '\0';
    int fd = open(program->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    program->is_privileged =
        (fstat(fd, &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0) ||
        fgetxattr(fd, "security.capability", NULL, 0) > 0;
    ssize_t n = pread(fd, &head, sizeof head - 1, 0);
    program->is_elf = n >= (ssize_t)sizeof head.elf && memcmp(head.text, ELFMAG, SELFMAG) == 0;
    if (program->is_elf) {
        program->foreign_class =
            head.elf.e_ident[EI_CLASS] != ELFCLASS64 || head.elf.e_machine != OWN_MACHINE;
        if (!program->foreign_class && head.elf.e_phentsize == sizeof(Elf64_Phdr))
            read_loader(fd, &head.elf, program);
    } else if (n > 2 && memcmp(head.text, "#!", 2) == 0) {
        read_script(head.text, script);
    }
    close(fd);
    return true;
}

/* As execvp() looks for it. */
static bool find_program(const char *command, char path[PATH_MAX]) {
    if (strchr(command, '/') != NULL)
        return snprintf(path, PATH_MAX, "%s", command) < PATH_MAX;
    const char *list = getenv("PATH");
    for (const char *at = list != NULL ? list : "/bin:/usr/bin"; at != NULL;) {
        size_t n = strcspn(at, ":");
        int used = snprintf(path, PATH_MAX, "%.*s%s%s", (int)n, at, n > 0 ? "/" : "", command);
        if (used < PATH_MAX && access(path, X_OK) == 0)
            return true;
        at = at[n] == ':' ? at + n + 1 : NULL;
    }
    return false;
}

bool program_file_find(const char *command, struct program_file *program) {
    char script[PATH_MAX], path[PATH_MAX];
    *program = (struct program_file){0};
    snprintf(script, sizeof script, "%s", command);
    for (int depth = 0; depth < SCRIPT_DEPTH_MAX && script[0] != '\0'; depth++) {
        *program = (struct program_file){.is_interpreter = depth > 0};
        strcpy(program->path, script);
        if (!find_program(script, path))
            return false;
        strcpy(program->path, path);
        if (!read_program(program, script))
            return false;
    }
    return true;
}
