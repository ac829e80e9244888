/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * compiler.h - the few compiler words that the project uses by name.
 */
#ifndef HCCT_COMPILER_H
#define HCCT_COMPILER_H

#define hcct_likely(x)   __builtin_expect(!!(x), 1)
#define hcct_unlikely(x) __builtin_expect(!!(x), 0)

/* Nothing of the agent is visible to the application unless it says so. */
#define hcct_export __attribute__((visibility("default")))

/* What each call that can sleep goes through stands together: where the processor forgets its
 * translations at each system call, as on some virtual machines, every page of code costs 20 ns. */
#define hcct_hot __attribute__((hot))

/* Tables of a library that stand behind its other variables, so that these share a page or two:
 * each page that a process writes to costs it a fault, and a copy in a child. Where it is linked
 * with sections sorted by name. */
#define hcct_large __attribute__((section(".bss.large")))

/* Kept out of line, so that what it has on the stack is not on its callers'. */
#define hcct_noinline __attribute__((noinline))

/* A call whose value is returned is a jump (-foptimize-sibling-calls), also where nothing else is
 * optimized: whoever is called so has the caller's caller. */
#ifdef __OPTIMIZE__
#define hcct_jumps
#else
#define hcct_jumps __attribute__((optimize("O2")))
#endif

#define hcct_printf(fmt, first) __attribute__((format(printf, fmt, first)))

#define HCCT_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
