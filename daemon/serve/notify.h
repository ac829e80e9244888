/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * notify.h - messages to a service manager (NOTIFY_SOCKET).
 */
#ifndef HCCT_NOTIFY_H
#define HCCT_NOTIFY_H

/* Sends lines of VARIABLE=value, such as "READY=1\nSTATUS=...", where somebody wants them; else
 * nothing happens. A manager that does not listen is not waited for. Any thread. */
void notify_manager(const char *lines);

#endif
