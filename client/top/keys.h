/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * keys.h - which key does what: one table, for the keyboard and for the help.
 */
#ifndef HCCT_TOP_KEYS_H
#define HCCT_TOP_KEYS_H

#include <stdint.h>

struct top_ui;

/* What a key does to the ui. */
typedef void top_action(struct top_ui *ui);

/* The action of a key, as curses has it; NULL: it has none. */
top_action *top_keys_action(int key);

/* The help: lines of it, each as the keys and what they do. */
uint32_t top_keys_lines(void);
void top_keys_line(uint32_t i, const char **keys, const char **help);

#endif
