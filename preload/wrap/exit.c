/*
 * exit.c - the end of a process that runs no destructors.
 */
#include <unistd.h>

#include "common/wire/compiler.h"
#include "preload/sample/wall_leave.h"
#include "preload/wrap/real.h"

_Noreturn void _Exit(int status);

hcct_export void _exit(int status) {
    wall_leave();
    real_exit(status);
}

hcct_export void _Exit(int status) {
    wall_leave();
    real_exit(status);
}
