/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fuzz.h - what the fuzz targets have in common.
 *
 * A target is one file: the entry point that libFuzzer calls (make fuzz), and a description for the
 * driver that stands in for libFuzzer in "make check". A target aborts when what it tries does not
 * keep its promises; the sanitizers do the rest. One thread.
 */
#ifndef HCCT_FUZZ_H
#define HCCT_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_INPUT_MAX 8192u /* bytes of an input that the driver makes */

struct fuzz_target {
    const char *name;   /* of its directories under corpus and crashes */
    unsigned mutations; /* inputs that the driver makes from those of the corpus */
    unsigned made_up;   /* ... and by make_up, out of nothing but random numbers */
    size_t (*make_up)(uint64_t *random, uint8_t *into); /* bytes, FUZZ_INPUT_MAX at most; or NULL */
};

extern const struct fuzz_target fuzz_target;

/* Tries one input, which may be changed by nobody. Always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- for targets: an input as numbers; zeros when it has no more bytes ---- */

struct fuzz_input {
    const uint8_t *data;
    size_t size;
};

static inline void fuzz_take(struct fuzz_input *input, void *into, size_t bytes) {
    size_t n = bytes < input->size ? bytes : input->size;
    memset(into, 0, bytes);
    if (n > 0)
        memcpy(into, input->data, n);
    input->data += n;
    input->size -= n;
}

static inline uint8_t fuzz_take_byte(struct fuzz_input *input) {
    uint8_t byte;
    fuzz_take(input, &byte, sizeof byte);
    return byte;
}

static inline uint64_t fuzz_take_word(struct fuzz_input *input) {
    uint64_t word;
    fuzz_take(input, &word, sizeof word);
    return word;
}

/* As many bytes as the next two say, if there are so many; FUZZ_INPUT_MAX - 1 at most. */
static inline size_t fuzz_take_bytes(struct fuzz_input *input, uint8_t *into) {
    size_t bytes = fuzz_take_byte(input);
    bytes = (bytes | (size_t)fuzz_take_byte(input) << 8) % FUZZ_INPUT_MAX;
    bytes = bytes < input->size ? bytes : input->size;
    fuzz_take(input, into, bytes);
    return bytes;
}

/* What is left, as a string; free() gives it back. */
static inline char *fuzz_take_text(struct fuzz_input *input) {
    char *text = malloc(input->size + 1);
    if (text == NULL)
        abort();
    text[input->size] = '\0';
    fuzz_take(input, text, input->size);
    return text;
}

static inline uint64_t fuzz_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Ends the target when something does not hold. */
static inline void fuzz_must(int holds) {
    if (!holds)
        abort();
}

#endif
