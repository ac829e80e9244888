/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * demangle_fuzz.c - any bytes as the name of a symbol: it is shown in bounded length and, as the
 * driver's patience ends, in bounded time.
 */
#include "common/code/demangle.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input input = {data, size};
    char *name = fuzz_take_text(&input);
    char *readable = demangle(name);
    fuzz_must(readable != NULL && strlen(readable) <= DEMANGLE_NAME_MAX);
    free(readable);
    free(name);
    return 0;
}

/* Letters that mean something to one of the languages, behind its prefix. */
static size_t make_up(uint64_t *random, uint8_t *into) {
    static const char *const prefixes[] = {"_Z", "_R", "_D", "caml", "_ZN"};
    static const char *const letters[] = {
        "SIEJPRKNLXTDFZaiclpdv01239_", "CNIMXYTRQPSAFDLBEslv0129_", "0123456789QASPFDTNKabcilvZ_G",
        "AZaz__.$5e_0129", "0123Sabc_EILPKt"};
    size_t kind = fuzz_random(random) % 5, n = strlen(prefixes[kind]);
    size_t length = n + fuzz_random(random) % (FUZZ_INPUT_MAX - n);
    memcpy(into, prefixes[kind], n);
    for (; n < length; n++)
        into[n] = (uint8_t)letters[kind][fuzz_random(random) % strlen(letters[kind])];
    return n;
}

const struct fuzz_target fuzz_target = {
    .name = "demangle", .mutations = 20000, .made_up = 500, .make_up = make_up};
