/*
 * no_agent.c - looks at the program file for what makes the dynamic loader not load the agent.
 */
#include "client/no_agent.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPT_DEPTH_MAX 4 /* as the kernel's */

/* What a program file says about how it is started. */
struct program {
    bool is_elf, foreign_class; /* foreign_class: of another word size or machine than the agent */
    bool is_privileged;         /* the loader ignores LD_PRELOAD */
    char loader[256];           /* "": statically linked */
    char script[512];           /* the interpreter's word after "#!", "" for none */
};

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#endif

static void read_loader(int fd, const Elf64_Ehdr *header, struct program *program) {
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
static void read_script(const char *line, struct program *program) {
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
    snprintf(program->script, sizeof program->script, "%s", word);
}

static bool read_program(const char *path, struct program *program) {
    union {
        Elf64_Ehdr elf;
        char text[256];
    } head = {0};
    struct stat status;
    *program = (struct program){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
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
        read_script(head.text, program);
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

void no_agent_reason(const char *command, char *reason, size_t bytes) {
    char path[PATH_MAX], word[sizeof((struct program *)0)->script];
    struct program program = {0};
    snprintf(word, sizeof word, "%s", command);
    for (int depth = 0; depth < SCRIPT_DEPTH_MAX; depth++) {
        if (!find_program(word, path) || !read_program(path, &program)) {
            snprintf(reason, bytes, "%s can't be read to see why", word);
            return;
        }
        if (program.script[0] == '\0')
            break;
        memcpy(word, program.script, sizeof word);
    }
    if (program.is_privileged)
        snprintf(reason, bytes,
                 "%s is setuid, setgid or has file capabilities, and such programs ignore "
                 "LD_PRELOAD; run a copy without these rights",
                 path);
    else if (program.is_elf && program.foreign_class)
        snprintf(reason, bytes, "%s is built for another machine or word size than hcct", path);
    else if (program.is_elf && program.loader[0] == '\0')
        snprintf(reason, bytes,
                 "%s is statically linked, and only the dynamic loader can load the agent; link it "
                 "dynamically",
                 path);
    else if (strstr(program.loader, "ld-musl") != NULL)
        snprintf(reason, bytes, "%s uses musl, and the agent needs glibc 2.35 or later", path);
    else
        snprintf(reason, bytes,
                 "%s ended, or cleared its environment, before the agent could reach hcctd "
                 "(HCCT_VERBOSE=1 says more)",
                 path);
}
