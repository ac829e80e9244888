/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * remote.h - the commands that speak to other machines. They are a program of their own,
 * hcct-remote, which hcct starts for them: libcurl and what it needs are loaded by nobody else.
 */
#ifndef HCCT_REMOTE_H
#define HCCT_REMOTE_H

int cmd_push(int argc, char **argv);
int cmd_fleet(int argc, char **argv);

#endif
