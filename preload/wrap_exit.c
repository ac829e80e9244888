/*
 * wrap_exit.c - the end of a process that runs no destructors.
 */
#include <unistd.h>

#include "common/compiler.h"
#include "preload/real.h"
#include "preload/wall_leave.h"

_Noreturn void _Exit(int status);

hcct_export void _exit(int status) {
    wall_leave();
    real_exit(status);
}

hcct_export void _Exit(int status) {
    wall_leave();
    real_exit(status);
}
