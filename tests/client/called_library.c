/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * called_library.c - a library whose calls can be counted.
 */
int called_library(void);

int called_library(void) {
    return 0;
}
