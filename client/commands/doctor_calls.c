/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * doctor_calls.c - a table of the modules of a program: what calls there are, and whether they can
 * be followed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/commands/call_files.h"
#include "client/commands/doctor.h"
#include "common/base/shorten.h"
#include "common/profile/call_words.h"
#include "common/profile/profile.h"
#include "common/render/format_number.h"
#include "common/wire/call_choice.h"
#include "common/wire/compiler.h"

#define NAME_WIDTH 22

static const enum call_sites_left direct[] = {CALL_LEFT_TARGET, CALL_LEFT_CALLER,
                                              CALL_LEFT_UNDECODED, CALL_LEFT_RULE};

static void print_numbers(const struct call_sites *sites) {
    uint64_t code = (uint64_t)sites->covered + sites->left[CALL_LEFT_NO_ENTRY];
    printf(" %9s %9s %9s %9s %9s %8s", format_count(sites->found[0]).text,
           format_count(sites->found[1]).text, format_count(sites->found[0] - sites->sites).text,
           format_count(sites->left[CALL_LEFT_INDIRECT]).text,
           format_count(sites->left[CALL_LEFT_TAIL]).text,
           format_share(code > 0 ? (double)sites->covered / (double)code : 0).text);
}

static void print_left_out(const struct call_sites *sites) {
    const char *divider = "; left out: ";
    for (size_t i = 0; i < HCCT_ARRAY_LEN(direct); i++) {
        if (sites->left[direct[i]] == 0)
            continue;
        printf("%s%s %s", divider, format_count(sites->left[direct[i]]).text,
               call_left_words(direct[i], sites->left[direct[i]]));
        divider = ", ";
    }
}

static void print_head(void) {
    printf("\n%-*s %9s %9s %9s %9s %9s %8s\n", NAME_WIDTH, "calls of", "direct", "by GOT",
           "left out", "indirect", "tail jmps", "covered");
}

/* `head`: is it printed? */
static void print_file(void *head, const struct call_file *file) {
    bool *printed = head;
    if (!*printed)
        print_head();
    *printed = true;
    struct call_sites *sites = call_file_sites(file->path);
    enum calls_verdict verdict = sites != NULL ? sites->verdict : CALLS_UNREADABLE;
    char *name = shorten(profile_basename(file->path), NAME_WIDTH, "...");
    printf("%-*s", NAME_WIDTH, name);
    free(name);
    if (verdict == CALLS_FOLLOWED)
        print_numbers(sites);
    else
        printf(" %9s %9s %9s %9s %9s %8s", "", "", "", "", "", "");
    printf("  %s", call_verdict_words(verdict));
    if (verdict == CALLS_FOLLOWED)
        print_left_out(sites);
    if (verdict == CALLS_FOLLOWED && !call_choice(NULL, file->path))
        printf("; only where --modules says so");
    printf("\n");
    free(sites);
}

void doctor_calls(const char *program) {
    bool head = false;
    call_files_visit(program, print_file, &head);
}
