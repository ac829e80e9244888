/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shapes_framed.c - the shapes as optimized code that keeps frame pointers, and signs its return
 * addresses where that can be. The options stand here, since those of the command line are the
 * builder's.
 */
#pragma GCC optimize("O2", "no-omit-frame-pointer")
#if defined(__aarch64__)
#pragma GCC target("branch-protection=standard")
#endif
#define SHAPES shapes_framed
#include "tests/step/shapes.h"
