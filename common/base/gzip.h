/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * gzip.h - gzip in memory.
 */
#ifndef HCCT_GZIP_H
#define HCCT_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does the data begin as gzip's does? */
bool gzip_is(const void *data, size_t bytes);

/* The data compressed (the same data give the same bytes); free() gives it back. NULL: no memory.
 */
uint8_t *gzip_pack(const void *data, size_t bytes, size_t *packed_bytes);

/* The data uncompressed, at most `limit` bytes; free() gives it back. NULL: `error` says why. */
uint8_t *gzip_unpack(const void *data, size_t bytes, size_t limit, size_t *unpacked_bytes,
                     char *error, size_t error_bytes);

#endif
