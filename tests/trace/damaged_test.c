/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * damaged_test.c - traces that were cut, changed, or made to do harm: always a sentence, or what is
 * right.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/code/frame.h"
#include "common/trace/trace_apply.h"
#include "common/trace/trace_in.h"
#include "common/trace/trace_out.h"
#include "common/trace/trace_reader.h"
#include "common/trace/trace_tokens.h"
#include "common/trace/trace_writer.h"
#include "common/wire/compiler.h"
#include "tests/check.h"

static char path[64];

/* ---- reading whatever there is ---- */

struct outcome {
    bool opened;
    enum trace_read end;
    uint64_t events, hash; /* of all that was handed out */
    char error[512];
};

static void hash_bytes(uint64_t *hash, const void *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        *hash = (*hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3ull;
}

static void hash_record(uint64_t *hash, const struct trace_record *record) {
    const uint32_t head[] = {record->kind, record->process, record->thread};
    hash_bytes(hash, head, sizeof head);
    hash_bytes(hash, record->tokens, 4 * record->n);
    if (record->about != NULL)
        hash_bytes(hash, record->about->process.exe, strlen(record->about->process.exe));
}

static struct outcome read_trace(void) {
    struct outcome outcome = {.hash = 0xcbf29ce484222325ull};
    struct trace_record record;
    struct trace_reader *reader = trace_reader_open(path, outcome.error, sizeof outcome.error);
    outcome.opened = reader != NULL;
    if (reader == NULL)
        return outcome;
    while ((outcome.end = trace_reader_next(reader, &record)) == TRACE_READ_RECORD)
        hash_record(&outcome.hash, &record);
    outcome.events = trace_totals_events(trace_reader_totals(reader));
    snprintf(outcome.error, sizeof outcome.error, "%s", trace_reader_error(reader));
    trace_reader_close(reader);
    return outcome;
}

static void store(const uint8_t *bytes, size_t n) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    close(fd);
}

/* ---- a small trace ---- */

static size_t small_trace(uint8_t *bytes, size_t room) {
    char error[256] = "";
    const struct profile_process about = {.exe = "/bin/small", .collector = "calls", .pid = 5};
    struct trace_thread thread;
    struct trace_writer *writer = trace_writer_open(path, error, sizeof error);
    struct trace_process *process = trace_process_begin(writer, &about, 1, 0);
    trace_thread_begin(&thread, process);
    for (uint32_t i = 0; i < 12; i++) {
        trace_call(&thread, frame_intern(&(struct frame_key){.routine = 16 + i % 4}));
        trace_credit(&thread, (uint64_t)i << 30);
        if (i % 3 == 0)
            trace_return(&thread);
    }
    trace_thread_end(&thread);
    trace_process_end(process, &about, 3);
    CHECK(trace_writer_close(writer, NULL));
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, bytes, room);
    close(fd);
    CHECK(n > 0 && (size_t)n < room);
    return n > 0 ? (size_t)n : 0;
}

static void cut_anywhere(const uint8_t *bytes, size_t n, const struct outcome *whole) {
    for (size_t at = 0; at < n; at++) {
        store(bytes, at);
        struct outcome cut = read_trace();
        CHECK(cut.error[0] != '\0');
        CHECK_UINT(cut.opened, at >= sizeof(struct trace_head));
        if (cut.opened)
            CHECK_UINT(cut.end, TRACE_READ_CUT);
        CHECK(cut.events <= whole->events);
    }
}

static void change_anywhere(uint8_t *bytes, size_t n, const struct outcome *whole) {
    for (size_t at = 0; at < n; at++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[at] ^= (uint8_t)(1u << bit);
            store(bytes, n);
            struct outcome changed = read_trace();
            bool right = changed.opened && changed.end == TRACE_READ_END;
            CHECK(right ? changed.hash == whole->hash : changed.error[0] != '\0');
            bytes[at] ^= (uint8_t)(1u << bit);
        }
    }
}

