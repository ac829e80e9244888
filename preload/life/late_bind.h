/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * late_bind.h - a process that ran before the agent came calls its wrappers, too.
 *
 * Who is preloaded stands before libc as the loader fills the words by which objects call functions
 * (redirect/got.h). Later these words are changed: where one has the address of a function that the
 * agent exports a wrapper of, it has the wrapper's from then on, until the agent leaves. One that
 * the loader has not filled yet leads to the wrapper at once. Left out are the loader, libc, the
 * kernel's object and the agent itself, as none of them would meet a preloaded agent either;
 * what a program keeps in words of its own (a pointer to a function, what dlsym has found); and, of
 * a function that an object calls by a word for calls, one that is there for its address.
 *
 * Objects that are loaded later are found when the program looks a symbol up, and at ticks. No lock
 * of the loader's is taken: while it changes its list, and while an object is closed, nothing is
 * looked for.
 */
#ifndef HCCT_LATE_BIND_H
#define HCCT_LATE_BIND_H

#include <stdbool.h>
#include <stdint.h>

/* All objects that are there. False: some word can't be changed, or there is no memory; none is
 * then. Thread context, while no other thread is inside (confine_hold). */
bool late_bind_begin(void);

/* The words are as they were. False: an object is being closed by another thread at this moment;
 * they lead to wrappers still, which lead to libc where nobody is attached. As above. */
bool late_bind_end(void);

/* dlopen is about to be called; objects may have come, or gone, since. Any context. */
void late_bind_expect(void);
/* Looks for them, if there may be some. Any context in which system calls may be made for the
 * agent. */
void late_bind_search(void);
/* The same, in any case. */
void late_bind_search_all(void);

/* Whether it is code of the loader. Any context. */
bool late_bind_is_loader(uint64_t pc);

/* An object is about to be closed, which modules_closing() has said: who reads it now is waited
 * for. Thread context. */
void late_bind_await(void);

/* In a child of fork, where nobody else is. */
void late_bind_alone(void);

#endif
