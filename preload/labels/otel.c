/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * otel.c - which attributes are labels, and their values in a thread's record (OTEP 4947): trace
 * and span id, which are passed over, and attributes as number, length and text.
 */
#include "preload/labels/otel.h"

#include <string.h>

#include "common/wire/compiler.h"
#include "preload/labels/checked.h"
#include "preload/labels/otel_process.h"
#include "preload/labels/otel_thread.h"
#include "preload/labels/table.h"
#include "preload/labels/word.h"
#include "preload/life/thread.h"

#define NAME        "OTEL_CTX"
#define VALID_AT    24u /* offsets in a record */
#define SIZE_AT     26u
#define FIRST_AT    28u
#define RECORD_MAX  640u /* as the specification recommends */
#define ENTRY_BYTES 2u   /* number and length */

/* Attributes of which there is a limited number of values. */
static const char *const wanted[] = {"http.route", "http_route", "url.template",
                                     "rpc.method", "endpoint",   "route"};

#define WANTED HCCT_ARRAY_LEN(wanted)

_Atomic bool otel_is_there;

static _Atomic bool is_found; /* the variable: it does not change any more */
static struct otel_variable variable;
static uint64_t labels_offset;           /* of labels_self, from a thread's own block */
static _Atomic uint8_t which[OTEL_KEYS]; /* of an attribute's number: 1 + index of `wanted` */

/* ---- learning ---- */

static bool is_name(struct checked *c, uint64_t at, uint64_t bytes, const char *text) {
    for (uint64_t i = 0; i < bytes; i++)
        if (checked_byte(c, at + i) != (uint8_t)text[i])
            return false;
    return true;
}

/* The label "[other]" of a key makes room for others, which handlers can't. */
static void see_attribute(void *arg, struct checked *c, unsigned number, uint64_t name,
                          uint64_t bytes) {
    bool *any = arg, placed;
    for (unsigned i = 0; i < WANTED; i++) {
        if (strlen(wanted[i]) != bytes || !is_name(c, name, bytes, wanted[i]) ||
            label_intern(wanted[i], bytes, "[other]", &placed) == 0)
            continue;
        atomic_store_explicit(&which[number], (uint8_t)(i + 1), memory_order_relaxed);
        *any = true;
    }
}

/* Programs publish one context, by one thread at a time. */
static bool find_variable(void) {
    if (atomic_load(&is_found))
        return true;
    labels_offset =
        (uint64_t)(uintptr_t)&labels_self - (uint64_t)(uintptr_t)__builtin_thread_pointer();
    if (!otel_variable_find(&variable))
        return false;
    atomic_store(&is_found, true);
    return true;
}

void otel_see_mapping(uint64_t at, uint64_t name) {
    struct checked c = {.at = 0};
    bool any = false;
    if (is_name(&c, name, sizeof NAME, NAME) && otel_process_read(at, see_attribute, &any) && any &&
        find_variable())
        atomic_store_explicit(&otel_is_there, true, memory_order_release);
}

/* ---- reading ---- */

struct value {
    uint64_t at;
    uint8_t bytes;
};

/* The last value of each attribute counts. */
static void find_values(struct checked *c, uint64_t record, struct value value[WANTED]) {
    uint64_t at = record + FIRST_AT, size = checked_number(c, record + SIZE_AT, 2);
    uint64_t end = at + (size < RECORD_MAX - FIRST_AT ? size : RECORD_MAX - FIRST_AT);
    while (end - at >= ENTRY_BYTES) {
        uint8_t number = checked_byte(c, at), bytes = checked_byte(c, at + 1);
        unsigned i = atomic_load_explicit(&which[number], memory_order_relaxed);
        at += ENTRY_BYTES;
        if (end - at < bytes)
            return;
        if (i != 0)
            value[i - 1] = (struct value){at, bytes};
        at += bytes;
    }
}

static void add(struct checked *c, const char *key, struct value value, uint64_t *labels) {
    char text[UINT8_MAX + 1];
    bool placed;
    for (unsigned i = 0; i < value.bytes; i++)
        text[i] = (char)checked_byte(c, value.at + i);
    text[value.bytes] = '\0';
    if (c->failed)
        return;
    size_t length = strlen(key);
    placed = labels_change(labels, key, length, label_intern(key, length, text, &placed)) && placed;
    if (!placed)
        atomic_fetch_add_explicit(&agent.process->labels_other, 1, memory_order_relaxed);
}

uint64_t otel_add_labels(struct agent_thread *thread, uint64_t labels) {
    struct checked c = {.probe = &thread->probe};
    struct value value[WANTED] = {{0, 0}};
    if (thread->labels == NULL)
        return labels;
    if (thread == thread_self) /* a record may stand there */
        thread_stack_above(thread, thread->interrupted.reg[ARCH_SP], &c.low, &c.high);
    uint64_t own = (uint64_t)(uintptr_t)thread->labels - labels_offset;
    uint64_t record = otel_variable_read(&variable, &c, own);
    if (record == 0 || checked_byte(&c, record + VALID_AT) != 1)
        return labels;
    find_values(&c, record, value);
    for (unsigned i = 0; i < WANTED && !c.failed; i++)
        if (value[i].at != 0 && value[i].bytes > 0)
            add(&c, wanted[i], value[i], &labels);
    return labels;
}
