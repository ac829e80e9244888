/*
 * addresses.h - run-time addresses of one process to position-independent frames, once each.
 *
 * Owned by a process and used under its lock.
 */
#ifndef HCCT_ADDRESSES_H
#define HCCT_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

struct addresses;

struct addresses *addresses_new(void); /* NULL: no memory */
void addresses_free(struct addresses *map);

/* A module is mapped at [start, end) from now on; it hides older ones that it overlaps. */
bool addresses_add(struct addresses *map, uint64_t start, uint64_t end, uint64_t bias,
                   uint32_t module);

/* What was remembered of single addresses may be wrong: modules changed. */
void addresses_forget(struct addresses *map);

/* The frame (code/frame.h) of a PUSH event. Never fails: an address in no module keeps its run-time
 * value. */
uint32_t addresses_frame(struct addresses *map, uint64_t routine, uint64_t site);

#endif
