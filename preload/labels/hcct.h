/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * hcct.h - what a program says to the profiler hcct about itself: what its threads are at work for,
 * which moments are of note, and when it is to be sampled; and what it asks: in which context it
 * is. hcct.h(3) is its manual.
 *
 * The program links nothing. Where it runs without the agent, each call is a test of a pointer.
 * Any thread may call these functions; handlers of signals hcct_mark() and hcct_context() alone.
 */
#ifndef HCCT_H
#define HCCT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The agent's functions, null where it is not there. In a program at a fixed address (-no-pie) the
 * linker would take null for good, unless the address comes from the global offset table: noplt. */
#if defined(__clang__)
#define HCCT_OF_AGENT __attribute__((__weak__, __visibility__("default")))
#else
#define HCCT_OF_AGENT __attribute__((__weak__, __visibility__("default"), __noplt__))
#endif

extern void hcct_agent_label_set(const char *key, const char *value) HCCT_OF_AGENT;
extern void hcct_agent_label_clear(const char *key) HCCT_OF_AGENT;
extern void hcct_agent_mark(const char *name) HCCT_OF_AGENT;
extern uint64_t hcct_agent_context(void) HCCT_OF_AGENT;
extern void hcct_agent_start(void) HCCT_OF_AGENT;
extern void hcct_agent_stop(void) HCCT_OF_AGENT;

#undef HCCT_OF_AGENT

/* What the calling thread does from now on, it does for that value: its contexts begin with a frame
 * "key=value", in the place of an earlier value of the key. Both texts are copied. */
static __inline__ void hcct_label_set(const char *key, const char *value) {
    if (hcct_agent_label_set)
        hcct_agent_label_set(key, value);
}

/* The calling thread has no value for that key any more. */
static __inline__ void hcct_label_clear(const char *key) {
    if (hcct_agent_label_clear)
        hcct_agent_label_clear(key);
}

/* This moment is called that: a part of the past can be asked for by its name. Handlers of signals
 * may call this, too. */
static __inline__ void hcct_mark(const char *name) {
    if (hcct_agent_mark)
        hcct_agent_mark(name);
}

/* The calling context as a number, for a log line, an event or a span: 'hcct decode NUMBER' prints
 * its path. 0: there is none (no agent, no daemon, no room, or a frame that is not sure). A
 * handler of a signal may call this, too. Always inlined, so that it is the caller's context. */
static __inline__ __attribute__((__always_inline__)) uint64_t hcct_context(void) {
    return hcct_agent_context ? hcct_agent_context() : 0;
}

/* The process is sampled again. */
static __inline__ void hcct_start(void) {
    if (hcct_agent_start)
        hcct_agent_start();
}

/* The process is not sampled until hcct_start(). */
static __inline__ void hcct_stop(void) {
    if (hcct_agent_stop)
        hcct_agent_stop();
}

#ifdef __cplusplus
}
#endif

#endif
