/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * places.c - when the texts of redirected modules change places.
 *
 * What is wanted is one number: the threads whose calls are followed. A burst may begin only where
 * the texts are redirected: what a thread has found of its open calls holds as long as none of its
 * calls is missed.
 */
#include "preload/redirect/places.h"

#include <sys/syscall.h>
#include <time.h>

#include "preload/calls/hot.h"
#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/sys.h"
#include "preload/redirect/enter.h"
#include "preload/redirect/module_list.h"
#include "preload/redirect/redirect.h"
#include "preload/redirect/text_copy.h"
#include "preload/sample/ticker.h"

#define NAP_NS 200000l

static _Atomic uint32_t users;    /* threads whose calls are followed ... */
static _Atomic bool always;       /* ... and one more: redirect_hold */
static _Atomic uint32_t changing; /* one thread changes something */
static _Atomic bool all_on;       /* since the last change */
static _Atomic uint32_t closing;  /* threads in dlclose */
static _Atomic bool suspended;

void places_nap(void) {
    const struct timespec time = {0, NAP_NS};
    sys2(SYS_nanosleep, &time, NULL);
}

bool places_begin(void) {
    uint32_t nobody = 0;
    return atomic_compare_exchange_strong(&changing, &nobody, 1);
}

void places_end(void) {
    atomic_store(&changing, 0);
}

void places_keep(void) {
    atomic_fetch_add(&closing, 1);
}

void places_unkeep(void) {
    atomic_fetch_sub(&closing, 1);
}

uint32_t places_keepers(void) {
    return atomic_load(&closing);
}

static bool is_wanted(void) {
    return atomic_load(&users) != 0 && !atomic_load(&suspended);
}

static void switch_all(bool on) {
    for (struct redirect_module *m = module_list_next(NULL); m != NULL; m = module_list_next(m))
        text_copy_switch(m, on);
    atomic_store(&all_on, on);
}

void places_set(void) {
    switch_all(is_wanted());
}

static bool may_change(void) {
    return !module_list_is_empty() && !places_are_kept();
}

/* The texts are as is wanted, or another thread is about to see to it. */
void places_follow(void) {
    bool wanted;
    do {
        if (!may_change() || !places_begin())
            return;
        wanted = is_wanted();
        if (!places_are_kept())
            switch_all(wanted);
        places_end();
    } while (wanted != is_wanted());
}

/* Who changes something after this was asked finds the user who asked. */
static bool is_on(void) {
    return module_list_is_empty() || (atomic_load(&changing) == 0 && atomic_load(&all_on));
}

/* False: another thread is at it, and has perhaps been asked to wait for its processor. */
static bool add_user(void) {
    atomic_fetch_add(&users, 1);
    if (!is_on())
        places_follow();
    return is_on();
}

bool redirect_use(struct calls *c) {
    struct redirect_thread *r = c->redirect;
    if (r == NULL || atomic_exchange(&r->uses, true))
        return true;
    r->unnamed.word = NULL;
    return add_user();
}

void places_await(void) {
    for (int i = 0; i < PLACES_WAITS_FOR_OTHER && atomic_load(&changing) != 0; i++)
        places_nap();
}

void redirect_await_on(void) {
    if (is_on())
        return;
    places_await();
    places_follow();
}

void redirect_hold(bool wanted) {
    if (!redirect_is_meant() || atomic_exchange(&always, wanted) == wanted)
        return;
    if (wanted)
        atomic_fetch_add(&users, 1);
    else
        atomic_fetch_sub(&users, 1);
    places_follow();
}

void redirect_leave(struct calls *c) {
    struct redirect_thread *r = c->redirect;
    if (r == NULL || !atomic_exchange(&r->uses, false))
        return;
    if (r->unnamed.word != NULL)
        count_lost(c);
    r->unnamed.word = NULL;
    bool awake = !atomic_exchange(&r->dozes, false);
    if (atomic_fetch_sub(&users, awake) == awake && !confine_is_quiet())
        places_follow();
}

/* The texts stay as they are until another thread's burst ends: to change their places twice for
 * each short sleep would cost more than what others lose who run meanwhile. */
void redirect_doze(const struct agent_thread *thread) {
    struct redirect_thread *r = thread->redirect;
    if (r != NULL && atomic_load(&r->uses) && !atomic_exchange(&r->dozes, true))
        atomic_fetch_sub(&users, 1);
}

void redirect_wake(struct agent_thread *thread) {
    struct redirect_thread *r = thread->redirect;
    bool bursts = agent.settings.burst_length_ns != 0;
    if (r == NULL || !atomic_exchange(&r->dozes, false))
        return;
    uint64_t began_ns = bursts ? ticker_now(CLOCK_THREAD_CPUTIME_ID) : 0;
    bool on = add_user();
    calls_leave_out(thread->calls, began_ns);
    if (on)
        return;
    if (bursts)
        calls_burst_end(thread);
    else
        redirect_await_on();
}

void redirect_suspend(void) {
    atomic_store(&suspended, true);
    places_follow();
    if (!module_list_is_empty())
        places_await();
}

void redirect_resume(void) {
    atomic_store(&suspended, false);
    places_follow();
}

void places_after_fork_child(void) {
    atomic_store(&users, atomic_load(&always));
}
