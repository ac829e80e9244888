/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * render_child.c - order in, answer out.
 *
 * Whatever names and filters make the writers do: the process has few descriptors, of which one
 * can be written, so many seconds, so much memory, and no rights.
 */
#include "daemon/render/render_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/assemble/agent_frames.h"
#include "common/base/confine.h"
#include "common/base/memory.h"
#include "common/profile/diff.h"
#include "common/profile/filter.h"
#include "common/render/render_order.h"
#include "daemon/history/history_add.h"
#include "daemon/render/descriptors.h"

#define FIRST_FD 3

enum { BAD = 400, FAILED = 500 };

static void say(const struct render_message *message) {
    ssize_t n = send(FIRST_FD + RENDER_STATUS, message, sizeof *message, MSG_NOSIGNAL);
    (void)n; /* who does not hear it takes the answer for none */
}

static _Noreturn void refuse(unsigned status, const char *text) {
    struct render_message message = {.kind = RENDER_REFUSED, .status = status};
    snprintf(message.text, sizeof message.text, "%s", text);
    say(&message);
    _exit(EXIT_SUCCESS);
}

static void check_filter(const char *filter) {
    char text[RENDER_TEXT];
    if (filter != NULL && !filter_check(filter, text, sizeof text))
        refuse(BAD, text);
}

static FILE *open_file(enum render_descriptor which, const char *mode) {
    FILE *file = fdopen(FIRST_FD + (int)which, mode);
    if (file == NULL)
        memory_die("a renderer");
    return file;
}

/* `files`: how many descriptors there are beside those of each order. */
static struct profile *add_hours(const void *files, const struct render_order *order,
                                 struct profile *profile, const uint8_t *what, size_t bytes) {
    char text[RENDER_TEXT];
    int fds[RENDER_FILES_MAX];
    unsigned n = *(const unsigned *)files;
    bool errors = format_reads_errors(order->format, &order->options);
    for (unsigned i = 0; i < n; i++)
        fds[i] = FIRST_FD + RENDER_DESCRIPTORS + (int)i;
    profile = history_order_add(what, bytes, fds, n, profile, errors, text, sizeof text);
    if (profile == NULL)
        refuse(BAD, text);
    return profile;
}

/* The profile with its names as they are shown, and what the filters leave of it. */
static struct profile *prepare(struct profile *profile, const struct format_options *options) {
    profile = agent_frames_hide(profile);
    return options->focus != NULL || options->ignore != NULL
               ? profile_filter(profile, options->focus, options->ignore)
               : profile;
}

static bool write_diff(const struct render_order *order, FILE *out) {
    const struct diff_options options = {.by = order->options.by,
                                         .name = {DIFF_THE_REST, DIFF_THE_RANGE}};
    char text[RENDER_TEXT];
    struct diff diff;
    if (!diff_make(&diff, order->before, order->profile, &options, text, sizeof text))
        refuse(BAD, text);
    return order->format->write_diff(out, &diff, &order->options);
}

static void render(void *files) {
    char text[RENDER_TEXT];
    static struct render_order order; /* never freed: the kernel is faster */
    FILE *in = open_file(RENDER_ORDER, "r"), *out = open_file(RENDER_ANSWER, "w");
    const struct render_adder adder = {add_hours, files};
    if (!render_order_read_parts(in, &order, &adder))
        refuse(FAILED, "the renderer did not get a whole profile: ask again");
    check_filter(order.options.focus);
    check_filter(order.options.ignore);
    order.profile = prepare(order.profile, &order.options);
    if (order.before != NULL)
        order.before = prepare(order.before, &order.options);
    for (unsigned i = 0; i < order.n_others; i++)
        order.others[i] = agent_frames_hide(order.others[i]); /* the page is filtered as a whole */
    bool written = order.before != NULL ? write_diff(&order, out)
                                        : order.format->write(out, order.profile, &order.options);
    if (!written || fflush(out) != 0) {
        snprintf(text, sizeof text, "the answer could not be written: %s", strerror(errno));
        refuse(FAILED, text);
    }
    off_t bytes = lseek(fileno(out), 0, SEEK_CUR);
    struct render_message message = {.kind = RENDER_WHOLE,
                                     .bytes = bytes > 0 ? (uint64_t)bytes : 0};
    say(&message);
}

static _Noreturn void refuse_for_memory(const char *what) {
    char text[RENDER_TEXT];
    snprintf(
        text, sizeof text,
        "hcctd has no memory for %s: ask for less (n=, phi=, pid=), or give its renderers more "
        "(--render-memory)",
        what);
    refuse(FAILED, text);
}

/* Ends with the server, also when that ended before this was said. */
static void end_with(pid_t server) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != server)
        _exit(EXIT_FAILURE);
}

void render_child_run(const int *fds, unsigned n, pid_t server, unsigned seconds) {
    const char *what;
    unsigned files = n - RENDER_DESCRIPTORS;
    end_with(server);
    prctl(PR_SET_NAME, "hcctd-renderer");
    if (!descriptors_keep(fds, n, FIRST_FD))
        _exit(EXIT_FAILURE);
    confine_descriptors();
    confine_files(RENDER_ANSWER_MAX);
    confine_cpu(seconds);
    memory_keep();
    if (!memory_try(render, &files, &what))
        refuse_for_memory(what);
    _exit(EXIT_SUCCESS); /* the kernel gives all memory back at once */
}
