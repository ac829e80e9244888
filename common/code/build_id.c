/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * build_id.c - the GNU build-id of an ELF file, read by hand.
 */
#include "common/code/build_id.h"

#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEGMENTS_MAX 256
#define NOTES_MAX    65536 /* bytes of one note segment that are read */

static bool read_at(int fd, uint64_t offset, void *into, size_t bytes) {
    return offset <= INT64_MAX && pread(fd, into, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* Searches a note segment's content. Sizes and names are padded to `align`. */
static size_t find_in_notes(const char *notes, size_t bytes, size_t align, uint8_t *id,
                            size_t max) {
    size_t at = 0;
    ElfW(Nhdr) note;
    while (bytes - at >= sizeof note) {
        memcpy(&note, notes + at, sizeof note);
        at += sizeof note;
        size_t name_bytes = (note.n_namesz + (align - 1)) & ~(align - 1);
        if (name_bytes > bytes - at || note.n_descsz > bytes - at - name_bytes)
            return 0;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
            memcmp(notes + at, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0) {
            size_t n = note.n_descsz < max ? note.n_descsz : max;
            memcpy(id, notes + at + name_bytes, n);
            return n;
        }
        at += name_bytes;
        size_t desc_bytes = (note.n_descsz + (align - 1)) & ~(align - 1);
        if (desc_bytes > bytes - at)
            return 0;
        at += desc_bytes;
    }
    return 0;
}

static size_t read_notes(int fd, const ElfW(Phdr) * segment, uint8_t *id, size_t max) {
    size_t bytes = segment->p_filesz < NOTES_MAX ? segment->p_filesz : NOTES_MAX;
    char *notes = malloc(bytes == 0 ? 1 : bytes);
    size_t n = 0;
    if (notes != NULL && read_at(fd, segment->p_offset, notes, bytes))
        n = find_in_notes(notes, bytes, segment->p_align == 8 ? 8 : 4, id, max);
    free(notes);
    return n;
}

size_t build_id_read(int fd, uint8_t *id, size_t max) {
    ElfW(Ehdr) header;
    if (!read_at(fd, 0, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        header.e_phentsize != sizeof(ElfW(Phdr)))
        return 0;
    unsigned segments = header.e_phnum < SEGMENTS_MAX ? header.e_phnum : SEGMENTS_MAX;
    for (unsigned i = 0; i < segments; i++) {
        ElfW(Phdr) segment;
        if (!read_at(fd, header.e_phoff + i * sizeof segment, &segment, sizeof segment))
            return 0;
        if (segment.p_type != PT_NOTE)
            continue;
        size_t n = read_notes(fd, &segment, id, max);
        if (n > 0)
            return n;
    }
    return 0;
}
