/*
 * instrumented.h - was a program built so that its calls can be counted?
 */
#ifndef HCCT_INSTRUMENTED_H
#define HCCT_INSTRUMENTED_H

#include <stdbool.h>
#include <stddef.h>

/* Does neither the program that the command stands for nor any library that it is linked with call
 * the hooks of -finstrument-functions? `path` (PATH_MAX bytes) gets its path then. False also when
 * that is not known: it is not there, no ELF file of this machine, or statically linked. What it
 * loads later, and what it starts, is not examined. Runs the dynamic loader, not the program.
 */
bool instrumented_nowhere(const char *command, char *path);

#endif
