/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * otel_test.c - a process context of OpenTelemetry, whole, cut off at the end of memory, and with
 * bytes that are anything.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/wire/wire.h"
#include "preload/labels/checked.h"
#include "preload/labels/otel_process.h"
#include "tests/check.h"
#include "tests/targets/otel_message.h"

#define FUZZ_ROUNDS 20000

static char *edge; /* of memory: what follows can't be read */

static struct message context(const char *schema) {
    struct message all = {.n = 0}, list = {.n = 0}, map = {.n = 0}, text = text_of(schema);
    struct message first = text_of("user.id"), second = text_of("http.route");
    put_part(&all, 1, "passed over", 11);
    memcpy(all.bytes + all.n, "\x18\x96\x01\x25zzzz\x29zzzzzzzz", 17); /* fields of fixed sizes */
    all.n += 17;
    put_pair(&all, "other", &first);
    put_pair(&all, "threadlocal.schema_version", &text);
    put_part(&list, 1, first.bytes, first.n);
    put_part(&list, 1, second.bytes, second.n);
    put_part(&map, 5, list.bytes, list.n);
    put_pair(&all, "threadlocal.attribute_key_map", &map);
    return all;
}

/* A header in front of the payload, whose last byte is the last one that can be read. */
static uint64_t publish(const struct message *message, uint32_t size) {
    uint64_t payload = (uint64_t)(uintptr_t)edge - message->n, published = 77;
    char *header = (char *)((payload - 40) & ~7ull);
    uint32_t version = 2;
    memcpy(header, "OTEL_CTX", 8);
    memcpy(header + 8, &version, 4);
    memcpy(header + 12, &size, 4);
    memcpy(header + 16, &published, 8);
    memcpy(header + 24, &payload, 8);
    memcpy(edge - message->n, message->bytes, message->n);
    return (uint64_t)(uintptr_t)header;
}

static char seen[64];

static void see(void *arg, struct checked *c, unsigned number, uint64_t name, uint64_t bytes) {
    char *text = arg;
    size_t n = strlen(text);
    if (n + bytes + 4 > sizeof seen)
        return;
    text[n++] = (char)('0' + number % 10);
    for (uint64_t i = 0; i < bytes; i++)
        text[n++] = (char)checked_byte(c, name + i);
    text[n++] = ' ';
    text[n] = '\0';
}

static bool reads(uint64_t at) {
    seen[0] = '\0';
    return otel_process_read(at, see, seen);
}

static void test_whole(void) {
    static const char *const forms[] = {"tls_v1", "tlsdesc_v1", "tlsdesc_v1_dev"};
    for (unsigned i = 0; i < 3; i++) {
        struct message message = context(forms[i]);
        CHECK(reads(publish(&message, (uint32_t)message.n)));
        CHECK_STR(seen, "0user.id 1http.route ");
    }
    struct message other = context("nodejs_v1");
    CHECK(!reads(publish(&other, (uint32_t)other.n)));
    struct message message = context("tls_v1");
    for (unsigned i = 0; i < 13; i++) { /* signature, version and time are looked at */
        char *header = (char *)(uintptr_t)publish(&message, (uint32_t)message.n);
        memset(header + (i < 12 ? i : 16), i < 12 ? 0x55 : 0, i < 12 ? 1 : 8);
        CHECK(!reads((uint64_t)(uintptr_t)header));
    }
    CHECK(!reads(8));
    CHECK(!reads((uint64_t)(uintptr_t)edge));
    CHECK(!reads((uint64_t)(uintptr_t)edge - 8));
}

static void test_cut(void) {
    struct message message = context("tls_v1");
    for (uint32_t size = 0; size < message.n; size++)
        CHECK(!reads(publish(&message, size)) || strlen(seen) < strlen("0user.id 1http.route "));
    for (uint32_t more = 1; more < 5000; more += 7) /* the size says more than there is */
        (void)reads(publish(&message, (uint32_t)message.n + more));
}

static void test_anything(void) {
    srand(5);
    for (unsigned round = 0; round < FUZZ_ROUNDS; round++) {
        struct message message = context("tls_v1");
        for (unsigned i = 0; i < 1 + round % 5; i++)
            message.bytes[(unsigned)rand() % message.n] = (uint8_t)rand();
        (void)reads(publish(&message, (uint32_t)message.n + round % 3));
    }
}

int main(void) {
    char *pages =
        mmap(NULL, 2 * WIRE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED && mprotect(pages + WIRE_PAGE, WIRE_PAGE, PROT_NONE) == 0);
    edge = pages + WIRE_PAGE;
    test_whole();
    test_cut();
    test_anything();
    return check_report();
}
