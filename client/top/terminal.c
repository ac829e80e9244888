/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * terminal.c - apart from the rest, as <term.h> makes macros of many good names.
 */
#include "client/top/terminal.h"

#include <curses.h>
#include <term.h>
#include <unistd.h>

bool top_terminal_is_screen(void) {
    int found;
    if (setupterm(NULL, STDOUT_FILENO, &found) != OK)
        return false;
    const char *move = tigetstr("cup");
    bool is_screen = move != NULL && move != (char *)-1;
    del_curterm(cur_term);
    return is_screen;
}
