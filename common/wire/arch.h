/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * arch.h - what a walk must know of the machine: registers of an interrupted program, by their
 * DWARF numbers, and where a signal frame keeps them.
 */
#ifndef HCCT_ARCH_H
#define HCCT_ARCH_H

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define ARCH_LOWEST_CODE 0x10000u                  /* nothing is mapped below */
#define ARCH_ALL_REGS    ((1ull << ARCH_REGS) - 1) /* a bit for each */

/* How far the frame of code that uses a frame pointer is set up. */
enum arch_frame {
    ARCH_FRAME_SET, /* the frame pointer is this frame's: saved one and return address are there */
    ARCH_FRAME_PUSHED, /* the caller's is on top of the stack, the return address above it */
    ARCH_FRAME_NONE,   /* the return address is on top of the stack, or in its register; the frame
                        * pointer is the caller's */
};

/* Each of the files has the same names. */
#if defined(__x86_64__)
#include "common/wire/arch_x86_64.h"
#elif defined(__aarch64__)
#include "common/wire/arch_aarch64.h"
#else
#error "the walk knows no registers for this machine"
#endif

#endif
