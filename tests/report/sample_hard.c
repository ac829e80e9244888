/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sample_hard.c - a profile for the tests of readers: names that have broken tools, and shapes.
 *
 * Each name of the list has a weight of its own, by which a test finds it in what a reader says.
 */
#include "tests/report/sample.h"

#include <stdio.h>
#include <string.h>

#include "common/wire/compiler.h"

static const char *const names[] = {
    "say \"hello\" \\ bye",
    "a name with spaces 12",
    "semi;colon;s",
    "it's",
    "C:\\new\\Node\\",
    "<alloc::vec::Vec<[u8; 16]> as core::iter::Extend<T>>::extend",
    "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
    "operator()(int) const::{lambda(int)#1}",
    "bool operator<=><int>(int, int)",
    "std::vector<int, std::allocator<int> >::operator[](unsigned long)",
    "operator new[](unsigned long)",
    "T&& f<T&>(T&&)",
    "a&lt;b &amp; c",
    "(anonymous namespace)::f(int)",
    "(3) not a number",
    "#hash",
    "$dollar %s %d",
    "fn=(3)",
    "-5 7",
    "* 12",
    "+3 4 5",
    "calls=1 2",
    "f'2",
    "{ a -> b; }",
    "na\u00efve_gr\u00f6\u00dfe",
    "\u65e5\u672c\u8a9e\u306e\u95a2\u6570",
};

#define FIRST 1000u /* weight of names[0]; the next have one more each */

static void add_recursion(struct profile *profile, uint32_t process) {
    char frames[8192] = "main@my \"app\"; v2";
    for (int i = 0; i < 200; i++)
        strcat(frames, i % 3 == 0 ? "/descend:7" : i % 3 == 1 ? "/descend:9" : "/via");
    sample_add(profile, process, frames, 5000, 5);
    strcat(frames, "/bottom");
    sample_add(profile, process, frames, 7000, 0);
}

struct profile *sample_hard(void) {
    struct profile *profile = profile_new();
    struct profile_process first = {.exe = "/opt/my \"app\"; v2",
                                    .command = "my \"app\"; v2",
                                    .pid = 7,
                                    .runs = 1},
                           second = {.exe = "/opt/\\n", .command = "\\n", .runs = 3};
    uint32_t app, other;
    char frames[1024], name[481];

    profile->type = "cpu";
    profile->unit = "nanoseconds";
    profile->summary = profile_string(profile, "lazy-space-saving");
    profile->phi = 0.001;
    profile->epsilon = 0.0002;
    app = profile_add_process(profile, &first);
    other = profile_add_process(profile, &second);
    for (uint32_t i = 0; i < HCCT_ARRAY_LEN(names); i++) {
        snprintf(frames, sizeof frames, "main@my \"app\"; v2/%s", names[i]);
        sample_add(profile, app, frames, FIRST + i, i % 4);
    }
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    snprintf(frames, sizeof frames, "main@my \"app\"; v2/%s", name);
    sample_add(profile, app, frames, 2000, 0);
    sample_add(profile, app, "main@my \"app\"; v2//after nothing", 2001, 0);
    sample_add(profile, app, "main@my \"app\"; v2/twice/twice@libtwice.so/after twice", 2002, 0);
    sample_add(profile, app, "main@my \"app\"; v2/outer:3/inner:4+/innermost:5+/leaf", 2003, 1);
    sample_add(profile, app, "main@my \"app\"; v2/[~]", 2004, 100);
    sample_add(profile, other, "main@\\n/it's", 3000, 0);
    sample_add(profile, other, "[truncated]/main@\\n", 3001, 0);
    add_recursion(profile, app);
    return profile;
}
