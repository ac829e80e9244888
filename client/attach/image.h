/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * image.h - the functions that an ELF object offers, as it lies in the memory of a process: its
 * file may be deleted, replaced, or in a place that can't be seen from here.
 */
#ifndef HCCT_ATTACH_IMAGE_H
#define HCCT_ATTACH_IMAGE_H

#include "client/attach/target.h"

struct image_function {
    uint64_t start, end; /* run-time addresses */
    uint32_t name;
};

struct image {
    struct image_function *functions; /* by address */
    size_t n;
    char *names;
    size_t names_bytes;
};

/* `base`: where its first byte is mapped. False: it is no ELF object of ours, or has no symbols. */
bool image_read(struct image *image, const struct target *target, uint64_t base);
/* What its addresses in memory are more than in its file. */
bool image_bias(const struct target *target, uint64_t base, uint64_t *bias);
void image_free(struct image *image);

/* NULL: it has no such function. */
const struct image_function *image_find(const struct image *image, const char *name);

/* The code that the functions of these names (ended by NULL) stand in, with those between and
 * beside them that have no name: from the end of the last other function before to the first one
 * behind them. False: there is none of these. */
bool image_around(const struct image *image, const char *const *names, uint64_t *from,
                  uint64_t *to);

#endif