static void damaged(void) {
    static uint8_t bytes[4096];
    size_t n = small_trace(bytes, sizeof bytes - 1);
    struct outcome whole = read_trace();
    CHECK_UINT(whole.end, TRACE_READ_END);
    CHECK_UINT(whole.events, 12 + 11 + 4);
    cut_anywhere(bytes, n, &whole);
    change_anywhere(bytes, n, &whole);
    store(bytes, n + 1);
    CHECK(strstr(read_trace().error, "something follows its end") != NULL);
    memcpy(bytes + 8, "\3\0\0", 4);
    store(bytes, n);
    CHECK(strstr(read_trace().error, "format version 3, and this hcct reads versions 1 to 2") !=
          NULL);
    store((const uint8_t *)"HCCTTRC", 7);
    CHECK(strstr(read_trace().error, "not a trace") != NULL);
    unlink(path);
    CHECK(strstr(read_trace().error, "No such file") != NULL);
}

/* ---- a change below the compression, where no checksum tells ---- */

static size_t unpack(uint32_t *words, size_t room) {
    struct trace_in in;
    size_t n = 0;
    CHECK(trace_in_open(&in, path));
    while (n < room && trace_in_words(&in, words + n, 1) == TRACE_IN_GOT)
        n++;
    trace_in_close(&in);
    CHECK(n > 0 && n < room);
    return n;
}

static void pack(const uint32_t *words, size_t n) {
    struct trace_out out;
    char error[256] = "";
    bool written;
    CHECK(trace_out_open(&out, path, error, sizeof error));
    CHECK(trace_out_room(&out, n, &written));
    trace_out_put(&out, words, n);
    CHECK(trace_out_finish(&out));
    trace_out_close(&out);
}

/* As read_trace(), and what is handed out is applied to a tree. */
static enum trace_read apply_trace(void) {
    char error[512];
    struct trace_record record;
    struct mcct_cursor cursor;
    enum trace_read end;
    struct mcct *tree = mcct_new(&(struct mcct_params){.epsilon = 0.1, .max_bytes = 1u << 20});
    struct trace_reader *reader = trace_reader_open(path, error, sizeof error);
    mcct_cursor_open(tree, &cursor);
    while ((end = trace_reader_next(reader, &record)) == TRACE_READ_RECORD)
        trace_apply(&cursor, record.tokens, record.n);
    CHECK(end == TRACE_READ_END || trace_reader_error(reader)[0] != '\0');
    trace_reader_close(reader);
    mcct_free(tree);
    return end;
}

static void change_inside(void) {
    static uint8_t bytes[4096];
    static uint32_t words[4096];
    unsigned accepted = 0;
    small_trace(bytes, sizeof bytes);
    size_t n = unpack(words, HCCT_ARRAY_LEN(words));
    pack(words, n);
    CHECK_UINT(apply_trace(), TRACE_READ_END);
    for (size_t i = 0; i < 32 * n; i++) {
        words[i / 32] ^= 1u << i % 32;
        pack(words, n);
        accepted += apply_trace() == TRACE_READ_END; /* another trace, and a good one */
        words[i / 32] ^= 1u << i % 32;
    }
    CHECK(accepted > 0 && accepted < 32 * n);
}

/* ---- what no writer writes ---- */

struct hostile {
    const char *error;
    uint32_t n;
    uint32_t words[40]; /* follow a process 1, a thread 1, and a frame 2 */
};

#define EVENT(token) TRACE_HEAD(TRACE_EVENTS, 2), 1, (token)

