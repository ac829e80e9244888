/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * counters.h - what is counted of a process, one line for each number.
 *
 * From these lists come the agent's numbers (wire.h), the daemon's sums of them, what a checkpoint
 * keeps and a list of processes tells (daemon/), and the members of a profile's process with their
 * names in JSON, comments and traces (common/profile/profile.h). So a new number is a line here and
 * the place where it is counted. It raises WIRE_VERSION if the agent counts it.
 *
 * The order is that of the reports. A list is expanded by macros that take what it has of each
 * number, and leave out what they do not need.
 */
#ifndef HCCT_COUNTERS_H
#define HCCT_COUNTERS_H

/* What a number does in the difference of two profiles of one process:
 *   GROWS  it has what came between the two
 *   SUM    it has what there is in all, at the end */

/* Of samples and calls, since a thread began.
 *   SHOWN(NAME, place, member, GROWS or SUM)  the agent counts it as WIRE_NAME; reports have it
 *   HIDDEN(NAME, place)                       the same, but no report has it
 *   DAEMON(member, "name", GROWS or SUM)      only the daemon knows it; the name is that in reports
 * The place is that among the counters of a slot, by which checkpoints know it, too: no two have
 * ever the same. */
#define THREAD_COUNTERS(SHOWN, HIDDEN, DAEMON)                                                     \
    SHOWN(SEEN_NS, 28, seen_ns, GROWS)     /* CPU time within bursts of calls ... */               \
    SHOWN(STANDS_NS, 33, stands_ns, GROWS) /* ... by what each stands for ... */                   \
    DAEMON(cpu_burst_ns, "cpu_burst_ns",                                                           \
           GROWS)                    /* ... and in all; of both, the program's own ... */          \
    SHOWN(OWN_NS, 32, own_ns, GROWS) /* ... without what the agent has taken */                    \
    SHOWN(COST_NS, 35, cost_ns,                                                                    \
          GROWS) /* under a budget: CPU time of the program's threads for reports and ticks ... */ \
    DAEMON(reading_ns, "reading_ns", GROWS) /* ... and that of hcctd to read them */               \
    SHOWN(WAITS, 24, waits, GROWS)          /* calls that had to wait for room in the ring */      \
    SHOWN(JUMPED, 25, jumped, GROWS) /* frames left without a return: longjmp, a stack given up */ \
    SHOWN(STRAY, 26, stray, GROWS)   /* returns of calls that were not seen */                     \
    SHOWN(WALKS, 0, walks, GROWS)    /* samples that were sent as contexts */                      \
    SHOWN(COMPLETE, 1, complete, GROWS)   /* of these, samples that reached the outermost frame */ \
    SHOWN(TRUNCATED, 2, truncated, GROWS) /* deeper than the frame limit */                        \
    SHOWN(NO_MODULE, 3, no_module, GROWS) /* ended in code of no known module (generated code) */  \
    SHOWN(NO_RULE, 4, no_rule, GROWS)     /* ended where no unwind rule is known */                \
    SHOWN(BAD_STACK, 5, bad_stack, GROWS) /* at a stack pointer or return address that can't be */ \
    DAEMON(short_copy, "short_copy", GROWS) /* raw stacks that went on above the copy */           \
    DAEMON(deferred, "shipped", GROWS)      /* of the samples, those that the daemon unwound */    \
    DAEMON(refused, "refused", GROWS)       /* of these, those that could not even begin */        \
    SHOWN(LOST, 7, lost, GROWS)             /* samples without room in the ring ... */             \
    SHOWN(LOST_NS, 31, lost_ns, GROWS)      /* ... and what they would have been credited with */  \
    SHOWN(SKIPPED, 30, skipped, GROWS)      /* not taken, as walks take long: others weigh more */ \
    SHOWN(HANDLER_NS, 9, handler_ns,                                                               \
          GROWS) /* CPU time inside the signal handler, and on the way there from a timer */       \
    SHOWN(FRAMES, 11, frames, GROWS)     /* frames of all samples */                               \
    SHOWN(STEPPED, 12, stepped, GROWS)   /* of these, found by unwind rule or frame pointer */     \
    SHOWN(CACHED, 13, cached, GROWS)     /* found among earlier steps, and verified */             \
    SHOWN(BY_FP, 14, by_fp, GROWS)       /* without unwind data, found by frame pointer ... */     \
    SHOWN(SEARCHED, 29, searched, GROWS) /* ... and by a search of the stack */                    \
    SHOWN(PYTHON_FRAMES, 36, python_frames, GROWS) /* of all frames, functions of Python */        \
    SHOWN(PYTHON_MISSED, 37, python_missed, GROWS) /* samples: some could not be read */           \
    SHOWN(BURSTS, 15, bursts, GROWS)               /* bursts begun */                              \
    SHOWN(ASLEEP, 16, asleep, GROWS)       /* samples of a thread in a system call (wall clock) */ \
    SHOWN(RESTARTED, 17, restarted, GROWS) /* system calls restarted after our signal */           \
    SHOWN(INTERRUPTED, 43, interrupted,                                                            \
          GROWS) /* ... and those that it has ended with EINTR for all to see */                   \
    SHOWN(CHECKED, 18, checked, GROWS) /* stacks walked twice: memoized, in full (HCCT_CHECK) */   \
    SHOWN(DIFFERENT, 19, different, GROWS) /* of these, stacks that differ: must stay 0 */         \
    SHOWN(ENCODED, 38, encoded, GROWS) /* contexts found by the open calls that were kept ... */   \
    SHOWN(ENCODED_FRAMES, 39, encoded_frames, GROWS) /* ... and frames of these by no walk */      \
    SHOWN(ENCODE_UNKEPT, 40, encode_unkept, GROWS)   /* found by a walk: no calls are kept ... */  \
    SHOWN(ENCODE_FOREIGN, 41, encode_foreign, GROWS) /* ... the thread is on another stack ... */  \
    SHOWN(ENCODE_RULE, 42, encode_rule, GROWS) /* ... or no simple rule leads to an open call */   \
    SHOWN(IDENTIFIERS, 20, identifiers, SUM)   /* (pc, stack height) pairs seen (HCCT_CHECK) */    \
    SHOWN(AMBIGUOUS, 21, ambiguous, SUM)     /* of these, pairs that stood for several contexts */ \
    SHOWN(RECURRED, 22, recurred, GROWS)     /* samples whose pair had been seen before */         \
    SHOWN(IDENTIFIED, 23, identified, GROWS) /* of these, samples with its last one's context */   \
    HIDDEN(RAW_STACKS, 6)                    /* samples sent as copies of the stack (RAW_STACK) */ \
    HIDDEN(EXPIRIES, 8)                      /* expiries of the timer, overruns included */        \
    HIDDEN(CREDITED_NS, 10)                  /* time credited to contexts */                       \
    HIDDEN(UNSEEN_NS, 27)                    /* CPU time between bursts of calls */                \
    HIDDEN(PAIRS, 34) /* of bursts of calls that stand for k: k (k - 1) (burst_sums.h) */

