/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * nearest_test.c - mistyped words and what they were to be.
 */
#include "common/base/nearest.h"

#include <string.h>

#include "tests/check.h"

static const char *const words[] = {"record", "report", "replay", "set",  "stop",
                                    "start",  "top",    "hot",    "diff", "doctor"};

static const char *meant(const char *typed, size_t length) {
    struct nearest nearest = {.typed = typed, .length = length};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        nearest_offer(&nearest, words[i]);
    return nearest.word != NULL ? nearest.word : "";
}

int main(void) {
    CHECK_STR(meant("reprot", 0), "report"); /* two letters in each other's place */
    CHECK_STR(meant("recrod", 0), "record");
    CHECK_STR(meant("repor", 0), "report"); /* one is missing */
    CHECK_STR(meant("dif", 0), "diff");
    CHECK_STR(meant("difff", 0), "diff"); /* one too many */
    CHECK_STR(meant("docter", 0), "doctor");
    CHECK_STR(meant("doc", 0), "doctor"); /* it begins with it */
    CHECK_STR(meant("starts", 0), "start");
    CHECK_STR(meant("report=x", 6), "report");
    CHECK_STR(meant("perf", 0), "");
    CHECK_STR(meant("xy", 0), "");
    CHECK_STR(meant("t", 0), "");
    CHECK_STR(meant("", 0), "");
    CHECK_STR(meant("recordrecordrecordrecordrecordrecord", 0), "");
    return check_report();
}
