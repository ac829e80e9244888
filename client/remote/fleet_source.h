/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_source.h - the fleet as the one that answers hcct top's requests.
 *
 * Services stand for processes, and what a push says that its weights are for the kinds that there
 * are. There are no threads.
 */
#ifndef HCCT_FLEET_SOURCE_H
#define HCCT_FLEET_SOURCE_H

#include "client/remote/fleet_query.h"
#include "client/top/client.h"

struct fleet_source {
    struct top_source source; /* the first member */
    struct fleet_server server;
    struct fleet_choice choice; /* of what stands where hcctd has all since its start */
};

/* `server` and what the choice names must stay as long as the source is used. */
void fleet_source_make(struct fleet_source *source, const struct fleet_server *server,
                       const struct fleet_choice *choice);

#endif
