/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * bare.c - calls of code as people write it by hand, without any unwind data (bare_x86_64.c,
 * bare_aarch64.c): its callers are found by its instructions alone.
 */
#include <alloca.h>

void bare_shapes(void);
int bare_work(int n);
typedef int callback(int n);

int bare_leaf(int n, callback *fn), bare_pushes(int n, callback *fn),
    bare_aligned(int n, callback *fn), bare_kept(int n, callback *fn),
    bare_framed(int n, callback *fn), bare_tail(int n, callback *fn),
    bare_tail_far(int n, callback *fn), bare_calls(int n, callback *fn),
    bare_shuffles(int n, callback *fn);

static volatile int sink;

int bare_work(int n) {
    sink = sink + n;
    return n / 3;
}

static int (*const shapes[])(int, callback *) = {
    bare_leaf, bare_pushes,   bare_aligned, bare_kept,     bare_framed,
    bare_tail, bare_tail_far, bare_calls,   bare_shuffles,
};

/* Its frame goes by the frame pointer, which such code has to give back. */
__attribute__((noinline, noclone)) static int by_frame_pointer(int n) {
    char *room = alloca((unsigned)(n % 7 + 1) * 16);
    room[0] = (char)n;
    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        sink = sink + shapes[i](n + room[0], bare_work);
    return room[0];
}

void bare_shapes(void) {
    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        sink = sink + shapes[i]((int)i, i % 2 != 0 ? by_frame_pointer : bare_work);
}
