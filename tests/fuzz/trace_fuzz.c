/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * trace_fuzz.c - any bytes as a recorded trace: a sentence, or records that can be applied to a
 * tree as they come, and executed with contexts as numbers, of which none is decoded wrong.
 *
 * Few changes to a compressed file get past its checksum. So inputs that do not begin as a trace
 * are its content: words, which are compressed here.
 */
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "client/commands/encode_trace.h"
#include "common/trace/trace_apply.h"
#include "common/trace/trace_reader.h"
#include "tests/fuzz/fuzz.h"

#define THREADS 4u

static void put(int fd, const void *bytes, size_t n) {
    fuzz_must(write(fd, bytes, n) == (ssize_t)n);
}

static void put_packed(int fd, const uint8_t *data, size_t size) {
    static ZSTD_CCtx *zstd;
    const struct trace_head head = {.magic = TRACE_MAGIC, .version = TRACE_VERSION};
    size_t room = ZSTD_compressBound(size);
    void *packed = malloc(room);
    if (zstd == NULL)
        zstd = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
    size_t n = ZSTD_compress2(zstd, packed, room, data, size);
    fuzz_must(!ZSTD_isError(n));
    put(fd, &head, sizeof head);
    put(fd, packed, n);
    free(packed);
}

static bool is_whole(const uint8_t *data, size_t size) {
    return size >= 8 && memcmp(data, TRACE_MAGIC, 8) == 0;
}

/* What a record says must be there to be used. */
static void use(const struct trace_record *record, struct mcct_cursor *cursors) {
    if (record->about != NULL)
        fuzz_must(record->about->process.exe != NULL && record->about->process.clock != NULL &&
                  strlen(record->about->process.exe) < 1u << 20);
    if (record->kind == TRACE_EVENTS)
        trace_apply(&cursors[record->thread % THREADS], record->tokens, record->n);
}

static void replay(struct trace_reader *reader) {
    const struct mcct_params params = {.epsilon = 0.01, .max_bytes = 1u << 20};
    struct mcct *tree = mcct_new(&params);
    struct mcct_cursor cursors[THREADS];
    struct trace_record record;
    enum trace_read end;
    uint32_t n_frames;
    for (unsigned i = 0; i < THREADS; i++)
        mcct_cursor_open(tree, &cursors[i]);
    while ((end = trace_reader_next(reader, &record)) == TRACE_READ_RECORD)
        use(&record, cursors);
    fuzz_must((end == TRACE_READ_END) == (trace_reader_error(reader)[0] == '\0'));
    fuzz_must(trace_reader_frames(reader, &n_frames) != NULL || n_frames == 0);
    mcct_free(tree);
}

static void encode(struct trace_reader *reader) {
    const struct encode_options options = {.id_bits = 4, .every = 3};
    struct encoded_trace trace;
    encode_trace(reader, &options, &trace);
    for (uint32_t i = 0; i < trace.n; i++)
        fuzz_must(trace.process[i].wrong == 0 && trace.process[i].kept_wrong == 0);
    encoded_trace_free(&trace);
}

static void read_by(void (*how)(struct trace_reader *reader), const char *path) {
    char error[512] = "";
    struct trace_reader *reader = trace_reader_open(path, error, sizeof error);
    fuzz_must(reader != NULL || error[0] != '\0');
    if (reader != NULL) {
        how(reader);
        trace_reader_close(reader);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    int fd = memfd_create("trace", MFD_CLOEXEC);
    fuzz_must(fd >= 0);
    if (is_whole(data, size))
        put(fd, data, size);
    else
        put_packed(fd, data, size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    read_by(replay, path);
    read_by(encode, path);
    close(fd);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "trace", .mutations = 4000};
