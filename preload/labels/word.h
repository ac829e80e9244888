/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * word.h - the labels of a thread as one word (thread.h), by key in the order of their names, each
 * key once. Any context.
 */
#ifndef HCCT_LABELS_WORD_H
#define HCCT_LABELS_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The key, of so many bytes, has that label from now on; 0: none. False: there are WIRE_LABELS
 * others, and nothing has changed. */
bool labels_change(uint64_t *labels, const char *key, size_t length, uint32_t id);

uint64_t labels_without(uint64_t labels, const char *key, size_t length);

#endif
