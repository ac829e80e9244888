/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * redirect.h - calls of programs that were built as usual: their call instructions lead to stubs,
 * which report the calls, while some thread's calls are followed.
 *
 *   choose.c     which modules are meant
 *   ready.c      modules become ready: what the daemon has said of each
 *   module_list.c  those that are redirected
 *   places.c     when their texts change places
 *   text_copy.c    a module's second text; how they change places
 *   renew.c        second texts that are written anew
 *   form.h         what its calls are led through: stubs, or slots (preload/encode/)
 *   stub_form.c    stubs of a module
 *   stub.c         the code in between: the one part that knows instructions
 *   opened.c     objects that come while the program runs
 *   gone.c       objects that go
 *   forked.c     a fork meanwhile
 *   lookup.c     what an address is to walks and unwinders
 *   enter.c      a call: who has made it, by what is known of the caller; the hot path
 *   found.c      the same where a walk has to tell
 *   price.c      what a report takes, by which bursts leave it out
 *
 * From there on a call is as one that the program reports itself (calls.h). There is no report of a
 * call's end: an open call is over when another one comes from where its return address was, or
 * from further out.
 *
 * How the caller is known: the call site's table says where its function's own return address is.
 * The open call whose return address is in that place, and still is what it was, is the caller. If
 * there is none, the function was entered by a call that is not redirected (through a pointer, from
 * another module, by the kernel): a walk goes on from there until it meets an open call.
 */
#ifndef HCCT_REDIRECT_H
#define HCCT_REDIRECT_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/calls/calls.h"

/* ---- choose.c ---- */

/* Decides whether there is anything to redirect in this program. Process context. */
void redirect_start(void);
/* There may be. Any context, after redirect_start. */
bool redirect_is_meant(void);
/* Whether the calls of an object at that path are asked for, of which `code` is an address. Any
 * context. */
bool redirect_means(const char *path, uint64_t code);

/* An object is about to come that may have a libgcc of its own, or another view of who defines
 * what: where that matters (encode/unwinder.h), calls of those that come from now on are left
 * alone. Any context. */
void redirect_opens_apart(void);
/* The same as redirect_means of the object that has that address. */
bool redirect_means_at(uint64_t code);

/* The agent calls functions of the object that begins there, which stands before libc with them (a
 * sanitizer, a program with a clock of its own): its calls are left alone. Any context. */
bool redirect_is_interposer(uint64_t start);

/* ---- ready.c ---- */

/* Waits until the daemon has said of each module that is loaded now where its calls are, as none is
 * to be missed. Process context, inside the session. */
void redirect_await(struct agent_thread *thread, struct wire_session *session);
/* Modules of which it has said so since the last time are made ready. One that was loaded meanwhile
 * is noticed when `pc` is in it; 0: no pc is known. False: of some it has not, or no slot is free,
 * and where there is none it does not. Any context, inside the session. */
bool redirect_read_sites(struct agent_thread *thread, struct wire_session *session, uint64_t pc);

/* ---- opened.c ---- */

/* Around dlopen, which takes note of its caller, so that nothing can be done at its end: an object
 * may be there from now on, of which nothing is known; and before what the program does with one
 * (dlsym, dlclose) it is learned of. `wait`: where each call is to be seen, not before its calls
 * are redirected. Thread context; errno stays. */
void redirect_opening(void);
void redirect_learn_opened(bool wait);
/* Since when such an object may have been there, as CLOCK_MONOTONIC has it; 0: there is none. Any
 * context. */
uint64_t redirect_missed_from(void);

/* ---- places.c ---- */

/* The thread's calls are followed from now on; and no longer. While there is one such thread, calls
 * are redirected; false: not yet, as another thread is changing places. Any context. */
bool redirect_use(struct calls *c);
void redirect_leave(struct calls *c);
/* The other thread is waited for. Thread context. */
void redirect_await_on(void);
/* Calls are redirected from now on, whoever is followed; or no longer. Any context. */
void redirect_hold(bool wanted);
/* The calling thread enters a call that can sleep, and has come back: meanwhile calls need not be
 * redirected for it. Its burst ends if they can't be at once. Thread context, our signal blocked.
 */
void redirect_doze(const struct agent_thread *thread);
void redirect_wake(struct agent_thread *thread);

/* The process is about to forbid itself system calls: the file's text is back for good, and comes
 * again if that was refused. Thread context. */
void redirect_suspend(void);
void redirect_resume(void);

/* ---- gone.c ---- */

/* The object of a module that had that number is still mapped. Any context. */
struct redirect_module;
bool redirect_is_there(const struct redirect_module *module, uint32_t number);
/* Around dlclose: nothing changes places, and what has gone is forgotten. Thread context. */
void redirect_closing(void);
void redirect_closed(void);

/* ---- forked.c ---- */

/* Around a fork, in the thread that calls it; the child has no other. Thread context. */
void redirect_before_fork(void);
void redirect_after_fork_parent(void);
void redirect_after_fork_child(void);

/* ---- renew.c ---- */

/* Other calls of the module with that stub are to be led through them from the next
 * redirect_renew() on, which does so when it has not cost too much of late. Any context. */
void redirect_write_anew(uint64_t stub);
void redirect_renew(void);

/* ---- lookup.c ---- */

/* Calls that return to that address are redirected. Any context. */
bool redirect_is_site(uint64_t address);
/* Stubs at that address, as a module with a rule for walks; false: there are none. Any context. */
bool redirect_find_stubs(uint64_t address, struct unwind_module *module);
bool redirect_is_stub(uint64_t address);
/* As the loader would answer if stubs were an object of their own. Any context. */
struct dl_find_object;
bool redirect_find_object(uint64_t address, struct dl_find_object *found);

/* What an address in the code that calls are led through is in the program's own text; any other is
 * itself. Between redirect_reads(true) and (false), where nothing of that code goes. Any context.
 */
uint64_t redirect_in_program(uint64_t address);
void redirect_reads(bool begins);
/* Where the file's code is that belongs at that address; any other is itself. As above. */
uint64_t redirect_in_file(uint64_t address);

/* ---- price.c ---- */

/* What a report takes. Process context, all signals blocked. */
struct price_usual redirect_price(void);

/* ---- found.c ---- */

/* What the thread needs for it, made once. False: no memory. Thread context. */
bool redirect_prepare(struct agent_thread *thread);
/* It is not locked in memory any more. Any context. */
void redirect_unlock(const struct agent_thread *thread);
/* A call that could not be named yet is sent. Thread context, no report under way. */
void redirect_flush(struct calls *c);

#endif
