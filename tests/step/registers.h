/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * registers.h - what of a traced thread differs by architecture: its registers, and how it is made
 * to execute one instruction. One file for each.
 */
#ifndef HCCT_STEP_REGISTERS_H
#define HCCT_STEP_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "preload/sample/unwind_types.h"
#include "tests/step/memory.h"

bool registers_read(pid_t thread, struct user_regs_struct *regs);

uint64_t registers_pc(const struct user_regs_struct *regs);
uint64_t registers_sp(const struct user_regs_struct *regs);
/* The number of the system call that it is about to make. */
uint64_t registers_call(const struct user_regs_struct *regs);
struct unwind_registers registers_for_walk(const struct user_regs_struct *regs);

/* Runs a stopped process, of one thread, up to `address`. */
bool registers_run_to(pid_t pid, uint64_t address);

/* The thread goes on with the signal, or without one (0), and stops behind its next instruction;
 * where a few of them must not be interrupted, behind these. Returns a status that has come of it
 * meanwhile, or -1: waitpid() is to tell. */
int registers_step(pid_t thread, struct memory *memory, uint64_t pc, int number);

#endif
