/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * profile.h - the neutral profile: what every reader fills and every writer prints.
 *
 * A forest of contexts, one tree for each process (or executable), whose weights add up to N.
 *
 * Weights are certain: a context has its count at least. What is known of contexts that are not
 * kept stands where it is known to belong: below the deepest caller that is kept, in a frame
 * PROFILE_PRUNED for the frames that nobody knows, and below that in the function that was at work:
 *
 *   main > f > [~] > g     g was called, directly or not, by f; f's callers are known
 *   main > f > [~]         f called something; not even that function is known
 *
 * So self weights of functions are exact but for the second kind, and what a context can weigh
 * beyond its count stands in PROFILE_PRUNED frames of its callers: bounds.h.
 *
 * Tables (strings, modules, functions, locations) are shared by index; index 0 of each is "none".
 * A profile is owned by one thread. The profile owns all its strings, which are valid UTF-8.
 * Functions that add return the index of the new or the equal existing entry; running out of memory
 * ends the program (these are the reporting side's data, never the ingest's), by memory_die().
 * Trees may be deep: nothing here calls itself.
 */
#ifndef HCCT_PROFILE_H
#define HCCT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/share_class.h"
#include "common/wire/counters.h"

struct profile_module {
    const char *path;      /* never NULL */
    const char *build_id;  /* hex; "" when there is none */
    uint64_t start, limit; /* addresses that its locations may have, in the file's own numbering */
};

struct profile_function {
    const char *name;        /* for people: demangled */
    const char *system_name; /* as in the symbol table */
    const char *file;        /* "" when not known */
    uint32_t start_line;     /* 0: not known */
};

struct profile_line {
    uint32_t function;
    uint32_t line; /* 0: not known */
};

/* A place in the code. */
struct profile_location {
    uint32_t module;  /* 0: none (a pseudo-frame, generated code) */
    uint64_t address; /* in the file's numbering; for a call site, the return address minus 1 */
    uint64_t routine; /* entry of the function that it belongs to, where that was reported (calls):
                       * by its address alone it may be another's, into which this one was inlined.
                       * 0: go by the address */
    bool is_entry;    /* the routine as a whole: its line is not known, only its function */
    float effect, self_effect; /* design effects (chance.h) of the inclusive and the self weight of
                                * its function; 0: not known. No part of what identifies it */
    uint32_t n_lines; /* >= 1 once symbolized: lines[0] innermost inlined, last the real function */
    struct profile_line *lines;
};

/* A calling context: the path of nodes up to a root. Roots have parent 0 and stand for a process:
 * their location is 0, and `process` says which. */
struct profile_node {
    uint32_t parent;
    uint32_t location;
    uint32_t process; /* of the root above */
    uint64_t count;   /* certain weight of this very context: count <= true <= count + error */
    uint64_t error;
    uint64_t counter_error; /* the part of it that the tree's own counters tell: count +
                             * counter_error decides what is hot, as in the articles */
    uint64_t outside;       /* `bounded` profiles: what may belong below it and is elsewhere */
    bool inlined; /* by profile_group: the compiler inlined this frame wherever it stands here */
};

/* What is certain of a function (or line, site, module: of what stands at one location of a grouped
 * profile), and the most that can be true. Recursion counts once. */
struct profile_flat {
    uint64_t self, self_upper;
    uint64_t inclusive, upper;
};

/* What one process (or all processes of one executable) contributed. Weights in the unit of the
 * profile. */
struct profile_process {
    const char *exe;     /* path of the executable */
    const char *command; /* name for people: by which it was executed (a link, a script), else the
                          * last part of exe */
    const char *tags;    /* what the user calls it, KEY=VALUE,KEY=VALUE (common/wire/tags.h) */
    uint32_t pid;        /* 0: several processes merged */
    uint32_t runs;       /* processes merged, 1 for one */
    bool live;
    uint64_t total;    /* N of this process */
    uint64_t cpu_ns;   /* CPU time that its threads reported, 0: not known */
    const char *clock; /* what triggered its samples: "cpu", "wall", "off"; "" when not known */
    uint64_t burst_length_ns, burst_period_ns; /* 0, 0: uniform sampling */
    const char *collector;                     /* "walks", "calls"; "" when not known */
    bool lines;      /* walks: self weights stand at places in code, not at routines as a whole */
    uint64_t every;  /* calls: one of so many is counted (0 or 1: all) ... */
    bool every_each; /* ... of each routine, not of all together */
    uint64_t budget_ppm;      /* calls: what profiling may cost, by CPU time; 0: no matter */
    const char *credit;       /* calls: "last" or "new" edges gain; "" when not known */
    const char *call_modules; /* calls: those that are followed, or not (call_modules.h) */
    /* as counters.h says; those of samples have what the daemon unwound, too */
#define DECLARE_AGENT(NAME, place, member, ...) uint64_t member;
#define DECLARE_DAEMON(member, ...)             uint64_t member;
    THREAD_COUNTERS(DECLARE_AGENT, NO_COUNTER, DECLARE_DAEMON)
#undef DECLARE_DAEMON
#undef DECLARE_AGENT
    /* Of samples, or bursts of calls: sums of their weights and of squares, in one unit of their
     * own, for the effective sample size; 0: not known. */
    uint64_t drawn, drawn_squares;
    /* The same, by class of share: what the weights of contexts varied by, squared, and what they
     * would have, were all samples independent. 0: not known. */
    uint64_t varied[SHARE_CLASSES], independent[SHARE_CLASSES];
    uint64_t varied_total; /* what the weight of all varied by, in the same unit */
#define DECLARE_SHOWN(member) uint64_t member;
#define DECLARE_GROWN(member) DECLARE_SHOWN(member)
#define DECLARE_HIDDEN(member)
#define DECLARE(member, by, shown, ...) DECLARE_##shown(member)
    PROCESS_COUNTERS(DECLARE)
#undef DECLARE
#undef DECLARE_HIDDEN
#undef DECLARE_GROWN
#define DECLARE(member, type) DECLARE_SHOWN(member)
    RESTART_COUNTERS(DECLARE)
#undef DECLARE
#undef DECLARE_SHOWN
    /* of children (counters.h): what the samples by which they attached stand for, for the others
     * as well, ... */
    uint64_t attached_ns;
    uint64_t attach_ns; /* ... and each for so much; 0: it is not known */
    uint64_t lone_ns;   /* the greatest weight that was drawn by itself (scatter_total.h) */
    uint64_t contexts;  /* nodes kept in the daemon's tree */
    uint64_t monitored;
    uint64_t unseen; /* certain bound on what a context outside can weigh */
    uint64_t bytes;  /* of the daemon's tree */
    uint64_t capped;
    uint32_t threads;
};

