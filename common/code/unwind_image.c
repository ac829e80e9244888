/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * unwind_image.c - one ELF object as a full unwinder needs it.
 */
#include "common/code/unwind_image.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/code/eh_frame.h"
#include "common/code/unwind_collect.h"

#define SEGMENTS_MAX 64 /* of one object */

/* Bytes in memory: from the file, and zeros after them. */
struct segment {
    uint64_t start, bytes;
    const uint8_t *content;
    uint64_t content_bytes;
};

/* What of an entry's code is its own; addresses count from code_start. */
struct covered {
    uint32_t from; /* its start, or the end of an earlier entry that it overlaps */
    uint32_t start, end;
    bool is_signal;
    bool is_init;   /* the code of _init, _fini or _start */
    uint64_t entry; /* in .eh_frame, or number in `init` */
};

struct unwind_image {
    int fd;
    Elf *elf;
    uint64_t code_start, entries_at;
    struct covered *covered; /* by address, none overlap */
    size_t n_covered;
    uint64_t *signing; /* in .eh_frame, in order: instructions that libunwind does not know */
    size_t n_signing;
    struct init_section init[INIT_CODES_MAX];
    struct segment segment[SEGMENTS_MAX];
    unsigned n_segments;
};

/* ---- bytes ---- */

static void add_segment(struct unwind_image *image, const GElf_Phdr *header, const uint8_t *file,
                        size_t file_bytes) {
    if (image->n_segments == SEGMENTS_MAX || header->p_offset > file_bytes)
        return;
    uint64_t left = file_bytes - header->p_offset;
    image->segment[image->n_segments++] = (struct segment){
        .start = header->p_vaddr,
        .bytes = header->p_memsz,
        .content = file + header->p_offset,
        .content_bytes = header->p_filesz < left ? header->p_filesz : left,
    };
}

static void find_segments(struct unwind_image *image) {
    size_t n, file_bytes;
    const uint8_t *file = (const uint8_t *)elf_rawfile(image->elf, &file_bytes);
    if (file == NULL || elf_getphdrnum(image->elf, &n) != 0)
        return;
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(image->elf, (int)i, &header) != NULL && header.p_type == PT_LOAD)
            add_segment(image, &header, file, file_bytes);
    }
}

static bool read_byte(const struct unwind_image *image, uint64_t address, uint8_t *byte) {
    for (unsigned i = 0; i < image->n_segments; i++) {
        const struct segment *segment = &image->segment[i];
        uint64_t into = address - segment->start;
        if (into >= segment->bytes)
            continue;
        *byte = into < segment->content_bytes ? segment->content[into] : 0;
        return true;
    }
    return false;
}

static bool read_word(const struct unwind_image *image, uint64_t address, uint64_t *word) {
    uint8_t bytes[sizeof *word] = {0};
    bool any = false;
    for (unsigned i = 0; i < image->n_segments; i++) {
        const struct segment *segment = &image->segment[i];
        uint64_t into = address - segment->start;
        if (into < segment->content_bytes && segment->content_bytes - into >= sizeof *word) {
            memcpy(word, segment->content + into, sizeof *word);
            return true;
        }
    }
    for (unsigned i = 0; i < sizeof bytes; i++)
        any |= read_byte(image, address + i, &bytes[i]);
    memcpy(word, bytes, sizeof *word);
    return any;
}

/* What tells of signed return addresses reads as if it said nothing: it moves no register, and
 * signatures are taken off what is read. */
static void hide_signing(const struct unwind_image *image, uint64_t address, uint64_t *word) {
    size_t low = 0, high = image->n_signing; /* the first that is not before */
    uint8_t bytes[sizeof *word];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->entries_at + image->signing[middle] < address)
            low = middle + 1;
        else
            high = middle;
    }
    memcpy(bytes, word, sizeof bytes);
    for (; low < image->n_signing; low++) {
        uint64_t into = image->entries_at + image->signing[low] - address;
        if (into >= sizeof bytes)
            break;
        bytes[into] = 0; /* DW_CFA_nop */
    }
    memcpy(word, bytes, sizeof bytes);
}

bool unwind_image_word(const struct unwind_image *image, uint64_t address, uint64_t *word) {
    if (!read_word(image, address, word))
        return false;
    if (image->n_signing > 0)
        hide_signing(image, address, word);
    return true;
}

/* ---- entries ---- */

/* Without memory there are no entries. */
static void arrange(struct unwind_image *image, struct unwind_collection *collection) {
    uint32_t end = 0;
    image->covered = calloc(collection->n_spans + 1, sizeof *image->covered);
    if (image->covered == NULL)
        return;
    unwind_collection_sort(collection);
    for (size_t i = 0; i < collection->n_spans; i++) {
        const struct unwind_span *span = &collection->spans[i];
        if (span->end <= end)
            continue;
        image->covered[image->n_covered++] = (struct covered){
            .from = span->start > end ? span->start : end,
            .start = span->start,
            .end = span->end,
            .is_signal = span->is_signal,
            .is_init = span->is_init,
            .entry = span->entry,
        };
        end = span->end;
    }
}

static void find_entries(struct unwind_image *image) {
    struct eh_frame frame;
    struct unwind_collection collection = {0};
    if (eh_frame_find(image->elf, &frame) && unwind_collect(image->elf, &frame, &collection)) {
        memcpy(image->init, collection.init, sizeof image->init);
        image->code_start = frame.code_start;
        image->entries_at = frame.address;
        image->signing = collection.signing;
        image->n_signing = collection.n_signing;
        collection.signing = NULL;
        arrange(image, &collection);
    }
    unwind_collection_clear(&collection);
}

struct unwind_image *unwind_image_open(int fd) {
    struct unwind_image *image = calloc(1, sizeof *image);
    if (image == NULL) {
        close(fd);
        return NULL;
    }
    image->fd = fd;
    image->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (image->elf == NULL || elf_kind(image->elf) != ELF_K_ELF) {
        unwind_image_free(image);
        return NULL;
    }
    find_entries(image);
    find_segments(image);
    return image;
}

void unwind_image_free(struct unwind_image *image) {
    if (image == NULL)
        return;
    elf_end(image->elf);
    close(image->fd);
    free(image->covered);
    free(image->signing);
    free(image);
}

size_t unwind_image_entries(const struct unwind_image *image) {
    return image->n_covered;
}

bool unwind_image_find(const struct unwind_image *image, uint64_t address,
                       struct unwind_entry *entry) {
    uint64_t at = address - image->code_start;
    size_t low = 0, high = image->n_covered; /* the last that starts at or before `at` */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->covered[middle].from <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || at >= image->covered[low - 1].end)
        return false;
    const struct covered *found = &image->covered[low - 1];
    *entry = (struct unwind_entry){
        .start = image->code_start + found->from,
        .address = found->is_init ? 0 : image->entries_at + found->entry,
        .code_start = image->code_start + found->start,
        .code_end = image->code_start + found->end,
        .is_signal = found->is_signal,
        .init = found->is_init ? &image->init[found->entry].code : NULL,
    };
    return true;
}
