/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_call_modules.c - of calls that are followed without the program's help: in which modules,
 * how many of its calls, and what was left out. Programs have many libraries: a few lines are of
 * modules by themselves, one is of all others.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/shorten.h"
#include "common/profile/call_modules.h"
#include "common/profile/call_words.h"
#include "common/render/format_number.h"
#include "common/render/text.h"
#include "common/wire/compiler.h"

/* No burst begins before all modules are known: what is followed later was missed in none. */
static void add_modules(struct call_modules *modules, const struct profile_process *process) {
    struct call_modules more = {0};
    call_modules_read(&more, process->call_modules);
    for (size_t i = 0; i < more.n; i++)
        if (process->burst_period_ns > 0 && more.list[i].verdict == CALLS_FOLLOWED)
            more.list[i].missed_ns = 0;
    call_modules_add_all(modules, &more);
    call_modules_clear(&more);
}

static struct call_modules modules_of(const struct profile *profile) {
    struct call_modules modules = {0};
    for (uint32_t i = 1; i < profile->n_processes; i++)
        add_modules(&modules, &profile->processes[i]);
    return modules;
}

bool text_calls_are_followed(const struct profile *profile) {
    struct call_modules modules = modules_of(profile);
    bool any = false;
    for (size_t i = 0; i < modules.n; i++)
        any |= modules.list[i].verdict == CALLS_FOLLOWED;
    call_modules_clear(&modules);
    return any;
}

/* Why those of the process's own program are not; CALLS_FOLLOWED: they are, or nothing is said of
 * it, or it reports them itself. */
static enum calls_verdict program_verdict(const struct profile_process *process) {
    enum calls_verdict verdict = CALLS_FOLLOWED;
    struct call_modules modules = {0};
    call_modules_read(&modules, process->call_modules);
    for (size_t i = 0; i < modules.n; i++)
        if (strcmp(modules.list[i].path, process->exe) == 0 &&
            modules.list[i].verdict != CALLS_OWN_HOOKS)
            verdict = modules.list[i].verdict;
    call_modules_clear(&modules);
    return verdict;
}

#define PROGRAMS_MOST 3

/* In bursts what is over before its first one is no loss: shares are of CPU time. */
static bool is_shown(const struct profile_process *process, enum calls_verdict verdict) {
    return verdict != CALLS_FOLLOWED && (verdict != CALLS_UNSAID || process->burst_period_ns == 0);
}

void text_calls_of_program(const struct text *text) {
    uint32_t shown = 0;
    for (uint32_t i = 1; i < text->profile->n_processes; i++) {
        const struct profile_process *process = &text->profile->processes[i];
        enum calls_verdict verdict = program_verdict(process);
        if (!is_shown(process, verdict) || shown++ >= PROGRAMS_MOST)
            continue;
        fprintf(text->out,
                verdict == CALLS_UNSAID ? "%s %s\n" : "calls of %s itself are not followed: %s\n",
                profile_process_name(process), call_verdict_words(verdict));
        text_label(text, "");
    }
    if (shown > PROGRAMS_MOST) {
        fprintf(text->out, "nor are those of %s more processes\n",
                format_count(shown - PROGRAMS_MOST).text);
        text_label(text, "");
    }
}

static void put_list(const struct text *text, const struct call_module *module, const char *before,
                     const enum call_sites_left *reasons, size_t n) {
    const char *divider = before;
    for (size_t i = 0; i < n; i++) {
        uint64_t number = module->left[reasons[i]];
        if (number == 0)
            continue;
        fprintf(text->out, "%s%s %s", divider, format_count(number).text,
                call_left_words(reasons[i], number));
        divider = ", ";
    }
}

