/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * exports.h - the functions that a program calls by hcct.h. Any context but the agent's own.
 */
#ifndef HCCT_CONTEXT_EXPORTS_H
#define HCCT_CONTEXT_EXPORTS_H

#include <stdint.h>

#include "common/wire/compiler.h"

hcct_export uint64_t hcct_agent_context(void);
/* The same, for languages that look functions up. */
hcct_export uint64_t hcct_context(void);

#endif
