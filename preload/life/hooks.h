/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * hooks.h - what lower parts of the agent need of upper ones, which they do not know.
 *
 * One table, which start.c has. It is constant: the handler calls what it says.
 */
#ifndef HCCT_HOOKS_H
#define HCCT_HOOKS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct agent_thread;
struct calls;
struct unwind_module;
struct wire_session;

struct agent_hooks {
    /* Starts the agent, once. Process context. */
    void (*start)(void);
    /* Some thread may write to the memory of that session unasked (calls_use). Any context. */
    bool (*sends_to)(const struct wire_session *session);
    /* The handler of our signal. */
    void (*handle)(int number, siginfo_t *info, void *uc);
    /* signal_check_again (handler.h). */
    void (*check_signal)(void);
    /* redirect_means, redirect_find_stubs (redirect.h). Any context. */
    bool (*wants_sites)(const char *path, uint64_t code);
    bool (*find_stubs)(uint64_t address, struct unwind_module *module);
    /* call_burst_go_on (calls/call_burst.h). */
    bool (*goes_on)(struct calls *calls);
    /* redirect_doze, redirect_wake. */
    void (*doze)(const struct agent_thread *thread);
    void (*wake)(struct agent_thread *thread);
    /* redirect_missed_from. Any context. */
    uint64_t (*missed_from)(void);
    /* The library was loaded into a process that ran already (late.h): threads are found when they
     * are there, and the agent comes and goes. */
    bool late;
    /* A tick of `owner`'s timer has come to a thread that is not known as `owner`, where it has
     * interrupted `uc`: the calling thread's context, NULL: it is none of ours, or not yet. Signal
     * context. */
    struct agent_thread *(*adopt)(struct agent_thread *owner, const ucontext_t *uc);
    /* The calling thread, which is not known, or has had no tick yet, is about to make a call that
     * can sleep: its context from now on; NULL: it has none. NULL: all are known. Thread context.
     */
    struct agent_thread *(*meet)(void);
    /* The same where an event is to be sampled, which needs no timer: also a thread that blocks our
     * signal. */
    struct agent_thread *(*meet_at_event)(void);
    /* The last tick of a thread that is left; NULL: there is none. Signal context. */
    void (*last_tick)(struct agent_thread *thread);
    /* After a tick; NULL: there is nothing to do. Signal context. */
    void (*after_tick)(struct agent_thread *thread);
    /* The program opens an object, or looks for what it has opened or closed; it is about to close
     * one. NULL: there is nothing to do. Thread context. */
    void (*opening)(void);
    void (*opened)(void);
    void (*closing)(void);
};

extern const struct agent_hooks agent_hooks __attribute__((visibility("hidden")));

#endif
