/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * lookup.h - who asks what an address is (redirect_reads). Private to this room.
 */
#ifndef HCCT_REDIRECT_LOOKUP_H
#define HCCT_REDIRECT_LOOKUP_H

/* Waits until nobody is between redirect_reads(true) and (false) who might still look at a module
 * that is in the list no more. Thread context. */
void lookup_await_readers(void);
/* In a child of fork: the parent's readers are not here. */
void lookup_forget_readers(void);

#endif
