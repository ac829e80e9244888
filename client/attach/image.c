/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * image.c - from the headers in memory by the dynamic section to the table of symbols.
 */
#include "client/attach/image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLS_MAX  (1u << 20)
#define NAMES_MAX    (64u << 20)
#define SEGMENTS_MAX 64u
#define DYNAMIC_MAX  256u

struct tables {
    uint64_t symbols, names, names_bytes, hash, gnu_hash;
};

/* glibc's loader has put addresses there, but for the vdso's; others leave them as in the file. */
static uint64_t at_run_time(uint64_t pointer, uint64_t bias) {
    return pointer >= bias ? pointer : pointer + bias;
}

static bool read_dynamic(const struct target *target, uint64_t at, size_t bytes, uint64_t bias,
                         struct tables *tables) {
    Elf64_Dyn entry[DYNAMIC_MAX];
    size_t n = bytes / sizeof *entry;
    n = n < DYNAMIC_MAX ? n : DYNAMIC_MAX;
    *tables = (struct tables){0};
    if (!target_read(target, at, entry, n * sizeof *entry))
        return false;
    for (size_t i = 0; i < n && entry[i].d_tag != DT_NULL; i++) {
        uint64_t pointer = at_run_time(entry[i].d_un.d_ptr, bias);
        if (entry[i].d_tag == DT_SYMTAB)
            tables->symbols = pointer;
        else if (entry[i].d_tag == DT_STRTAB)
            tables->names = pointer;
        else if (entry[i].d_tag == DT_STRSZ)
            tables->names_bytes = entry[i].d_un.d_val;
        else if (entry[i].d_tag == DT_HASH)
            tables->hash = pointer;
        else if (entry[i].d_tag == DT_GNU_HASH)
            tables->gnu_hash = pointer;
    }
    return tables->symbols != 0 && tables->names != 0;
}

static bool find_tables(const struct target *target, uint64_t base, uint64_t *bias,
                        struct tables *tables) {
    Elf64_Ehdr header;
    Elf64_Phdr segment[SEGMENTS_MAX];
    const Elf64_Phdr *dynamic = NULL, *first = NULL;
    if (!target_read(target, base, &header, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_phentsize != sizeof *segment || header.e_phnum > SEGMENTS_MAX ||
        !target_read(target, base + header.e_phoff, segment, header.e_phnum * sizeof *segment))
        return false;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        if (segment[i].p_type == PT_DYNAMIC)
            dynamic = &segment[i];
        if (segment[i].p_type == PT_LOAD && first == NULL)
            first = &segment[i];
    }
    if (dynamic == NULL || first == NULL)
        return false;
    *bias = base - (first->p_vaddr & ~0xfffull);
    return read_dynamic(target, *bias + dynamic->p_vaddr, dynamic->p_memsz, *bias, tables);
}

bool image_bias(const struct target *target, uint64_t base, uint64_t *bias) {
    struct tables tables;
    return find_tables(target, base, bias, &tables);
}

/* The table has no count of its symbols: the last chain ends with the last of them. */
static uint32_t count_by_gnu_hash(const struct target *target, uint64_t at) {
    uint32_t head[4], last = 0, word = 0; /* buckets, first symbol, words of the filter, shift */
    if (!target_read(target, at, head, sizeof head) || head[0] > SYMBOLS_MAX ||
        head[2] > SYMBOLS_MAX)
        return 0;
    uint64_t buckets = at + sizeof head + 8ull * head[2], chains = buckets + 4ull * head[0];
    uint32_t *bucket = malloc(4ull * head[0] + 4);
    bool good = bucket != NULL && target_read(target, buckets, bucket, 4ull * head[0]);
    for (uint32_t i = 0; good && i < head[0]; i++)
        last = bucket[i] > last ? bucket[i] : last;
    free(bucket);
    if (last < head[1])
        return head[1];
    for (; last < SYMBOLS_MAX; last++)
        if (!target_read(target, chains + 4ull * (last - head[1]), &word, sizeof word) ||
            (word & 1) != 0)
            return last + 1;
    return 0;
}

static uint32_t count(const struct target *target, const struct tables *tables) {
    uint32_t head[2];
    if (tables->gnu_hash != 0)
        return count_by_gnu_hash(target, tables->gnu_hash);
    bool good = tables->hash != 0 && target_read(target, tables->hash, head, sizeof head);
    return good && head[1] <= SYMBOLS_MAX ? head[1] : 0;
}

static int by_address(const void *one, const void *other) {
    const struct image_function *a = one, *b = other;
    return (a->start > b->start) - (a->start < b->start);
}

static void take_functions(struct image *image, const Elf64_Sym *symbol, uint32_t n,
                           uint64_t bias) {
    for (uint32_t i = 0; i < n; i++) {
        unsigned type = ELF64_ST_TYPE(symbol[i].st_info);
        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol[i].st_shndx == SHN_UNDEF ||
            symbol[i].st_name >= image->names_bytes)
            continue;
        uint64_t start = bias + symbol[i].st_value;
        image->functions[image->n++] =
            (struct image_function){start, start + symbol[i].st_size, symbol[i].st_name};
    }
    qsort(image->functions, image->n, sizeof *image->functions, by_address);
}

bool image_read(struct image *image, const struct target *target, uint64_t base) {
    struct tables tables;
    uint64_t bias;
    *image = (struct image){0};
    uint32_t n = find_tables(target, base, &bias, &tables) ? count(target, &tables) : 0;
    if (n == 0 || n > SYMBOLS_MAX || tables.names_bytes == 0 || tables.names_bytes > NAMES_MAX)
        return false;
    Elf64_Sym *symbols = malloc(n * sizeof *symbols);
    image->functions = malloc(n * sizeof *image->functions);
    image->names = malloc(tables.names_bytes);
    image->names_bytes = tables.names_bytes;
    bool good = symbols != NULL && image->functions != NULL && image->names != NULL &&
                target_read(target, tables.symbols, symbols, n * sizeof *symbols) &&
                target_read(target, tables.names, image->names, tables.names_bytes);
    if (good) {
        image->names[image->names_bytes - 1] = '\0';
        take_functions(image, symbols, n, bias);
    }
    free(symbols);
    if (!good)
        image_free(image);
    return good;
}

void image_free(struct image *image) {
    free(image->functions);
    free(image->names);
    *image = (struct image){0};
}

static const char *name_of(const struct image *image, const struct image_function *function) {
    return image->names + function->name;
}

const struct image_function *image_find(const struct image *image, const char *name) {
    for (size_t i = 0; i < image->n; i++)
        if (strcmp(name_of(image, &image->functions[i]), name) == 0)
            return &image->functions[i];
    return NULL;
}

static bool is_among(const char *name, const char *const *names) {
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

bool image_around(const struct image *image, const char *const *names, uint64_t *from,
                  uint64_t *to) {
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < image->n; i++) {
        const struct image_function *f = &image->functions[i];
        if (!is_among(name_of(image, f), names))
            continue;
        low = f->start < low ? f->start : low;
        high = f->end > high ? f->end : high;
    }
    if (high == 0)
        return false;
    *from = 0;
    *to = high;
    for (size_t i = 0; i < image->n && image->functions[i].start < low; i++) {
        uint64_t end = image->functions[i].end < low ? image->functions[i].end : low;
        *from = end > *from ? end : *from;
    }
    for (size_t i = image->n; i-- > 0 && image->functions[i].start >= high;)
        *to = image->functions[i].start;
    return true;
}
