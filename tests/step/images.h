/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * images.h - the ELF files that the target has mapped, the vdso among them: their unwind tables as
 * the daemon makes them, and where they have their own.
 */
#ifndef HCCT_STEP_IMAGES_H
#define HCCT_STEP_IMAGES_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/step/maps.h"
#include "tests/step/memory.h"

#define IMAGES_MAX 64

/* A file, kept when it is unmapped: it may come back. */
struct image_file {
    char path[256];
    Elf *elf;
    int fd;      /* -1: it was read from the target's memory */
    void *copy;  /* then it is here */
    void *table; /* by unwind_compile; NULL: none */
};

struct image {
    const struct image_file *file;
    uint64_t start, end; /* run-time addresses */
    uint64_t bias;
    uint64_t header; /* run-time address of .eh_frame_hdr, 0: none */
};

struct images {
    struct image_file file[IMAGES_MAX];
    struct image image[IMAGES_MAX];
    size_t n_files, n_images;
};

/* Brings the list up to what `maps` says. */
void images_refresh(struct images *images, const struct maps *maps, struct memory *memory);
void images_clear(struct images *images);

/* The image of an address, or NULL. Good until the next images_refresh. */
const struct image *images_find(const struct images *images, uint64_t address);

/* Run-time address of a symbol that a file of this name (without folders) defines, 0: none. */
uint64_t images_symbol(const struct images *images, const char *file, const char *symbol);

/* Run-time address of the function symbol nearest below `address`; without one, the image's start.
 */
uint64_t images_nearest(const struct images *images, uint64_t address);

/* "file:function+offset" for people to read. Slow. */
void images_describe(const struct images *images, uint64_t address, char *text, size_t room);

#endif
