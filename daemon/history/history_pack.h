/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_pack.h - numbers as bytes, seven bits in each, the least first: most are small.
 */
#ifndef HCCT_HISTORY_PACK_H
#define HCCT_HISTORY_PACK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static inline void pack_number(FILE *out, uint64_t number) {
    for (; number >= 0x80; number >>= 7)
        putc_unlocked((int)(number & 0x7f) | 0x80, out);
    putc_unlocked((int)number, out);
}

static inline void pack_double(FILE *out, double number) {
    fwrite(&number, sizeof number, 1, out);
}

static inline void pack_text(FILE *out, const char *text) {
    size_t bytes = strlen(text) + 1;
    pack_number(out, bytes);
    fwrite(text, 1, bytes, out);
}

/* What is read. `bad`: more was asked for than there is, or it can't be; all is 0 from then on. */
struct unpack {
    const uint8_t *at, *end;
    bool bad;
};

static inline uint64_t unpack_number(struct unpack *in) {
    uint64_t number = 0;
    for (unsigned shift = 0; in->at < in->end && shift < 64; shift += 7) {
        uint8_t byte = *in->at++;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
    in->bad = true;
    in->at = in->end;
    return 0;
}

/* A number below `limit`. */
static inline uint32_t unpack_below(struct unpack *in, uint64_t limit) {
    uint64_t number = unpack_number(in);
    if (number < limit)
        return (uint32_t)number;
    in->bad = true;
    in->at = in->end;
    return 0;
}

/* The next bytes; NULL: so many are not there. */
static inline const void *unpack_bytes(struct unpack *in, uint64_t bytes) {
    const uint8_t *at = in->at;
    if (bytes > (uint64_t)(in->end - at)) {
        in->bad = true;
        in->at = in->end;
        return NULL;
    }
    in->at += bytes;
    return at;
}

static inline double unpack_double(struct unpack *in) {
    double number = 0;
    const void *at = unpack_bytes(in, sizeof number);
    if (at != NULL)
        memcpy(&number, at, sizeof number);
    return number;
}

static inline const char *unpack_text(struct unpack *in) {
    uint64_t bytes = unpack_number(in);
    const char *text = unpack_bytes(in, bytes);
    if (text != NULL && bytes > 0 && text[bytes - 1] == '\0')
        return text;
    in->bad = true;
    return "";
}

#endif
