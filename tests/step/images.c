/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * images.c - the ELF files that the target has mapped, their unwind tables and their symbols.
 */
#include "tests/step/images.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/code/unwind_compile.h"

/* ---- files ---- */

static void open_vdso(struct image_file *file, const struct map *map, struct memory *memory) {
    size_t bytes = map->end - map->start;
    file->copy = malloc(bytes);
    if (file->copy != NULL && memory_bytes(memory, map->start, file->copy, bytes))
        file->elf = elf_memory(file->copy, bytes);
}

static const struct image_file *file_of(struct images *images, const struct map *map,
                                        struct memory *memory) {
    size_t bytes;
    for (size_t i = 0; i < images->n_files; i++)
        if (strcmp(images->file[i].path, map->path) == 0)
            return &images->file[i];
    if (images->n_files == IMAGES_MAX)
        return NULL;
    struct image_file *file = &images->file[images->n_files++];
    *file = (struct image_file){.fd = -1};
    memcpy(file->path, map->path, sizeof file->path);
    elf_version(EV_CURRENT);
    if (file->path[0] == '[') {
        open_vdso(file, map, memory);
    } else {
        file->fd = open(file->path, O_RDONLY | O_CLOEXEC);
        file->elf = file->fd >= 0 ? elf_begin(file->fd, ELF_C_READ_MMAP, NULL) : NULL;
    }
    file->table = file->elf != NULL ? unwind_compile(file->elf, &bytes, NULL) : NULL;
    return file;
}

/* ---- images ---- */

/* Where it is loaded, as far as its program headers tell. */
static void place(struct image *image) {
    size_t n = 0;
    uint64_t first = UINT64_MAX, header = 0;
    if (image->file->elf == NULL || elf_getphdrnum(image->file->elf, &n) != 0)
        return;
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(image->file->elf, (int)i, &segment) == NULL)
            return;
        if (segment.p_type == PT_LOAD && segment.p_vaddr < first)
            first = segment.p_vaddr;
        if (segment.p_type == PT_GNU_EH_FRAME)
            header = segment.p_vaddr;
    }
    image->bias = image->start - first / MEMORY_PAGE * MEMORY_PAGE;
    image->header = header != 0 ? image->bias + header : 0;
}

static bool may_be_image(const struct map *map) {
    return map->path[0] == '/' || strcmp(map->path, "[vdso]") == 0;
}

void images_refresh(struct images *images, const struct maps *maps, struct memory *memory) {
    images->n_images = 0;
    for (size_t i = 0; i < maps->n && images->n_images < IMAGES_MAX;) {
        const struct map *map = &maps->map[i];
        size_t next = i;
        uint64_t end = map->end;
        bool can_execute = false;
        for (; next < maps->n && strcmp(maps->map[next].path, map->path) == 0; next++) {
            end = maps->map[next].end;
            can_execute |= maps->map[next].can_execute;
        }
        i = next;
        if (!can_execute || !may_be_image(map))
            continue;
        struct image *image = &images->image[images->n_images];
        *image =
            (struct image){.file = file_of(images, map, memory), .start = map->start, .end = end};
        if (image->file == NULL)
            continue;
        place(image);
        images->n_images++;
    }
}

void images_clear(struct images *images) {
    for (size_t i = 0; i < images->n_files; i++) {
        elf_end(images->file[i].elf);
        free(images->file[i].copy);
        free(images->file[i].table);
        if (images->file[i].fd >= 0)
            close(images->file[i].fd);
    }
    images->n_files = images->n_images = 0;
}

const struct image *images_find(const struct images *images, uint64_t address) {
    for (size_t i = 0; i < images->n_images; i++)
        if (address - images->image[i].start < images->image[i].end - images->image[i].start)
            return &images->image[i];
    return NULL;
}

/* ---- names ---- */

struct symbol_search {
    const char *name; /* wanted, or NULL: what is nearest below `address` */
    uint64_t address; /* in the file */
    const char *found;
    uint64_t at;
};

static void search_section(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                           struct symbol_search *search) {
    Elf_Data *data = elf_getdata(section, NULL);
    size_t n = header->sh_entsize != 0 ? header->sh_size / header->sh_entsize : 0;
    for (size_t i = 0; data != NULL && i < n; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) == NULL || symbol.st_shndx == SHN_UNDEF ||
            GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
            continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        bool fits = search->name != NULL
                        ? name != NULL && strcmp(name, search->name) == 0
                        : symbol.st_value <= search->address && symbol.st_value >= search->at;
        if (fits) {
            search->found = name;
            search->at = symbol.st_value;
        }
    }
}

static void search_image(const struct image *image, struct symbol_search *search) {
    Elf *elf = image->file->elf;
    for (Elf_Scn *section = NULL; elf != NULL && (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) != NULL &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            search_section(elf, section, &header, search);
    }
}

static const char *file_name(const struct image *image) {
    const char *slash = strrchr(image->file->path, '/');
    return slash != NULL ? slash + 1 : image->file->path;
}

uint64_t images_symbol(const struct images *images, const char *file, const char *symbol) {
    for (size_t i = 0; i < images->n_images; i++) {
        struct symbol_search search = {.name = symbol};
        if (strcmp(file_name(&images->image[i]), file) != 0)
            continue;
        search_image(&images->image[i], &search);
        if (search.found != NULL)
            return images->image[i].bias + search.at;
    }
    return 0;
}

uint64_t images_nearest(const struct images *images, uint64_t address) {
    const struct image *image = images_find(images, address);
    if (image == NULL)
        return address;
    struct symbol_search search = {.address = address - image->bias};
    search_image(image, &search);
    return search.found != NULL ? image->bias + search.at : image->start;
}

void images_describe(const struct images *images, uint64_t address, char *text, size_t room) {
    const struct image *image = images_find(images, address);
    if (image == NULL) {
        snprintf(text, room, "0x%" PRIx64, address);
        return;
    }
    struct symbol_search search = {.address = address - image->bias};
    search_image(image, &search);
    snprintf(text, room, "%s:0x%" PRIx64 " (%s+0x%" PRIx64 ")", file_name(image), search.address,
             search.found != NULL ? search.found : "?", search.address - search.at);
}