static const struct hostile hostiles[] = {
    {"frame that is not defined", 3, {EVENT(TRACE_TOKEN(TRACE_CALL, 3))}},
    {"frame that is not defined", 3, {EVENT(TRACE_TOKEN(TRACE_PUSH, 0))}},
    {"an event is none", 3, {EVENT(TRACE_TOKEN(0, 1))}},
    {"an event is none", 3, {EVENT(TRACE_TOKEN(15, 1))}},
    {"an event is none", 3, {EVENT(TRACE_TOKEN(TRACE_POP, 0))}},
    {"an event is none", 3, {EVENT(TRACE_TOKEN(TRACE_CREDIT, 0))}},
    {"an event is none", 5, {TRACE_HEAD(TRACE_EVENTS, 4), 1, TRACE_TOKEN(TRACE_CREDIT, 0), 0, 0}},
    {"an event is none", 3, {EVENT(TRACE_TOKEN(TRACE_REPEAT, TRACE_REPEAT_MAX + 1))}},
    {"a thread that there is not", 2, {TRACE_HEAD(TRACE_EVENTS, 1), 2}},
    {"a thread that there is not", 2, {TRACE_HEAD(TRACE_EVENTS, 1), 0}},
    {"a thread that there is not", 1, {TRACE_HEAD(TRACE_EVENTS, 0)}},
    {"a thread that there is not",
     4,
     {TRACE_HEAD(TRACE_THREAD_END, 1), 1, TRACE_HEAD(TRACE_EVENTS, 1), 1}},
    {"a thread that there is not",
     4,
     {TRACE_HEAD(TRACE_PROCESS_END, 1), 1, TRACE_HEAD(TRACE_EVENTS, 1), 1}},
    {"begins in no process", 2, {TRACE_HEAD(TRACE_THREAD, 1), 2}},
    {"begins in no process", 1, {TRACE_HEAD(TRACE_THREAD, 0)}},
    {"ends that there is not", 2, {TRACE_HEAD(TRACE_PROCESS_END, 1), 2}},
    {"ends that there is not", 1, {TRACE_HEAD(TRACE_PROCESS_END, 0)}},
    {"not described", 3, {TRACE_HEAD(TRACE_PROCESS, 2), 0x61616161, 0x61616161}},
    {"not described", 3, {TRACE_HEAD(TRACE_PROCESS, 2), 0x00646970, 0x0061}}, /* pid: a */
    {"no module", 2, {TRACE_HEAD(TRACE_MODULE, 1), 0}},
    {"no module", 13, {TRACE_HEAD(TRACE_MODULE, 12), 0, [11] = 0x61616161, 0x61616161}},
    {"no module", 12, {TRACE_HEAD(TRACE_MODULE, 11), 21 << 8}},
    {"a name has no end", 2, {TRACE_HEAD(TRACE_NAME, 1), 0x61616161}},
    {"no frame", 2, {TRACE_HEAD(TRACE_FRAME, 1), 0}},
    {"names what is not defined", 7, {TRACE_HEAD(TRACE_FRAME, 6), 1}},
    {"names what is not defined", 7, {TRACE_HEAD(TRACE_FRAME, 6), 0, UINT32_MAX, 0, 0, 7}},
    {"too large", 1, {TRACE_HEAD(TRACE_NAME, TRACE_WORDS_MAX + 1)}},
    {"unknown kind", 1, {TRACE_HEAD(0, 0)}},
    {"unknown kind", 1, {TRACE_HEAD(TRACE_KINDS, 0)}},
    {"not those that were counted", 19, {TRACE_HEAD(TRACE_END, 18), 1}},
    {"not those that were counted", 1, {TRACE_HEAD(TRACE_END, 0)}},
    {"something follows its last record", 20, {TRACE_HEAD(TRACE_END, 18), [19] = 1}},
    {"middle of something", 0, {0}},
    {"middle of something", 2, {TRACE_HEAD(TRACE_EVENTS, 2), 1}},
};

static void write_hostile(const struct hostile *hostile) {
    static const uint32_t good[] = {TRACE_HEAD(TRACE_PROCESS, 0),
                                    TRACE_HEAD(TRACE_THREAD, 1),
                                    1,
                                    TRACE_HEAD(TRACE_FRAME, TRACE_FRAME_WORDS),
                                    0,
                                    0,
                                    99,
                                    0,
                                    0,
                                    0};
    uint32_t words[HCCT_ARRAY_LEN(good) + HCCT_ARRAY_LEN(hostile->words)];
    memcpy(words, good, sizeof good);
    memcpy(words + HCCT_ARRAY_LEN(good), hostile->words, sizeof hostile->words);
    pack(words, HCCT_ARRAY_LEN(good) + hostile->n);
}

static void hostile(void) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(hostiles); i++) {
        write_hostile(&hostiles[i]);
        struct outcome outcome = read_trace();
        CHECK_UINT(outcome.end, TRACE_READ_FAILED);
        CHECK(strstr(outcome.error, hostiles[i].error) != NULL);
        if (strstr(outcome.error, hostiles[i].error) == NULL)
            fprintf(stderr, "case %zu: %s\n", i, outcome.error);
    }
    /* the frame for which there is no room, and nothing else wrong */
    write_hostile(&(struct hostile){
        NULL,
        3 + 19,
        {EVENT(TRACE_TOKEN(TRACE_CALL, 1)), TRACE_HEAD(TRACE_END, 18), [6] = 1, [20] = 1}});
    CHECK_UINT(read_trace().end, TRACE_READ_END);
}

int main(void) {
    strcpy(path, "/tmp/hcct-trace-XXXXXX");
    close(mkstemp(path));
    damaged();
    change_inside();
    hostile();
    unlink(path);
    return check_report();
}
