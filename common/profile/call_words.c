/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_words.c - tables of words.
 */
#include "common/profile/call_words.h"

#include <string.h>

static const struct {
    const char *key, *words;
} verdicts[CALLS_VERDICTS] = {
    [CALLS_UNSAID] = {"unsaid", "ended before its calls could be followed"},
    [CALLS_FOLLOWED] = {"followed", "can be followed"},
    [CALLS_OWN_HOOKS] = {"hooks", "reports its calls itself (-finstrument-functions)"},
    [CALLS_MACHINE] = {"machine", "only calls of x86-64 code can be followed"},
    [CALLS_STATIC] = {"static", "statically linked: the agent can't be in it"},
    [CALLS_GO] = {"go", "Go: its stacks are too small for the agent's code"},
    [CALLS_OCAML] = {"ocaml", "OCaml: its stacks are too small for the agent's code"},
    [CALLS_TEXT_RELOCATIONS] = {"textrel", "its code has relocations: the loader writes into it"},
    [CALLS_SEGMENTS] = {"segments", "its code is writable, or in several segments"},
    [CALLS_NO_ENTRIES] = {"no-entries", "no unwind entries say where its functions are"},
    [CALLS_NO_SITES] = {"no-sites", "no call that can be redirected"},
    [CALLS_UNREADABLE] = {"unreadable", "its file can't be read"},
    [CALLS_TEXT_DIFFERS] = {"differs", "its code in memory is not that of its file"},
    [CALLS_FAR] = {"far", "no room near it for the agent's code"},
    [CALLS_FORBIDDEN] = {"forbidden", "the program may not replace its code (seccomp, a policy)"},
    [CALLS_NO_MEMORY] = {"no-memory", "no memory for the agent's code"},
    [CALLS_TOO_MANY] = {"too-many", "128 other modules are followed, which is the most"},
    [CALLS_INTERPOSES] = {"interposes",
                          "it stands before functions of libc that the agent needs itself"},
    [CALLS_LIMITED] = {"limited", "its address space is limited (ulimit -v)"},
};

/* Of one, and of more. */
static const char *const reasons[CALL_LEFT_REASONS][2] = {
    [CALL_LEFT_INDIRECT] = {"indirect call", "indirect calls"},
    [CALL_LEFT_TAIL] = {"tail jump", "tail jumps"},
    [CALL_LEFT_TARGET] = {"to no function's beginning", "to no function's beginning"},
    [CALL_LEFT_NO_ENTRY] = {"byte of code without unwind entries",
                            "bytes of code without unwind entries"},
    [CALL_LEFT_CALLER] = {"to a function that takes note of its caller (setjmp, dlsym ...)",
                          "to functions that take note of their caller (setjmp, dlsym ...)"},
    [CALL_LEFT_UNDECODED] = {"in code that does not decode", "in code that does not decode"},
    [CALL_LEFT_RULE] = {"in a frame of no simple rule", "in frames of no simple rule"},
};

const char *call_verdict_key(enum calls_verdict verdict) {
    return verdicts[verdict].key;
}

enum calls_verdict call_verdict_of_key(const char *key, size_t length) {
    unsigned verdict = 0;
    while (verdict < CALLS_VERDICTS && (strlen(verdicts[verdict].key) != length ||
                                        memcmp(verdicts[verdict].key, key, length) != 0))
        verdict++;
    return (enum calls_verdict)verdict;
}

const char *call_verdict_words(enum calls_verdict verdict) {
    return verdicts[verdict].words;
}

const char *call_left_words(enum call_sites_left reason, uint64_t n) {
    return reasons[reason][n != 1];
}
