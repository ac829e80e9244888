/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * record_seen.c - whether hcct record has anything to show, by hcctd's list of processes; why not.
 */
#include "client/commands/record_seen.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask.h"
#include "client/attach/attach.h"
#include "client/command.h"
#include "client/commands/no_agent.h"
#include "client/commands/record_attached.h"
#include "client/profile_file.h"
#include "common/profile/call_modules.h"
#include "common/profile/call_words.h"
#include "common/render/format_number.h"
#include "common/wire/wire.h"

/* Of the modules that hcctd has heard of those that could not be followed are said, each with why.
 */
struct unfollowed {
    unsigned said;
    unsigned unread; /* the program was over before they were */
};

static struct unfollowed say_what_was_not_followed(const struct profile *profile) {
    struct call_modules modules = {0};
    struct unfollowed found = {0};
    for (uint32_t i = 1; i < profile->n_processes; i++)
        call_modules_read(&modules, profile->processes[i].call_modules);
    for (size_t i = 0; i < modules.n; i++) {
        const struct call_module *module = &modules.list[i];
        found.unread += module->verdict == CALLS_UNSAID;
        if (module->verdict == CALLS_FOLLOWED || module->verdict == CALLS_UNSAID)
            continue;
        complain("%s: %s", module->path, call_verdict_words(module->verdict));
        found.said++;
    }
    call_modules_clear(&modules);
    return found;
}

static struct unfollowed ask_what_was_not_followed(const struct record_seen *seen) {
    struct http_answer answer = {0};
    struct unfollowed found = {0};
    struct query query;
    query_start(&query, "/v1/hot");
    query_add(&query, "format", "pprof");
    if (seen->pid > 0)
        query_add_unsigned(&query, "pid", seen->pid);
    struct profile *profile = ask(seen->socket, "GET", query.text, &answer) == HCCT_EXIT_OK
                                  ? profile_file_parse("hcctd's answer", answer.body, answer.bytes)
                                  : NULL;
    if (profile != NULL)
        found = say_what_was_not_followed(profile);
    profile_free(profile);
    free(answer.body);
    return found;
}

static void complain_no_call(const struct record_seen *seen) {
    const char *program = seen->program;
    bool bursts = seen->options->burst != NULL;
    const char *within = bursts ? " within a burst" : "";
    struct unfollowed unfollowed = ask_what_was_not_followed(seen);
    if (unfollowed.unread > 0)
        complain("no call of %s was counted%s, and no profile is written: it was over before %u of "
                 "its modules were read%s",
                 program, within, unfollowed.unread,
                 bursts ? ", and bursts wait for that; what was read is kept for the next time"
                        : "");
    else if (unfollowed.said > 0)
        complain("no call of %s was counted%s, and no profile is written", program, within);
    else
        complain(
            "no call of %s was counted%s, and no profile is written: %sits modules can't be "
            "followed, see \"hcct doctor %s\"; or its hooks are bound elsewhere (a library defines "
            "__cyg_profile_func_enter before the agent does)",
            program, within, bursts ? "it used too little CPU time for a burst; or " : "", program);
}

static void complain_no_room(const struct listed_process *sum, const char *program) {
    complain(
        "%s has no sample, and no profile is written: %s thread%s had too small a stack for the "
        "agent's signal, and used %s of CPU time",
        program, format_count(sum->no_room).text, sum->no_room == 1 ? "" : "s",
        format_time(sum->no_room_ns).text);
}

static const char *why_no_event(unsigned collector) {
    if (wire_of_held(collector))
        return "no thread waited long for locks that others gave back (one of some 0.5 ms is "
               "sampled)";
    if (wire_of_locks(collector))
        return "its threads waited too little for locks of libc (one of some 0.5 ms is sampled)";
    return "it allocated too little (at first one of some 16 KiB is sampled), has freed all of it, "
           "or brings a malloc of its own";
}

static void complain_no_event(const char *program, unsigned collector) {
    complain("%s has no sample, and no profile is written: %s", program, why_no_event(collector));
}

