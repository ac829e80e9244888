/*
 * text_call_modules.c - of calls that are followed without the program's help: in which modules,
 * how many of its calls, and what was left out.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/shorten.h"
#include "common/profile/call_modules.h"
#include "common/profile/call_words.h"
#include "common/render/format_number.h"
#include "common/render/text.h"
#include "common/wire/compiler.h"

static struct call_modules modules_of(const struct profile *profile) {
    struct call_modules modules = {0};

    for (uint32_t i = 1; i < profile->n_processes; i++)
        call_modules_read(&modules, profile->processes[i].call_modules);
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

void text_calls_of_program(const struct text *text) {
    for (uint32_t i = 1; i < text->profile->n_processes; i++) {
        const struct profile_process *process = &text->profile->processes[i];
        enum calls_verdict verdict = program_verdict(process);

        if (verdict == CALLS_FOLLOWED)
            continue;
        fprintf(text->out, "calls of %s itself are not followed: %s\n",
                profile_process_name(process), call_verdict_words(verdict));
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
                call_left_words(reasons[i]));
        divider = ", ";
    }
}

static void put_redirected(const struct text *text, const struct call_module *module) {
    static const enum call_sites_left direct[] = {CALL_LEFT_TARGET, CALL_LEFT_CALLER,
                                                  CALL_LEFT_UNDECODED, CALL_LEFT_RULE};
    static const enum call_sites_left others[] = {CALL_LEFT_INDIRECT, CALL_LEFT_TAIL,
                                                  CALL_LEFT_NO_ENTRY};

    fprintf(text->out, "%s of %s direct calls are followed", format_count(module->redirected).text,
            format_count(module->found).text);
    if (module->sites > module->redirected)
        fprintf(text->out, ", %s could not be redirected",
                format_count(module->sites - module->redirected).text);
    put_list(text, module, ", left out: ", direct, HCCT_ARRAY_LEN(direct));
    put_list(text, module, "; beside them ", others, HCCT_ARRAY_LEN(others));
    if (module->missed_ns > 0)
        fprintf(text->out, "; not followed in its first %s",
                format_time(module->missed_ns).text);
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

void text_call_modules(const struct text *text) {
    struct call_modules modules = modules_of(text->profile);

    for (size_t i = 0; i < modules.n; i++)
        put_module(text, &modules.list[i]);
    call_modules_clear(&modules);
}
