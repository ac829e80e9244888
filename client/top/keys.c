/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * keys.c - the table.
 */
#include "client/top/keys.h"

#include <curses.h>
#include <stddef.h>

#include "client/top/actions.h"
#include "common/wire/compiler.h"

#define CONTROL(letter) ((letter)&0x1f)
#define ESCAPE          27

static const struct key {
    int key[3];       /* 0: no more */
    const char *keys; /* as the help names them; NULL: not in the help */
    top_action *action;
    const char *help;
} keys[] = {
    {{KEY_UP, 'k', CONTROL('p')}, "up, k", top_do_up, "one row up"},
    {{KEY_DOWN, 'j', CONTROL('n')}, "down, j", top_do_down, "one row down"},
    {{KEY_PPAGE, CONTROL('b')}, "page up", top_do_page_up, "one page up"},
    {{KEY_NPAGE, CONTROL('f')}, "page down", top_do_page_down, "one page down"},
    {{KEY_HOME, 'g'}, "home, g", top_do_home, "the first row"},
    {{KEY_END, 'G'}, "end, G", top_do_end, "the last row"},
    {{'\n', '\r', KEY_ENTER}, "Enter, space", top_do_enter, "fold or unfold the row"},
    {{' '}, NULL, top_do_enter, NULL},
    {{KEY_RIGHT, 'l'}, "right, l", top_do_in, "unfold; then to the first one below"},
    {{KEY_LEFT, 'h'}, "left, h", top_do_out, "fold; then to the one above"},
    {{'e'}, "e", top_do_open_all, "unfold all"},
    {{'c'}, "c", top_do_close_all, "fold all"},
    {{'0'}, "0", top_do_open_hot, "as at the start: unfold what has 1 % or more"},
    {{'/'}, "/", top_do_search, "search functions and modules (capitals in it must match)"},
    {{'n'}, "n", top_do_next, "next match"},
    {{'N'}, "N", top_do_previous, "match before"},
    {{'o'}, "o", top_do_only, "only paths with a match, or all again"},
    {{'s'}, "s", top_do_sort, "sort by the next column (the one with the *)"},
    {{'i'}, "i", top_do_invert, "callers below callees, or the other way round again"},
    {{'f'}, "f", top_do_functions, "a flat list of functions, or the tree again"},
    {{'b'}, "b", top_do_by, "group by function, site, line or module"},
    {{'M'}, "M", top_do_metric, "the next metric, where processes count different things"},
    {{'x'}, "x", top_do_drop, "drop contexts that have the row's function"},
    {{'X'}, "X", top_do_merge, "merge the row's function into its callers"},
    {{'r'}, "r", top_do_root, "begin contexts at the row's function"},
    {{'K'}, "K", top_do_collapse, "collapse the row's module into one frame"},
    {{'E'}, "E", top_do_recursion, "collapse recursion"},
    {{'u'}, "u", top_do_undo, "take back the last of x X r K E"},
    {{'t'}, "t", top_do_threads, "threads"},
    {{'P'}, "P", top_do_processes, "choose a process"},
    {{'W', ']'}, "W, ]", top_do_window_longer, "beside the start: the last 10 s, 60 s, 5 min, 1 h"},
    {{'['}, "[", top_do_window_shorter, "the same, backwards"},
    {{',', KEY_SLEFT},
     ", .",
     top_do_earlier,
     "choose in the time line: one cell earlier, or later"},
    {{'.', KEY_SRIGHT}, NULL, top_do_later, NULL},
    {{'>'}, "> <", top_do_longer, "the chosen range longer, or shorter, by a cell"},
    {{'<'}, NULL, top_do_shorter, NULL},
    {{'m'}, "m", top_do_mark, "mark: keep the profile as it is now"},
    {{'d'}, "d", top_do_change, "the change since the mark, beside the start"},
    {{'p'}, "p", top_do_pause, "pause, or continue"},
    {{'w'}, "w", top_do_write, "write what is shown to a file (.pb.gz)"},
    {{'+', '='}, "+", top_do_slower, "refresh less often"},
    {{'-'}, "-", top_do_faster, "refresh more often"},
    {{'?', KEY_F(1)}, "?", top_do_help, "this help"},
    {{ESCAPE}, "Esc", top_do_back, "back to the tree; there: forget the search"},
    {{'q', 'Q'}, "q", top_do_quit, "quit"},
};

top_action *top_keys_action(int key) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(keys); i++)
        for (size_t k = 0; k < HCCT_ARRAY_LEN(keys[i].key) && keys[i].key[k] != 0; k++)
            if (keys[i].key[k] == key)
                return keys[i].action;
    return NULL;
}

uint32_t top_keys_lines(void) {
    uint32_t n = 0;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(keys); i++)
        n += keys[i].keys != NULL;
    return n;
}

void top_keys_line(uint32_t line, const char **names, const char **help) {
    size_t i = 0;
    for (;; i++)
        if (keys[i].keys != NULL && line-- == 0)
            break;
    *names = keys[i].keys;
    *help = keys[i].help;
}