/* A context that the program has asked the number of (hcct.h), or a caller's: numbers.h. */
struct profile_number {
    uint64_t number;
    uint32_t parent; /* the caller's, a lower place in the table; 0: it has none */
    uint32_t location;
};

struct profile {
    const char *type;    /* "cpu", "wall", "wait" or "calls", or what another tool counted */
    const char *unit;    /* "nanoseconds", "count", ... */
    const char *title;   /* the command line that was recorded, as a shell takes it; "": none */
    const char *others;  /* metrics of the same run that are not in it: "heap, lock"; "": none */
    const char *marks;   /* moments that its programs have marked: mark_lines.h */
    double phi, epsilon; /* 0: not known (a foreign profile) */
    const char *summary; /* "" when not known */
    uint64_t period;     /* weight of one sample as asked for, 0: not known */
    uint64_t time_ns;    /* wall clock at the start, since 1970 */
    uint64_t duration_ns;
    uint64_t kernel_ns;  /* CPU time of all that was recorded, user and system, by the kernel's own
                          * count: what total can be compared with. 0: not known */
    uint32_t unresolved; /* locations with a bare name for now: what is inlined there, and their
                          * lines, are still being found out */
    uint64_t window_ns; /* weights are those of so much time, up to time_ns + duration_ns; 0: of all
                         * of it, since the start */
    bool is_past;       /* that window has not ended with the profile, but before */

    struct profile_module *modules;
    uint32_t n_modules; /* all counts include the empty entry 0 */
    struct profile_function *functions;
    uint32_t n_functions;
    struct profile_location *locations;
    uint32_t n_locations;
    struct profile_node *nodes; /* parents before children */
    uint32_t n_nodes;
    struct profile_process *processes;
    uint32_t n_processes;

    /* Contexts were cut for display: node.outside and, by location, the flat numbers are those of
     * the profile before the cut. */
    bool bounded;
    struct profile_flat *flat; /* NULL where it is not bounded */

    struct profile_number *numbers; /* n_numbers, the empty entry 0 included; NULL: none */
    uint32_t n_numbers, number_room;

    struct profile_index *index; /* private to profile.c: interning */
};

/* Name of the pseudo-frame for the frames of contexts that are not kept, or not shown. */
#define PROFILE_PRUNED "[~]"
/* Name of the pseudo-frame for what the agent's wrappers of libc's functions take. */
#define PROFILE_AGENT "[hcct]"

struct profile *profile_new(void);
void profile_free(struct profile *profile); /* NULL is allowed */

/* A copy of the string that lives as long as the profile; equal strings are one pointer. NULL is
 * "", bytes that are not UTF-8 become U+FFFD. */
const char *profile_string(struct profile *profile, const char *text);

/* The same for a word that stands in sentences: it is made printable (utf8_clean()), too. */
const char *profile_word(struct profile *profile, const char *text);

uint32_t profile_add_module(struct profile *profile, const char *path, const char *build_id);
uint32_t profile_add_function(struct profile *profile, const char *name, const char *system_name,
                              const char *file, uint32_t start_line);
/* Equal (module, address, is_entry) give one location; it has no lines yet. */
uint32_t profile_add_location(struct profile *profile, uint32_t module, uint64_t address,
                              bool is_entry);
/* As above, for locations that are known by their lines as much as by their address (generated code
 * at address 0, frames of a grouped profile): all of `like` must be equal, its lines too. */