/* Of metrics beside the one that was said to have none. */
static void complain_of_others(const struct record_options *options) {
    struct metric_list list;
    record_metrics(options, &list);
    for (unsigned i = 0; i < list.n; i++) {
        const struct metric *metric = list.metric[i];
        if (wire_of_events(metric->collector) && metric->collector != record_metric(options))
            complain("there is no sample of %s either: %s", metric->name,
                     why_no_event(metric->collector));
    }
}

/* Who has had so much CPU time has samples, unless something forbids them. */
#define MUCH_NS 200000000u

/* Of a program that was seen and has no sample of CPU time. `sum`: what was seen. */
static void complain_no_sample(const struct record_seen *seen, const struct listed_process *sum) {
    uint64_t unseen_ns = seen->cpu_ns > sum->cpu_ns ? seen->cpu_ns - sum->cpu_ns : 0;
    if (sum->confined > 0)
        complain("%s has no sample, and no profile is written: %s thread%s forbade themselves "
                 "system calls (seccomp) before the first one",
                 seen->program, format_count(sum->confined).text, sum->confined == 1 ? "" : "s");
    else if (seen->options->metric != NULL && strcmp(seen->options->metric, "faults") == 0)
        complain("%s had no page fault that a sample of its CPU time met: no profile is written",
                 seen->program);
    else if (sum->cpu_ns > MUCH_NS)
        complain("%s has no sample, and no profile is written: its threads used %s of CPU time, "
                 "and no signal of the agent reached them; see \"hcct doctor %s\"",
                 seen->program, format_time(sum->cpu_ns).text, seen->program);
    else if (seen->pid == 0 && unseen_ns > MUCH_NS)
        complain("%s used too little CPU time to be sampled, and what it ran (%s) could not load "
                 "the agent or reach hcctd: no profile is written",
                 seen->program, format_time(unseen_ns).text);
    else
        complain("%s used too little CPU time to be sampled: no profile is written", seen->program);
}

/* Of a program that hcctd has not heard of. */
static void complain_unseen(const struct record_seen *seen) {
    char reason[PATH_MAX + 256];
    if (seen->options->pid != 0)
        snprintf(reason, sizeof reason, "%s", record_attached_unseen(seen->options));
    else
        no_agent_reason(seen->program, reason, sizeof reason);
    complain("%s was not profiled, and no profile is written: %s", seen->program, reason);
}

static void complain_nothing(const struct record_seen *seen, const struct listed_process *sum) {
    const struct record_options *options = seen->options;
    if (record_counts_calls(options))
        complain_no_call(seen);
    else if (sum->no_room > 0)
        complain_no_room(sum, seen->program);
    else if (wire_of_events(record_metric(options)))
        complain_no_event(seen->program, record_metric(options));
    else if (record_samples_waits(options))
        complain("%s was never off the processor for long: no profile is written", seen->program);
    else
        complain_no_sample(seen, sum);
    if (!record_counts_calls(options))
        complain_of_others(options);
}

bool record_seen_or_why(const struct record_seen *seen) {
    bool heard_of = false, calls = record_counts_calls(seen->options);
    struct listed_process sum = {.no_room = 0};
    for (size_t i = 0; i < seen->list->n; i++) {
        const struct listed_process *process = &seen->list->item[i];
        if (seen->pid > 0 && process->pid != seen->pid)
            continue;
        if ((calls ? process->total : process->walks) > 0)
            return true;
        heard_of = true;
        sum.cpu_ns += process->cpu_ns;
        sum.confined += process->confined;
        sum.no_room += process->no_room;
        sum.no_room_ns += process->no_room_ns;
    }
    /* sessions may have been begun in vain, again and again */
    bool limited = seen->options->pid != 0 && attach_is_limited(seen->options->pid);
    if (heard_of && !limited)
        complain_nothing(seen, &sum);
    else
        complain_unseen(seen);
    return false;
}
