/*
 * instrumented.c - looks for relocations that name the enter hook: in the program, then in what the
 * dynamic loader lists as its libraries.
 *
 * A relocation, not a symbol, as libc defines the hooks without calling them.
 */
#include "client/commands/instrumented.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/program_file.h"

#define HOOK "__cyg_profile_func_enter"

/* A file in memory; nothing that it says is believed. */
struct image {
    const uint8_t *data;
    size_t bytes;
};

/* What the dynamic section says, as addresses and sizes. */
struct dynamic {
    uint64_t strings, strings_size, symbols;
    uint64_t table[2], table_size[2]; /* relocations: of procedure linkage, and all others */
};

static bool image_open(const char *path, struct image *image) {
    struct stat status = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    void *data = MAP_FAILED;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
        data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    *image = (struct image){.data = data, .bytes = (size_t)status.st_size};
    return data != MAP_FAILED;
}

static bool copy_out(const struct image *image, uint64_t offset, void *to, size_t bytes) {
    if (offset > image->bytes || bytes > image->bytes - offset)
        return false;
    memcpy(to, image->data + offset, bytes);
    return true;
}

static bool segment(const struct image *image, const Elf64_Ehdr *header, unsigned i,
                    Elf64_Phdr *found) {
    uint64_t offset;
    return i < header->e_phnum &&
           !__builtin_add_overflow(header->e_phoff, i * sizeof *found, &offset) &&
           copy_out(image, offset, found, sizeof *found);
}

/* Where the file has what is at that address in memory; beyond its end when nowhere. */
static uint64_t offset_of(const struct image *image, const Elf64_Ehdr *header, uint64_t address) {
    Elf64_Phdr at;
    for (unsigned i = 0; segment(image, header, i, &at); i++)
        if (at.p_type == PT_LOAD && address >= at.p_vaddr && address - at.p_vaddr < at.p_filesz)
            return at.p_offset + (address - at.p_vaddr);
    return UINT64_MAX;
}

static void read_dynamic(const struct image *image, const Elf64_Phdr *at, struct dynamic *dynamic) {
    Elf64_Dyn entry;
    *dynamic = (struct dynamic){0};
    for (uint64_t n = 0; n + sizeof entry <= at->p_filesz; n += sizeof entry) {
        if (!copy_out(image, at->p_offset + n, &entry, sizeof entry) || entry.d_tag == DT_NULL)
            return;
        switch (entry.d_tag) {
        case DT_STRTAB:
            dynamic->strings = entry.d_un.d_ptr;
            break;
        case DT_STRSZ:
            dynamic->strings_size = entry.d_un.d_val;
            break;
        case DT_SYMTAB:
            dynamic->symbols = entry.d_un.d_ptr;
            break;
        case DT_JMPREL:
            dynamic->table[0] = entry.d_un.d_ptr;
            break;
        case DT_PLTRELSZ:
            dynamic->table_size[0] = entry.d_un.d_val;
            break;
        case DT_RELA:
            dynamic->table[1] = entry.d_un.d_ptr;
            break;
        case DT_RELASZ:
            dynamic->table_size[1] = entry.d_un.d_val;
            break;
        default:
            break;
        }
    }
}

/* One table of relocations: does one name the hook? `symbols` and `strings` are offsets. */
static bool table_names_hook(const struct image *image, uint64_t table, uint64_t size,
                             uint64_t symbols, uint64_t strings) {
    Elf64_Rela relocation;
    Elf64_Sym symbol;
    char name[sizeof HOOK];
    uint64_t at;
    if (table >= image->bytes || symbols >= image->bytes || strings >= image->bytes)
        return false;
    for (uint64_t n = 0; n < size; n += sizeof relocation) {
        if (!copy_out(image, table + n, &relocation, sizeof relocation))
            return false;
        at = symbols + ELF64_R_SYM(relocation.r_info) * sizeof symbol; /* 32 bits, no overflow */
        if (ELF64_R_SYM(relocation.r_info) != 0 && copy_out(image, at, &symbol, sizeof symbol) &&
            copy_out(image, strings + symbol.st_name, name, sizeof name) &&
            memcmp(name, HOOK, sizeof name) == 0)
            return true;
    }
    return false;
}

static bool image_calls_hook(const struct image *image) {
    Elf64_Ehdr header;
    Elf64_Phdr at;
    struct dynamic dynamic;
    if (!copy_out(image, 0, &header, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_phentsize != sizeof at)
        return false;
    for (unsigned i = 0; segment(image, &header, i, &at); i++) {
        if (at.p_type != PT_DYNAMIC)
            continue;
        read_dynamic(image, &at, &dynamic);
        uint64_t symbols = offset_of(image, &header, dynamic.symbols);
        uint64_t strings = offset_of(image, &header, dynamic.strings);
        for (unsigned k = 0; k < 2; k++)
            if (table_names_hook(image, offset_of(image, &header, dynamic.table[k]),
                                 dynamic.table_size[k], symbols, strings))
                return true;
    }
    return false;
}

static bool file_calls_hook(const char *path) {
    struct image image;
    if (!image_open(path, &image))
        return false;
    bool calls = image_calls_hook(&image);
    munmap((void *)(uintptr_t)image.data, image.bytes);
    return calls;
}

/* ---- libraries ---- */

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
static bool line_calls_hook(char *line) {
    char *path = strchr(line, '/'), *arrow = strstr(line, "=> ");
    if (arrow != NULL)
        path = arrow + 3;
    char *end = path != NULL ? strrchr(path, '(') : NULL;
    if (end == NULL || end == path)
        return false;
    end[-1] = '\0';
    return file_calls_hook(path);
}

/* True also when the loader lists nothing: then it is not known. */
static bool libraries_call_hook(const struct program_file *program) {
    char *line = NULL;
    size_t room = 0;
    int ends[2];
    bool calls = false, listed = false;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return true;
    pid_t pid = fork();
    if (pid == 0)
        become_loader(program, ends[1]);
    close(ends[1]);
    FILE *list = fdopen(ends[0], "r");
    while (pid > 0 && list != NULL && getline(&line, &room, list) > 0) {
        calls |= line_calls_hook(line);
        listed = true;
    }
    free(line);
    if (list != NULL)
        fclose(list);
    else
        close(ends[0]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return calls || !listed;
}

bool instrumented_nowhere(const char *command, char *path) {
    struct program_file program;
    if (!program_file_find(command, &program) || !program.is_elf || program.foreign_class ||
        program.loader[0] == '\0')
        return false;
    strcpy(path, program.path);
    return !file_calls_hook(program.path) && !libraries_call_hook(&program);
}
