/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * otel.c - a program that says what its threads are at work for as an SDK of OpenTelemetry does
 * (OTEP 4719 and 4947): its main thread and another one serve requests of two routes, three
 * quarters of their CPU time for one of them.
 *
 *   otel SECONDS [LIBRARY]   the variable is that of a library, which is opened
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "tests/targets/otel.h"
#include "tests/targets/otel_message.h"

#define ROUTES 2

static const char *const routes[ROUTES] = {"/pay", "/list"};
static const unsigned shares[ROUTES] = {3, 1};
static volatile uint64_t sink;
static double seconds;

/* ---- the thread's record ---- */

#ifdef OWN_VARIABLE
__thread const struct otel_record *otel_thread_ctx_v1;

static void own_attach(const struct otel_record *record) {
    otel_thread_ctx_v1 = record;
}
static void (*attach)(const struct otel_record *) = own_attach;
#else
static void (*attach)(const struct otel_record *);
#endif

static void put_attribute(struct otel_record *record, uint8_t key, const char *value) {
    uint8_t n = (uint8_t)strlen(value), *at = record->attributes + record->size;
    at[0] = key;
    at[1] = n;
    memcpy(at + 2, value, n);
    record->size += 2 + n;
}

/* A route that is set anew, and what identifies the request. */
static void put_request(struct otel_record *record, unsigned route, unsigned number) {
    char id[16];
    memset(record, 0, sizeof *record);
    memset(record->trace, (int)number, sizeof record->trace);
    snprintf(id, sizeof id, "user%u", number);
    put_attribute(record, 1, id);
    put_attribute(record, 2, "/no");
    put_attribute(record, 2, routes[route]);
    put_attribute(record, 77, "of no key");
    record->valid = 1;
}

/* ---- the process's context ---- */

static struct message context(void) {
    static const char *const keys[] = {"http.method", "user.id", "http.route"};
    struct message all = {.n = 0}, list = {.n = 0}, map = {.n = 0};
    put_part(&all, 1, "", 0); /* a resource */
    struct message schema = text_of("tlsdesc_v1_dev");
    put_pair(&all, "threadlocal.schema_version", &schema);
    for (unsigned i = 0; i < 3; i++) {
        struct message key = text_of(keys[i]);
        put_part(&list, 1, key.bytes, key.n);
    }
    put_part(&map, 5, list.bytes, list.n);
    put_pair(&all, "threadlocal.attribute_key_map", &map);
    return all;
}

static int publish(void) {
    struct {
        char signature[8];
        uint32_t version, size;
        uint64_t published, payload;
    } * header;
    struct message message = context();
    header = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (header == MAP_FAILED)
        return 1;
    memcpy(header->signature, "OTEL_CTX", 8);
    header->version = 2;
    header->size = (uint32_t)message.n;
    header->payload = (uint64_t)(uintptr_t)(header + 1);
    memcpy(header + 1, message.bytes, message.n);
    header->published = 1;
    prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, header, 4096, "OTEL_CTX");
    return 0;
}

/* ---- the work ---- */

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void work(uint64_t ns) {
    for (uint64_t end = cpu_ns() + ns; cpu_ns() < end;)
        for (unsigned i = 0; i < 400; i++)
            sink += i;
}

static void *serve(void *arg) {
    struct otel_record record;
    for (unsigned i = 0; cpu_ns() < (uint64_t)(seconds * 1e9); i++) {
        put_request(&record, i % ROUTES, i);
        attach(&record);
        work(1000000 * shares[i % ROUTES]);
        attach(NULL);
    }
    return arg;
}

int main(int argc, char **argv) {
    pthread_t thread;
    seconds = argc > 1 ? atof(argv[1]) : 1;
    if (argc > 2) {
        void *library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL || (*(void **)&attach = dlsym(library, "otel_attach")) == NULL)
            return 2;
    }
    if (publish() != 0 || pthread_create(&thread, NULL, serve, NULL) != 0)
        return 1;
    serve(NULL);
    pthread_join(thread, NULL);
    return 0;
}
