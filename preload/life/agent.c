/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * agent.c - the state that all parts share.
 */
#include "preload/life/agent.h"

struct agent_globals agent;
