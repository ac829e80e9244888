/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_choice_test.c - which modules' calls are followed, by patterns and without.
 */
#include "common/wire/call_choice.h"

#include "common/wire/compiler.h"
#include "tests/check.h"

static void test_patterns(void) {
    static const struct {
        const char *patterns, *path;
        bool chosen;
    } cases[] = {
        {"app", "/usr/bin/app", true},
        {"app", "/usr/bin/apps", false},
        {"app", "/usr/app/bin", false},
        {"app", "app", true},
        {"lib*.so", "/lib/libx.so", true},
        {"lib*.so", "/lib/libx.so.1", false},
        {"lib*.so*", "/lib/libx.so.1", true},
        {"lib?.so", "/lib/libx.so", true},
        {"lib?.so", "/lib/lib.so", false},
        {"*", "/lib/libc.so.6", true},
        {"*a*b", "/xaxxbab", true},
        {"*a*b", "/xaxxbac", false},
        {"ap,libz*", "/lib/libz.so.1", true},
        {",,ap,", "/bin/ap", true},
        {",,ap,", "/bin/", false},
        {"ap,libz*", "/bin/app", false},
        {"/lib/*", "/lib/x86/libc.so.6", true},
        {"/lib/*,app", "/usr/lib/libc.so.6", false},
        {"*/lib/*", "/usr/lib/libc.so.6", true},
    };
    for (size_t i = 0; i < HCCT_ARRAY_LEN(cases); i++)
        if (call_choice(cases[i].patterns, cases[i].path) != cases[i].chosen) {
            fprintf(stderr, "'%s' and %s\n", cases[i].patterns, cases[i].path);
            CHECK(!"as it should be");
        }
}

static void test_without(void) {
    static const char *const ours[] = {"/usr/bin/app", "/lib/libz.so.1", "/lib/libcrypto.so.3",
                                       "/lib/libmagic.so.1", "/lib/libstdc.so"};
    static const char *const others[] = {"/lib/libc.so.6",      "/lib64/ld-linux-x86-64.so.2",
                                         "/usr/lib/libm.so.6",  "/lib/libgcc_s.so.1",
                                         "/lib/libstdc++.so.6", "/lib/libasan.so.8",
                                         "linux-vdso.so.1",     "/opt/lib/libhcctagent.so"};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(ours); i++)
        CHECK(call_choice(NULL, ours[i]) && call_choice("", ours[i]));
    for (size_t i = 0; i < HCCT_ARRAY_LEN(others); i++)
        CHECK(!call_choice(NULL, others[i]) && !call_choice("", others[i]));
}

int main(void) {
    test_patterns();
    test_without();
    return check_report();
}
