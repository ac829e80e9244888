/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * inject_nowhere.c - on a machine whose signal frames and registers this program can't write yet.
 */
#include "client/attach/inject.h"

bool inject_is_possible_here(void) {
    return false;
}

enum injected inject(struct injection *injection) {
    (void)injection;
    return INJECT_NOT_HERE;
}