/* Of a process, since it began: X(member, AGENT or DAEMON, SHOWN or HIDDEN, name, type). The agent
 * counts it in the session's memory, or the daemon does; reports have it (GROWN: in the
 * difference of two profiles what came between them), or not; the name is that
 * in the list of processes, "" where it is not there. In the session's memory the signal in use
 * stands between the first and the later ones. */
#define FIRST_PROCESS_COUNTERS(X)                                                                  \
    X(slots_missing, AGENT, HIDDEN, "threads_without_slot",                                        \
      uint32_t) /* threads that found no slot */                                                   \
    X(slots_refused, DAEMON, HIDDEN, "slots_refused",                                              \
      uint32_t)                                     /* asked for by agents, and not given */       \
    X(rate_changes, DAEMON, SHOWN, "", uint32_t)    /* of rate or bursts, while it ran */          \
    X(modules_missing, AGENT, HIDDEN, "", uint32_t) /* that found no room */                       \
    X(timers_missing, AGENT, HIDDEN, "threads_without_timer", uint32_t) /* (RLIMIT_SIGPENDING) */

#define LATER_PROCESS_COUNTERS(X)                                                                  \
    /* threads that got no second timer for a rate above HZ */                                     \
    X(fine_refused, AGENT, SHOWN, "threads_without_fine_timer", uint32_t)                          \
    /* threads that forbade themselves system calls (seccomp) */                                   \
    X(confined, AGENT, SHOWN, "threads_confined", uint32_t)                                        \
    /* threads on whose stack a signal of the agent had no room ... */                             \
    X(no_room, AGENT, SHOWN, "threads_without_room", uint32_t)                                     \
    /* ... and their CPU time, as far as it is known */                                            \
    X(no_room_ns, AGENT, GROWN, "without_room_ns", uint64_t)                                       \
    /* labels that were set and had no place: "[other]", or none at all */                         \
    X(labels_other, AGENT, GROWN, "labels_other", uint64_t)                                        \
    /* labels that were set by a key that can be none */                                           \
    X(labels_invalid, AGENT, GROWN, "labels_invalid", uint64_t)                                    \
    /* of numbers of contexts that the program has asked for (hcct.h): those that took a walk ...  \
     */                                                                                            \
    X(numbers_walked, AGENT, GROWN, "", uint64_t)                                                  \
    /* ... and those that it did not get: the walk was not sure, or there was no room */           \
    X(numbers_unsure, AGENT, GROWN, "", uint64_t)                                                  \
    X(numbers_full, AGENT, GROWN, "", uint64_t)                                                    \
    /* children of fork, of which some have called exec since ... */                               \
    X(forked, AGENT, GROWN, "", uint32_t)                                                          \
    /* ... and those that have attached before */                                                  \
    X(children, DAEMON, GROWN, "", uint32_t)                                                       \
    /* processes that have registered generated code for debuggers, which hcctd may not read */    \
    X(generated_refused, DAEMON, SHOWN, "generated_refused", uint32_t)                             \
    /* marks that were set without a session; hcctd adds those that came faster than it reads */   \
    X(marks_lost, AGENT, GROWN, "marks_lost", uint64_t)                                            \
    /* CPU time of the process before the agent began: exec, the dynamic loader ... */             \
    X(start_ns, AGENT, SHOWN, "start_ns", uint64_t)                                                \
    /* ... and in which it was not to be sampled: there was no hcctd, or it was paused */          \
    X(unasked_ns, AGENT, GROWN, "unasked_ns", uint64_t)

#define PROCESS_COUNTERS(X) FIRST_PROCESS_COUNTERS(X) LATER_PROCESS_COUNTERS(X)

/* Of a process, as a new hcctd went on from a checkpoint: X(member, type). Reports have them. */
#define RESTART_COUNTERS(X)                                                                        \
    X(restarts, uint32_t)                                                                          \
    X(gap_ns, uint64_t)     /* CPU time after the checkpoint that nobody saw: in no context */     \
    X(unfinished, uint32_t) /* processes that ended meanwhile: their last part is missing */       \
    X(gap_children_ns, uint64_t) /* as gap_ns, of children that began and ended meanwhile */

#define NO_COUNTER(...) /* for the kinds that an expansion leaves out */

#endif
