/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * query_numbers.c - one part with the paths of all numbers, whichever processes they are of.
 */
#include "daemon/answers/query_numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/assemble/symbols.h"
#include "common/base/memory.h"
#include "common/code/module.h"
#include "common/render/format.h"
#include "common/wire/wire.h"
#include "daemon/answers/config.h"
#include "daemon/answers/numbered_copies.h"
#include "daemon/answers/process_copies.h"
#include "daemon/ingest/ingest.h"
#include "daemon/ingest/registry.h"

enum query_status query_numbers_set(struct query_number_list *list, const char *value,
                                    struct query_error *error) {
    const char *at = value;
    list->n = 0;
    while (at != NULL && *at != '\0' && list->n < QUERY_NUMBERS_MAX) {
        char *end;
        errno = 0;
        list->number[list->n++] = strtoull(at, &end, 16);
        if (end == at || errno != 0 || (*end != ',' && *end != '\0'))
            break;
        at = *end == ',' ? end + 1 : end;
    }
    if (at != NULL && *at == '\0' && list->n > 0)
        return QUERY_OK;
    snprintf(error->text, sizeof error->text,
             "number=%.80s is not possible: give up to %u hexadecimal numbers of contexts, with "
             "commas between them",
             value != NULL ? value : "", QUERY_NUMBERS_MAX);
    return QUERY_BAD;
}

static bool has_one(uint32_t tag, const struct query_number_list *list) {
    for (unsigned i = 0; i < list->n; i++)
        if (list->number[i] >> 32 == tag)
            return true;
    return false;
}

/* What its program has numbered up to now. */
static void flush_if_asked(struct process *process, const struct query_number_list *list) {
    pthread_mutex_lock(&process->lock);
    bool asked = process->live && has_one(process->memory.session->contexts_tag, list);
    pthread_mutex_unlock(&process->lock);
    if (asked)
        ingest_flush(process);
}

/* Of all paths of an answer. What an agent says may be one path of all nodes that a process can
 * have, of which each number asked for would be another copy in hcctd's memory. */
#define NODES_MOST WIRE_CONTEXTS

static enum query_status too_long(struct query_error *error) {
    snprintf(error->text, sizeof error->text,
             "the paths of these contexts have more than %u calls together: ask for fewer at once",
             NODES_MOST);
    return QUERY_BAD;
}

static enum query_status take(struct process *const *processes, size_t n,
                              const struct query_number_list *list, struct assemble_part *part,
                              struct query_error *error) {
    bool taken = true;
    for (size_t i = 0; i < n && taken && part->n_numbers <= NODES_MOST; i++) {
        pthread_mutex_lock(&processes[i]->lock);
        for (unsigned k = 0; k < list->n && taken && part->n_numbers <= NODES_MOST; k++)
            taken = numbered_copy_one(&processes[i]->numbered, list->number[k], part);
        pthread_mutex_unlock(&processes[i]->lock);
    }
    if (!taken)
        return query_no_memory("the paths of contexts", error);
    return part->n_numbers <= NODES_MOST ? QUERY_OK : too_long(error);
}

struct writing {
    struct assemble_part *part;
    FILE *out;
    uint32_t *modules;
    size_t n_modules;
    int error;
};

static void write_profile(void *arg) {
    struct writing *w = arg;
    const struct assemble_params params = {config.phi, config.epsilon, config.summary, NULL};
    uint32_t *module_of;
    struct profile *profile = assemble_trees(w->part, 1, &params, &module_of);
    w->n_modules = profile->n_modules;
    w->modules = module_hold(module_of, w->n_modules);
    if (w->modules == NULL)
        memory_die("names");
    symbolize(profile, module_of, config.symbols, SYMBOL_COMPLETE);
    free(module_of);
    if (!write_pprof(w->out, profile, &format_default_options))
        w->error = errno;
    profile_free(profile);
}

static enum query_status write_part(struct assemble_part *part, FILE *out,
                                    struct query_error *error) {
    struct writing w = {.part = part, .out = out};
    const char *what;
    bool done = memory_try(write_profile, &w, &what);
    module_drop(w.modules, w.n_modules);
    if (!done)
        return query_no_memory(what, error);
    if (w.error == 0)
        return QUERY_OK;
    snprintf(error->text, sizeof error->text, "the answer could not be written: %s",
             strerror(w.error));
    return QUERY_FAILED;
}

enum query_status query_numbers(const struct query *query, const struct query_number_list *list,
                                FILE *out, struct query_error *error) {
    struct assemble_part part = {.process = {.exe = "", .command = "", .tags = ""}};
    size_t n;
    if (list->n == 0) {
        snprintf(error->text, sizeof error->text,
                 "say which contexts are meant: number=HEX,HEX, as hcct_context() has given them");
        return QUERY_BAD;
    }
    struct process **processes = query_processes(query, &n);
    if (processes == NULL)
        return query_no_memory("a list of processes", error);
    for (size_t i = 0; i < n; i++)
        flush_if_asked(processes[i], list);
    query_hold_frames(processes, n);
    enum query_status status = take(processes, n, list, &part, error);
    if (status == QUERY_OK)
        status = write_part(&part, out, error);
    query_drop_frames(processes, n);
    registry_free_list(processes, n);
    assemble_part_free(&part);
    return status;
}
