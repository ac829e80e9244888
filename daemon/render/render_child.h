/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * render_child.h - a renderer: one answer, then the end.
 */
#ifndef HCCT_RENDER_CHILD_H
#define HCCT_RENDER_CHILD_H

#include <sys/types.h>

#include "daemon/render/render_protocol.h"

/* In a process of its own, forked from the render server: keeps these n descriptors alone, limits
 * itself, writes the answer, says so. It ends with `server`, its parent. */
_Noreturn void render_child_run(const int *fds, unsigned n, pid_t server, unsigned seconds);

#endif
