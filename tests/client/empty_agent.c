/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * empty_agent.c - stands in for the agent in tests of the client: it loads, and does nothing.
 */
#include "common/wire/compiler.h"

extern const char empty_agent[];
hcct_export const char empty_agent[] = "empty";
