/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * counters_test.c - each number of counters.h comes through sums, checkpoints, profiles, comments
 * of pprof, their differences, and the list of processes.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/json_out.h"
#include "common/profile/process_fields.h"
#include "common/render/pprof_comments.h"
#include "common/tree/summary.h"
#include "daemon/answers/config.h"
#include "daemon/answers/process_copies.h"
#include "daemon/answers/query.h"
#include "daemon/ingest/registry.h"
#include "daemon/state/checkpoint_fields.h"
#include "tests/check.h"

struct daemon_config config = {.phi = 0.01, .epsilon = 0.001, .summary = "exact"};

/* A number of its own for each. */
static struct process_stats different(uint32_t first) {
    struct process_stats stats = {0};
    uint32_t next = first;
    for (int i = 0; i < WIRE_COUNTERS; i++)
        stats.counter[i] = next++;
#define SET(member, ...) stats.member = next++;
    PROCESS_COUNTERS(SET)
    RESTART_COUNTERS(SET)
#undef SET
#define SET(member) stats.deferred.member = next++;
    SET(credited)
    DEFERRED_COUNTERS(SET)
#undef SET
    return stats;
}

static void check_sums(void) {
    struct process_stats sum = different(1000);
    const struct process_stats before = sum, more = different(50000);
    process_stats_add(&sum, &more);
    for (int i = 0; i < WIRE_COUNTERS; i++)
        CHECK_UINT(sum.counter[i], before.counter[i] + more.counter[i]);
#define ADDED(member, ...) CHECK_UINT(sum.member, before.member + more.member);
    PROCESS_COUNTERS(ADDED)
    RESTART_COUNTERS(ADDED)
#undef ADDED
#define ADDED(member)                                                                              \
    CHECK_UINT(sum.deferred.member, before.deferred.member + more.deferred.member);
    ADDED(credited)
    DEFERRED_COUNTERS(ADDED)
#undef ADDED
}

static void check_checkpoint(void) {
    const struct checkpoint_about about = {.exe = "/bin/x", .stats = different(1000)};
    struct checkpoint_about back;
    size_t words;
    uint32_t *text = checkpoint_fields_write(&about, &words);
    CHECK(checkpoint_fields_read(&back, (const char *)text, 4 * words));
    CHECK(memcmp(back.stats.counter, about.stats.counter, sizeof back.stats.counter) == 0);
    CHECK(memcmp(&back.stats.deferred, &about.stats.deferred, sizeof back.stats.deferred) == 0);
#define KEPT(member, ...) CHECK_UINT(back.stats.member, about.stats.member);
    PROCESS_COUNTERS(KEPT)
    RESTART_COUNTERS(KEPT)
#undef KEPT
    free(text);
    static const char ends[] = "exe\0/bin/x\0\0", goes_on[] = "exe\0/bin/x\0\0?";
    CHECK(checkpoint_fields_read(&back, ends, sizeof ends));
    CHECK(!checkpoint_fields_read(&back, goes_on, sizeof goes_on));
}

static struct process *make_process(const struct process_stats *stats) {
    const struct mcct_params params = {.summary = &summary_exact, .epsilon = 0.001};
    const struct process like = {
        .pid = 1, .runs = 1, .exe = strdup("/bin/x"), .tree = mcct_new(&params), .ended = *stats};
    struct process *process = process_new_finished(&like);
    CHECK(process != NULL);
    registry_add(process);
    return process;
}

/* What the daemon has unwound is added to what the agent has. */
static uint64_t deferred_of(const struct deferred_counts *deferred, const char *name) {
    if (strcmp(name, "walks") == 0)
        return deferred->credited;
#define ONE_OF(member)                                                                             \
    if (strcmp(name, #member) == 0)                                                                \
        return deferred->member;
    DEFERRED_COUNTERS(ONE_OF)
#undef ONE_OF
    return 0;
}

static uint64_t number_of(const struct profile_process *process, const char *name) {
    const struct process_field *field = process_field_find(name);
    CHECK(field != NULL);
    return field != NULL ? process_field_number(process, field) : 0;
}

static void check_shown(const struct profile_process *shown, const struct process_stats *stats) {
#define SHOWN(NAME, place, member, over)                                                           \
    CHECK_UINT(number_of(shown, #member),                                                          \
               stats->counter[WIRE_##NAME] + deferred_of(&stats->deferred, #member));
    THREAD_COUNTERS(SHOWN, NO_COUNTER, NO_COUNTER)
#undef SHOWN
    CHECK_UINT(number_of(shown, "shipped"), stats->deferred.credited);
    CHECK_UINT(number_of(shown, "short_copy"), stats->deferred.short_copy);
    CHECK_UINT(number_of(shown, "refused"), stats->deferred.refused);
#define OF_SHOWN(member)                   CHECK_UINT(number_of(shown, #member), stats->member);
#define OF_GROWN(member)                   OF_SHOWN(member)
#define OF_HIDDEN(member)                  CHECK(process_field_find(#member) == NULL);
#define OF_PROCESS(member, by, shown, ...) OF_##shown(member)
    PROCESS_COUNTERS(OF_PROCESS)
#define OF_RESTART(member, type) OF_SHOWN(member)
    RESTART_COUNTERS(OF_RESTART)
}

/* Through the comments of pprof and back. */
static void check_comments(const struct profile_process *shown, const struct process_stats *stats) {
    struct profile *from = profile_new(), *to = profile_new();
    char *comment = comment_process(from, profile_add_process(from, shown));
    int version;
    CHECK(comment_read(to, comment, &version));
    check_shown(&to->processes[1], stats);
    free(comment);
    profile_free(from);
    profile_free(to);
}

static void check_difference(const struct profile_process *shown) {
    struct profile_process end = *shown, start = *shown;
    end.walks += 5;
    start.lost += 7; /* it can't be: what grows never shrinks */
    process_fields_subtract(&end, &start);
    CHECK_UINT(end.walks, 5);
    CHECK_UINT(end.lost, 0);
    CHECK_UINT(end.identifiers, shown->identifiers);
    CHECK_UINT(end.fine_refused, shown->fine_refused);
#define OVER_GROWS(member)                  CHECK_UINT(end.member, strcmp(#member, "walks") == 0 ? 5 : 0);
#define OVER_SUM(member)                    CHECK_UINT(end.member, shown->member);
#define OF_AGENT(NAME, place, member, over) OVER_##over(member)
#define OF_DAEMON(member, name, over)       OVER_##over(member)
    THREAD_COUNTERS(OF_AGENT, NO_COUNTER, OF_DAEMON)
}

static void check_list(const struct process_stats *stats) {
    struct query query;
    struct query_error error;
    char *text = NULL, wanted[128];
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    query_init(&query, 0);
    CHECK_UINT(query_list(&query, out, &error), QUERY_OK);
    fclose(out);
#define LISTED(member, by, shown, name, ...)                                                       \
    snprintf(wanted, sizeof wanted, "\"" name "\":%llu,", (unsigned long long)stats->member);      \
    CHECK((strstr(text, wanted) != NULL) == (name[0] != '\0'));
    PROCESS_COUNTERS(LISTED)
#undef LISTED
    free(text);
}

int main(void) {
    const struct process_stats stats = different(1000);
    struct process *process = make_process(&stats);
    struct profile_process shown;
    check_sums();
    check_checkpoint();
    process_describe(process, &shown);
    check_shown(&shown, &stats);
    check_comments(&shown, &stats);
    check_difference(&shown);
    check_list(&stats);
    registry_clear();
    return check_report();
}
