/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * said.h - the functions that a program calls by hcct.h, which means them where they are weak.
 * Thread context.
 */
#ifndef HCCT_LABELS_SAID_H
#define HCCT_LABELS_SAID_H

#include "common/wire/compiler.h"

hcct_export void hcct_agent_label_set(const char *key, const char *value);
hcct_export void hcct_agent_label_clear(const char *key);
hcct_export void hcct_agent_mark(const char *name); /* mark.c; signal handlers, too */
hcct_export void hcct_agent_start(void);
hcct_export void hcct_agent_stop(void);

/* The same. */
hcct_export void hcct_label_set(const char *key, const char *value);
hcct_export void hcct_label_clear(const char *key);
hcct_export void hcct_mark(const char *name);
hcct_export void hcct_start(void);
hcct_export void hcct_stop(void);

#endif
