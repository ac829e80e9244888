/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_sites.h - the call instructions of a module: found by the daemon, redirected by the agent.
 *
 * One table for each module whose calls are to be followed although it does not report them itself,
 * position-independent, in the table arena:
 *
 *   struct call_sites | sites, sorted by address | callees
 *
 * A site is a direct call with a 32-bit displacement (x86-64: e8) within a function that has an
 * unwind entry. Its target is the beginning of a function, or an entry of the PLT, which leads to
 * the function whose address is in a word of the GOT; or the call is through that very word (ff 15,
 * as compilers write it for -fno-plt), whose six bytes have room for 67 e8 and a displacement. What
 * else was found is counted, by the reason for which it is left alone.
 *
 * The agent checks the size once, and each site against the text before it redirects it.
 */
#ifndef HCCT_CALL_SITES_H
#define HCCT_CALL_SITES_H

#include <stddef.h>
#include <stdint.h>

#define CALL_SITES_MAGIC 0x31737463636863ull
/* Tables are kept on disk under this number: to be raised with the format, and whenever other sites
 * are found in the same text. */
#define CALL_SITES_VERSION 2u
#define CALL_SITE_BYTES    5u /* from its e8 to the return address */

#define CALL_SITES_PAGE 4096u

/* What becomes of a module's calls. The daemon says it of the file; the agent, which has the module
 * in memory, says it of what it did there (wire_module.verdict). Words for people: call_words.h. */
enum calls_verdict {
    CALLS_UNSAID = 0,
    CALLS_FOLLOWED, /* the daemon: can be; the agent: its sites lead to stubs */
    /* the daemon: there is no table */
    CALLS_OWN_HOOKS,        /* built with -finstrument-functions: it reports its calls itself */
    CALLS_MACHINE,          /* code of another machine, or of one that is not known here */
    CALLS_STATIC,           /* a program without a dynamic loader: no agent gets into it */
    CALLS_GO,               /* stacks of its own, too small for other people's code */
    CALLS_OCAML,            /* the same */
    CALLS_TEXT_RELOCATIONS, /* the loader writes into its code */
    CALLS_SEGMENTS,         /* its code is in several segments, or in one that can be written */
    CALLS_NO_ENTRIES,       /* no unwind entries: nothing says where its functions are */
    CALLS_NO_SITES,         /* there is no call in it that can be redirected */
    CALLS_UNREADABLE,       /* no file, or a broken one */
    /* the agent: there is one, but */
    CALLS_TEXT_DIFFERS, /* in memory there is other code than in the file */
    CALLS_FAR,          /* no room for stubs within 2 GiB */
    CALLS_FORBIDDEN,    /* the kernel, or a rule that the program lives under, does not let it */
    CALLS_NO_MEMORY,
    CALLS_TOO_MANY,   /* as many modules as there is room for are followed */
    CALLS_INTERPOSES, /* the agent itself calls functions of it: it stands before libc */
    CALLS_LIMITED,    /* its address space has a limit, which the agent would take a part of */
    CALLS_VERDICTS
};

/* Why a call is not redirected. Words for people: call_words.h. */
enum call_sites_left {
    CALL_LEFT_INDIRECT, /* its target is in a register, or in memory that anybody may write */
    CALL_LEFT_TAIL,     /* a jump to another function, which leaves no return address */
    CALL_LEFT_TARGET,   /* neither to the beginning of a function nor to a PLT entry */
    CALL_LEFT_NO_ENTRY, /* in code that no unwind entry covers: counted in bytes */
    CALL_LEFT_CALLER, /* of functions that take note of who called them: setjmp, vfork, dlsym ... */
    CALL_LEFT_UNDECODED, /* in a function that does not decode as a whole */
    CALL_LEFT_RULE,      /* no simple rule says where the caller's own return address is */
    CALL_LEFT_REASONS
};

/* Where the frame of a site's function is. */
enum call_site_frame {
    CALL_FRAME_SP = 0, /* CFA = stack pointer before the call + cfa */
    CALL_FRAME_FP = 1, /* CFA = frame pointer + cfa */
};

struct call_site {
    uint32_t at;      /* of its e8, which prefixes may stand before, from text_start; of a call
                       * through a word the second byte, which is to become that */
    uint32_t routine; /* of the unwind entry that it is in, from text_start */
    uint32_t callee;  /* index */
    int32_t cfa;
    uint8_t frame; /* enum call_site_frame */
    uint8_t unused[3];
};

struct call_callee {
    uint64_t target; /* address in the file; 0: the call is through `got` itself */
    uint64_t got;    /* a word of the GOT, address in the file: a PLT entry's; 0: no PLT entry */
};

struct call_sites {
    uint64_t magic;
    uint64_t bytes;       /* of the whole table */
    uint64_t text_start;  /* address in the file of the executable segment's first page */
    uint64_t text_bytes;  /* whole pages */
    uint64_t file_offset; /* of that page */
    uint32_t sites;
    uint32_t callees;
    uint64_t sites_off; /* bytes from the start of the table */
    uint64_t callees_off;
    uint32_t found[2];                /* such calls: all, and of them through words of the GOT */
    uint32_t left[CALL_LEFT_REASONS]; /* enum call_sites_left */
    uint32_t verdict;                 /* enum calls_verdict: what reaches an agent is FOLLOWED */
    uint32_t covered;                 /* bytes of code in unwind entries */
    uint32_t reserved[3];
};

_Static_assert(sizeof(struct call_site) == 20, "site");
_Static_assert(sizeof(struct call_callee) == 16, "callee");
_Static_assert(sizeof(struct call_sites) == 120, "table header");

static inline const struct call_site *call_sites_of(const struct call_sites *t) {
    return (const struct call_site *)(const void *)((const char *)t + t->sites_off);
}

static inline const struct call_callee *call_sites_callees(const struct call_sites *t) {
    return (const struct call_callee *)(const void *)((const char *)t + t->callees_off);
}

#endif
