/*
 * frame.h - position-independent frames: one number for each (routine, call site).
 *
 * A frame id names the same code in every process, so that trees of different runs line up. The
 * routine and the site are (module, address in the file), for generated code (MODULE_JIT, number
 * of the function's name). One kind of frame has no routine: it is a place in the routine above it,
 * where that was at work (frame_is_here). Ids are small numbers from 1 on and live as long as the
 * daemon; their number is capped, so that a hostile program that invents addresses gets
 * FRAME_OVERFLOW, as everybody does when memory runs out.
 *
 * Thread-safe.
 */
#ifndef HCCT_FRAME_H
#define HCCT_FRAME_H

#include <stdbool.h>
#include <stdint.h>

struct frame_key {
    uint32_t routine_module; /* module.h; 0: `routine` is a run-time address of a module that is not
                                known, or a mark below 16 */
    uint32_t site_module;    /* 0: `site` is a run-time address, or 0 */
    uint64_t routine;
    uint64_t site;
};

/* The site of such a frame is the place itself, not a return address; in site_module 0 it is not
 * known. */
static inline bool frame_is_here(const struct frame_key *key) {
    return key->routine_module == 0 && key->routine == 0;
}

#define FRAME_OVERFLOW 1u /* stands for all frames beyond the cap */

/* The id of a key, made on first sight. */
uint32_t frame_intern(const struct frame_key *key);
/* False when there is no such id; FRAME_OVERFLOW is none, as it has no key. */
bool frame_get(uint32_t id, struct frame_key *key);

#endif
