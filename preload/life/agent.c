/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * agent.c - the state that all parts share.
 */
#include "preload/life/agent.h"

#include <sys/mman.h>

#include "preload/life/sys.h"

struct agent_globals agent;

/* A page that a child finds empty, however it was made. */
struct agent_process *agent_process_make(void) {
    long at =
        sys6(SYS_mmap, 0, WIRE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at < 0 && at > -WIRE_PAGE)
        return NULL;
    if (sys3(SYS_madvise, at, WIRE_PAGE, MADV_WIPEONFORK) != 0)
        return NULL;
    return (struct agent_process *)at;
}
