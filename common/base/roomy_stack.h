/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * roomy_stack.h - a program that its user's limit (ulimit -s) leaves too little stack.
 */
#ifndef HCCT_ROOMY_STACK_H
#define HCCT_ROOMY_STACK_H

/* Calls `run` and returns what it returns: on a stack of ROOMY_STACK_BYTES where RLIMIT_STACK
 * allows less than that, and threads then have as much by default. The limit stays as it is, for
 * programs that are executed. Once, by main(). */
#define ROOMY_STACK_BYTES (1u << 20)

int roomy_stack_run(int (*run)(int argc, char **argv), int argc, char **argv);

#endif
