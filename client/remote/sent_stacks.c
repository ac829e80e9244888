/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sent_stacks.c - a set of services and hashes, and questions about some of them.
 */
#include "client/remote/sent_stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/remote/clickhouse.h"
#include "common/base/intern.h"
#include "common/base/memory.h"
#include "common/base/options.h"

#define AGAIN_S 86400 /* for their time of life in the table */
#define ASKED   16    /* with each push: the index has what it takes */

struct sent_stack {
    const char *service;
    uint64_t hash;
};

static struct sent_stacks {
    struct intern by_key;
    struct sent_stack *list; /* number 1 is the first */
    uint32_t n, room;
    uint32_t taken; /* the first so many are in the server */
    char **services;
    uint32_t n_services, service_room;
    uint32_t next; /* that will be asked for */
    time_t since;
    bool lost;
} sent;

static bool same_stack(const void *entries, uint32_t i, const void *key) {
    const struct sent_stack *have = &((const struct sent_stack *)entries)[i - 1], *want = key;
    return have->hash == want->hash && strcmp(have->service, want->service) == 0;
}

static uint64_t hash_of(const struct sent_stack *stack) {
    return seeded_hash_bytes(stack->hash, stack->service, strlen(stack->service));
}

/* A copy, one for each service. */
static const char *keep_service(const char *service) {
    for (uint32_t i = sent.n_services; i-- > 0;)
        if (strcmp(sent.services[i], service) == 0)
            return sent.services[i];
    sent.services = memory_grow(sent.services, sent.n_services, &sent.service_room,
                                sizeof *sent.services, "services");
    char *copy = memory_new(strlen(service) + 1, 1, "a service");
    return sent.services[sent.n_services++] = strcpy(copy, service);
}

bool sent_stacks_add(const char *service, uint64_t hash) {
    const struct sent_stack key = {keep_service(service), hash};
    uint32_t *slot = intern_find(&sent.by_key, hash_of(&key), same_stack, sent.list, &key);
    if (*slot != 0)
        return false;
    sent.list = memory_grow(sent.list, sent.n, &sent.room, sizeof *sent.list, "stacks");
    sent.list[sent.n++] = key;
    *slot = sent.n;
    return true;
}

static void forget(void) {
    intern_free(&sent.by_key);
    free(sent.list);
    for (uint32_t i = 0; i < sent.n_services; i++)
        free(sent.services[i]);
    free(sent.services);
    sent = (struct sent_stacks){.since = time(NULL)};
}

static bool is_taken(const void *taken, uint32_t number) {
    return number <= *(const uint32_t *)taken;
}

void sent_stacks_taken(bool taken, bool all) {
    sent.lost &= !(taken && all);
    if (taken)
        sent.taken = sent.n;
    else if (intern_keep(&sent.by_key, is_taken, &sent.taken))
        sent.n = sent.taken;
    else
        forget();
}

void sent_stacks_forget_old(void) {
    if (!sent.lost && (time(NULL) - sent.since >= AGAIN_S || time(NULL) < sent.since))
        forget();
}

/* Each in its turn. */
static char *question(const char *database, uint32_t n) {
    FILE *out = memory_stream("a query");
    fprintf(out,
            "SELECT count() FROM (SELECT service, hash FROM %s.stacks WHERE (service, hash) IN (",
            database);
    for (uint32_t i = 0; i < n; i++, sent.next++) {
        const struct sent_stack *stack = &sent.list[sent.next % sent.taken];
        fputs(i > 0 ? ", (" : "(", out);
        clickhouse_quote(out, stack->service);
        fprintf(out, ", %" PRIu64 ")", stack->hash);
    }
    sent.next %= sent.taken;
    fputs(") GROUP BY service, hash)", out);
    return memory_stream_end(out, NULL, "a query");
}

bool sent_stacks_lost(struct transfer *transfer, const struct push_settings *settings) {
    char error[300];
    unsigned there;
    uint32_t n = sent.taken < ASKED ? sent.taken : ASKED;
    if (sent.lost || n == 0)
        return sent.lost;
    char *text = question(settings->database, n);
    if (clickhouse_ask_number(transfer, settings->url, text, &there, error, sizeof error) &&
        there < n) {
        complain("the table stacks has lost contexts that were sent: all that hcctd still has are "
                 "sent again");
        forget();
        sent.lost = true;
    }
    free(text);
    return sent.lost;
}
