/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * doctor_process.c - a process that runs: can it be attached to?
 */
#include "client/attach/judge.h"
#include "client/commands/doctor.h"
#include "client/locate.h"

/* What comes after a check that does not pass is not known. */
enum finding_kind doctor_process(int pid) {
    struct finding finding = {.kind = FINDING_OK};
    char library[PATH_MAX];
    const char *known = locate_late_agent(library) ? library : NULL;
    for (const struct judge_check *check = judge_checks;
         check->name != NULL && finding.kind == FINDING_OK; check++) {
        char text[512];
        bool passes = check->passes(pid, known, text, sizeof text);
        finding_set(&finding, passes ? FINDING_OK : FINDING_PROBLEM, "%s", text);
        finding_print(check->name, &finding);
    }
    return finding.kind;
}
