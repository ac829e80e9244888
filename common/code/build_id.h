/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * build_id.h - the GNU build-id of an ELF file, read by hand.
 *
 * The daemon itself needs it to know a file, and must not let libelf at an untrusted one: so this
 * reads a few bounded pieces by pread and nothing else.
 */
#ifndef HCCT_BUILD_ID_H
#define HCCT_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

/* The first `max` bytes of the build-id into `id`; returns how many, 0: none, or no ELF file. */
size_t build_id_read(int fd, uint8_t *id, size_t max);

#endif