static void put_redirected(const struct text *text, const struct call_module *module) {
    static const enum call_sites_left direct[] = {CALL_LEFT_TARGET, CALL_LEFT_CALLER,
                                                  CALL_LEFT_UNDECODED, CALL_LEFT_RULE};
    static const enum call_sites_left others[] = {CALL_LEFT_INDIRECT, CALL_LEFT_TAIL,
                                                  CALL_LEFT_NO_ENTRY};
    fprintf(text->out, "%s of %s direct call%s followed", format_count(module->redirected).text,
            format_count(module->found).text, module->found == 1 ? " is" : "s are");
    if (module->sites > module->redirected)
        fprintf(text->out, ", %s could not be redirected",
                format_count(module->sites - module->redirected).text);
    put_list(text, module, ", left out: ", direct, HCCT_ARRAY_LEN(direct));
    put_list(text, module, "; beside them ", others, HCCT_ARRAY_LEN(others));
    if (module->missed_ns > 0)
        fprintf(text->out, "; not followed in its first %s", format_time(module->missed_ns).text);
}

static void put_other(const struct text *text, const struct call_module *module) {
    fputs(call_verdict_words(module->verdict), text->out);
    if (module->missed_ns > 0)
        fprintf(text->out, ", after %s", format_time(module->missed_ns).text);
}

static void put_module(const struct text *text, const struct call_module *module) {
    char *name = shorten(profile_basename(module->path), 0, text->glyphs->gap);
    text_label(text, "");
    fprintf(text->out, "%s: ", name);
    if (module->verdict == CALLS_FOLLOWED)
        put_redirected(text, module);
    else
        put_other(text, module);
    if (module->times > 1)
        fprintf(text->out, " (%s%s)", text->glyphs->times, format_count(module->times).text);
    fputc('\n', text->out);
    free(name);
}

/* ---- which of them have a line ---- */

#define LINES_MOST 8

/* Programs come first, then what is not followed, then what has most calls. */
static int rank_of(const struct profile *profile, const struct call_module *module) {
    for (uint32_t i = 1; i < profile->n_processes; i++)
        if (strcmp(profile->processes[i].exe, module->path) == 0)
            return 0;
    if (module->verdict == CALLS_FOLLOWED)
        return 2;
    return module->verdict == CALLS_NO_SITES || module->verdict == CALLS_TOO_MANY ? 3 : 1;
}

struct ranked {
    const struct call_module *module;
    int rank;
};

static int by_rank(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank - y->rank;
    if (x->module->found != y->module->found)
        return x->module->found < y->module->found ? 1 : -1;
    return strcmp(x->module->path, y->module->path);
}

/* All others in one line. */
static void put_rest(const struct text *text, const struct ranked *rest, size_t n) {
    uint64_t found = 0, redirected = 0, missed = 0, not_followed = 0, too_many = 0;
    for (size_t i = 0; i < n; i++) {
        const struct call_module *module = rest[i].module;
        found += module->found;
        redirected += module->redirected;
        missed = module->missed_ns > missed ? module->missed_ns : missed;
        not_followed += module->verdict != CALLS_FOLLOWED && module->verdict != CALLS_NO_SITES;
        too_many += module->verdict == CALLS_TOO_MANY;
    }
    text_label(text, "");
    fprintf(text->out, "%s more modules: %s of %s direct calls are followed", format_count(n).text,
            format_count(redirected).text, format_count(found).text);
    if (not_followed > 0)
        fprintf(text->out, "; %s of them not at all%s", format_count(not_followed).text,
                too_many > 0 ? ", as 128 modules are the most" : "");
    if (missed > 0)
        fprintf(text->out, "; some not in their first %s, or less", format_time(missed).text);
    fputc('\n', text->out);
}

void text_call_modules(const struct text *text) {
    struct call_modules modules = modules_of(text->profile);
    struct ranked *order = memory_new(modules.n, sizeof *order, "modules");
    size_t shown = modules.n > LINES_MOST ? LINES_MOST - 1 : modules.n;
    for (size_t i = 0; i < modules.n; i++)
        order[i] = (struct ranked){&modules.list[i], rank_of(text->profile, &modules.list[i])};
    if (modules.n > 0)
        qsort(order, modules.n, sizeof *order, by_rank);
    for (size_t i = 0; i < shown; i++)
        put_module(text, order[i].module);
    if (shown < modules.n)
        put_rest(text, order + shown, modules.n - shown);
    free(order);
    call_modules_clear(&modules);
}
