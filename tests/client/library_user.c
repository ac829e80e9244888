/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * library_user.c - a program whose own calls can't be counted, but those of its library can.
 */
int called_library(void);

int main(void) {
    return called_library();
}
