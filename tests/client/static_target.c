/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * static_target.c - does nothing: statically linked, so that no agent can come into it, with calls
 * that can be counted, or without any.
 */
int main(void) {
    return 0;
}
