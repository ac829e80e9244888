/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * command_line.h - what was executed, as a title that can be read, printed and typed again.
 */
#ifndef HCCT_COMMAND_LINE_H
#define HCCT_COMMAND_LINE_H

#define COMMAND_LINE_MAX 1000 /* bytes of a title; an argument has a fifth of it at most */

/* The arguments with a space between them, each quoted where a shell (bash, zsh) needs it, so that
 * no control character, nor one that turns the direction of text or is invisible, is in it, and all
 * of it is UTF-8. Of long arguments the middle is left out, and what does not fit in the end: "..."
 * stands there. argv ends with NULL. free() gives it back; NULL: no memory. */
char *command_line_title(char *const argv[]);

#endif
