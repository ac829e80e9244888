/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * screen.h - the ui on a terminal, by curses.
 *
 * One thread. Between begin and end nothing else may write to the terminal.
 */
#ifndef HCCT_TOP_SCREEN_H
#define HCCT_TOP_SCREEN_H

#include "client/top/ui.h"

/* Takes the terminal over. False: it can't be used for this, and nothing has happened to it. */
bool top_screen_begin(bool color);
/* Gives it back as it was; does nothing when it has been given back. */
void top_screen_end(void);

/* Draws all of it, and sets ui->page. */
void top_screen_draw(struct top_ui *ui);

/* The next key, -1: none is there. The terminal's size is looked after on the way. */
int top_screen_key(void);

#endif
