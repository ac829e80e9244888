/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stopped.h - whether who listens at the other end of a connection stands still.
 */
#ifndef HCCT_STOPPED_H
#define HCCT_STOPPED_H

#include <stdbool.h>

/* True: the process that listens where the Unix socket `fd` is connected to is stopped by a signal
 * or a debugger, and will not answer soon. False: it is not, or can't be seen from here (another
 * PID namespace, a hidden /proc). Any context; five system calls, and a descriptor for their time.
 */
bool stopped_is_peer(int fd);

#endif
