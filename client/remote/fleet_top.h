/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_top.h - hcct fleet top, a command line of its own.
 */
#ifndef HCCT_FLEET_TOP_H
#define HCCT_FLEET_TOP_H

/* Returns an exit status. */
int fleet_top(int argc, char **argv);

#endif