uint32_t profile_intern_location(struct profile *profile, const struct profile_location *like);
/* A location with a name and no address: "[~]", "[truncated]". */
uint32_t profile_add_pseudo(struct profile *profile, const char *name);
/* What is known of the samples of its function; the larger of two counts. */
void profile_set_effects(struct profile *profile, uint32_t location, float effect,
                         float self_effect);
void profile_set_lines(struct profile *profile, uint32_t location, const struct profile_line *lines,
                       uint32_t n);
/* `process` is copied, its strings too. Makes its root node, too: profile_root(). */
uint32_t profile_add_process(struct profile *profile, const struct profile_process *process);
uint32_t profile_root(const struct profile *profile, uint32_t process);
/* Child of `parent` at `location`: the existing one gains count and error, else it is made. */
uint32_t profile_add_node(struct profile *profile, uint32_t parent, uint32_t location,
                          uint64_t count, uint64_t error);

/* N: the sum of all counts. */
uint64_t profile_total(const struct profile *profile);

/* Weights are numbers of calls. */
bool profile_of_calls(const struct profile *profile);
/* Weights are of allocations, or of what was allocated and not freed. */
bool profile_of_blocks(const struct profile *profile);
/* Of these, of what was allocated and not freed. */
bool profile_of_heap(const struct profile *profile);
/* Weights are of waits for locks. */
bool profile_of_locks(const struct profile *profile);
/* Weights are numbers of page faults, each at the sample that came after it. */
bool profile_of_faults(const struct profile *profile);
/* By what a count is to be multiplied for an estimate of all calls, where they are seen in bursts
 * only: CPU time in all by what bursts stand for, or by the time within them where each call counts
 * once, of both the program's own. 1 for all else. */
double profile_scale(const struct profile_process *process);
/* What weighs so much was lost, in the profile's unit, and is in no context: samples that found no
 * room, CPU time that a hcctd which was killed had not written down, calls. */
uint64_t profile_lost(const struct profile *profile, const struct profile_process *process);
/* Of that, what was not the process's own, but may be any one's: of children that no hcctd has
 * seen. */
uint64_t profile_lost_elsewhere(const struct profile *profile,
                                const struct profile_process *process);
/* Its weights are estimates from a part of what it did: stack samples, bursts, one call in N. */
bool profile_is_sample(const struct profile_process *process);

/* The module of frames that stand for threads. */
#define PROFILE_THREADS "[threads]"

/* The module of frames that stand for labels of the program's (hcct.h): "key=value". */
#define PROFILE_LABELS "[labels]"

/* The module of system calls, which stand below the function that made them. */
#define PROFILE_KERNEL "[kernel]"

/* How contexts are grouped in what is printed. */
enum profile_by {
    PROFILE_BY_FUNCTION,
    PROFILE_BY_SITE,
    PROFILE_BY_LINE,
    PROFILE_BY_MODULE,
    PROFILE_BY_THREAD,
    PROFILE_BY_LABEL,
    PROFILE_BYS
};
/* False: no such word (function, site, line, module, thread, label). */
bool profile_by_parse(const char *word, enum profile_by *by);
const char *profile_by_word(enum profile_by by);

/* A new profile in which the contexts that are the same by `by` are one and inline frames are
 * frames of their own (function, line), cut at phi as by profile_prune_own (0: not cut). Errors are
 * what is true of the contexts that became one: those that were not kept may belong to them, too.
 */
struct profile *profile_group(const struct profile *profile, enum profile_by by, double phi);

/* The same contexts without those that weigh less than phi * N (inclusive) and are not hot by their
 * self weight either. What is cut goes to the PROFILE_PRUNED frame of the deepest caller that
 * stays, with its innermost location below, so that self weights stay what they are; weight of a
 * root itself goes there, too. Bounds stay those of `profile`: the new one is `bounded`. */
struct profile *profile_prune(const struct profile *profile, double phi);
/* The same, but takes `profile` over: where there is nothing to prune, that is what is returned. */
struct profile *profile_prune_own(struct profile *profile, double phi);
/* The n contexts of the largest self weight and their ancestors; the rest is cut as above. */
struct profile *profile_keep(const struct profile *profile, uint32_t n);

/* ---- names ---- */

/* What a process is called, "redis-server": its command, else the last part of its exe. */
const char *profile_process_name(const struct profile_process *process);
/* The last part of a path: "libc.so.6". */
const char *profile_basename(const char *path);
/* Has a name and no place: made by profile_add_pseudo. */
bool profile_is_pseudo(const struct profile_location *location);
/* Is PROFILE_PRUNED. */
bool profile_is_pruned(const struct profile *profile, uint32_t location);
/* Is PROFILE_AGENT. */
bool profile_is_agent(const struct profile *profile, uint32_t location);
/* By node: is it a PROFILE_PRUNED frame, or below one? The caller frees it. */
bool *profile_find_hidden(const struct profile *profile);
/* The name of last resort, "libx.so+0x1234", of a location; kept by `names`, which may be another
 * profile than the location's. */
const char *profile_place_name(struct profile *names, const struct profile *profile,
                               const struct profile_location *location);
/* Is it such a name, and no symbol? */
bool profile_is_place_name(const char *name);

#endif
