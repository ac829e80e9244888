/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * daemon.h - hcctd as the one that answers.
 */
#ifndef HCCT_TOP_DAEMON_H
#define HCCT_TOP_DAEMON_H

#include "client/top/client.h"

struct top_daemon {
    struct top_source source; /* the first member */
    const char *socket;
};

/* `socket` must stay as long as the source is used. */
void top_daemon_make(struct top_daemon *daemon, const char *socket);

#endif
