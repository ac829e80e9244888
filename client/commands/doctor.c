/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * doctor.c - runs the checks and prints what they found, one line each.
 */
#include "client/commands/doctor.h"
#include "client/attach/named.h"
#include "client/command.h"
#include "common/base/options.h"
#include "common/base/shorten.h"
#include "common/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct doctor_options {
    const char *process;
};

static const struct option_spec specs[] = {
    {"pid", 'p', OPTION_STRING, "PID|NAME", offsetof(struct doctor_options, process), 0, 0,
     "tell whether this process can be attached to"},
    OPTIONS_END,
};

static const struct option_command command = {
    .usage = "hcct doctor [-p PID|NAME] [PROGRAM]",
    .about = "Tells what works on this machine, and for PROGRAM, which is not run, what will be\n"
             "known about it; where something does not, why, and what helps. Exits with 1 when\n"
             "programs, or this one, can't be profiled.",
    .examples = "  hcct doctor\n"
                "  hcct doctor ./app\n"
                "  hcct doctor -p 812\n",
    .options = specs,
};

void finding_set(struct finding *finding, enum finding_kind kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
    utf8_clean(finding->text); /* it names files and what they hold */
    finding->kind = kind;
}

void finding_print(const char *name, const struct finding *finding) {
    static const char *const words[FINDING_KINDS] = {
        [FINDING_OK] = "ok", [FINDING_NOTE] = "note", [FINDING_PROBLEM] = "PROBLEM"};
    printf("%-8s %-15s %s\n", words[finding->kind], name, finding->text);
    fflush(stdout);
}

/* Gives the worst kind that was found. */
static enum finding_kind run_checks(const struct check *checks, const char *program) {
    enum finding_kind worst = FINDING_OK;
    for (const struct check *check = checks; check->name != NULL; check++) {
        struct finding finding = {0};
        check->run(&finding, program);
        finding_print(check->name, &finding);
        worst = finding.kind > worst ? finding.kind : worst;
    }
    return worst;
}

int cmd_doctor(int argc, char **argv) {
    struct doctor_options options = {0};
    int rest;
    pid_t pid = 0;
    options_parse(&command, argc, argv, &options, &rest);
    const char *program = rest < argc ? argv[rest++] : NULL;
    options_no_more(&command, argc, argv, rest);
    if (options.process != NULL && !named_process(options.process, &pid))
        return HCCT_EXIT_FAILURE;
    enum finding_kind machine = run_checks(doctor_machine, NULL), parts, worst;
    parts = run_checks(doctor_parts, NULL);
    worst = parts > machine ? parts : machine;
    if (program != NULL) {
        char *name = shorten(program, 0, "");
        printf("\n%s:\n", name);
        free(name);
        enum finding_kind of_it = run_checks(doctor_program, program);
        worst = of_it > worst ? of_it : worst;
        doctor_calls(program);
    }
    if (pid != 0) {
        printf("\nprocess %d:\n", (int)pid);
        enum finding_kind of_it = doctor_process((int)pid);
        worst = of_it > worst ? of_it : worst;
    }
    return worst == FINDING_PROBLEM ? HCCT_EXIT_FAILURE : HCCT_EXIT_OK;
}
