/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shapes_fast.c - the shapes as the fastest code. The options stand here, since those of the
 * command line are the builder's.
 */
#pragma GCC optimize("O3", "omit-frame-pointer")
#define SHAPES shapes_fast
#include "tests/step/shapes.h"
