/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * loop.c - one poll() for all that can happen.
 */
#include "client/top/loop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curses.h>

#include "client/top/actions.h"
#include "client/top/keys.h"
#include "client/top/screen.h"
#include "common/base/options.h"

#define ESCAPE 27

/* How often the screen is drawn when nothing happens: it says how long an answer takes. */
#define IDLE_MS 1000

static volatile sig_atomic_t ending; /* the signal that ends us */
static int waker[2];                 /* its handler writes here, so that poll() returns */

static void on_end(int signal) {
    int saved = errno;
    ending = signal;
    if (write(waker[1], "", 1) < 0) {
        /* the pipe is full: poll() returns anyway */
    }
    errno = saved;
}

/* curses has its own handlers for the size of the terminal and for job control. */
static bool catch_signals(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action = {.sa_handler = on_end};
    if (pipe(waker) != 0)
        return false;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(signals); i++)
        sigaction(signals[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    return true;
}

static void press(struct top_ui *ui, int key) {
    top_action *action;
    if (key == KEY_RESIZE) {
        top_ui_refresh(ui);
    } else if (!ui->typing) {
        ui->message[0] = '\0';
        action = top_keys_action(key);
        if (action != NULL)
            action(ui);
        else
            top_ui_say(ui, "this key does nothing: ? lists those that do");
    } else if (key == '\n' || key == '\r' || key == KEY_ENTER) {
        top_type_done(ui, true);
    } else if (key == ESCAPE) {
        top_type_done(ui, false);
    } else if (key == KEY_BACKSPACE || key == 0x7f || key == '\b') {
        top_type_back(ui);
    } else if (key < 0x100) {
        top_type(ui, (char)key);
    }
}

static void take_answer(struct top_ui *ui) {
    struct top_response *response = top_client_take(ui->client);
    if (response != NULL)
        top_ui_take(ui, response);
    free(response);
}

static void run(struct top_ui *ui) {
    struct pollfd fds[] = {
        {.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = top_client_fd(ui->client), .events = POLLIN},
        {.fd = waker[0], .events = POLLIN},
    };
    while (!ui->quit && ending == 0) {
        int key;
        top_screen_draw(ui);
        if (poll(fds, HCCT_ARRAY_LEN(fds), IDLE_MS) < 0 && errno != EINTR)
            return;
        take_answer(ui);
        while (!ui->quit && (key = top_screen_key()) >= 0)
            press(ui, key);
        if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) /* the terminal is gone */
            return;
    }
}

int top_loop(const struct top_source *source, const struct top_start *start) {
    struct top_ui ui;
    if (!catch_signals()) {
        complain("no pipe can be made: %s", strerror(errno));
        return HCCT_EXIT_FAILURE;
    }
    if (!top_screen_begin(start->color)) {
        const char *term = getenv("TERM");
        complain("the terminal (TERM=%s) can't show a screen: use --batch for plain text",
                 term != NULL ? term : "");
        return HCCT_EXIT_USAGE;
    }
    atexit(top_screen_end);
    top_ui_begin(&ui, &start->request);
    ui.shape = start->shape;
    ui.client = top_client_start(source);
    if (ui.client == NULL) {
        int why = errno;
        top_screen_end();
        complain("no thread can be made: %s", strerror(why));
        top_ui_end(&ui);
        return HCCT_EXIT_FAILURE;
    }
    top_ui_ask(&ui);
    run(&ui);
    top_screen_end();
    top_client_stop(ui.client);
    top_ui_end(&ui);
    return ending == 0 || ending == SIGINT ? HCCT_EXIT_OK : 128 + ending;
}
