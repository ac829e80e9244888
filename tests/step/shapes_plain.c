/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shapes_plain.c - the shapes as code that was not optimized. The options stand here, since those
 * of the command line are the builder's.
 */
#pragma GCC optimize("O0", "no-omit-frame-pointer")
#define SHAPES shapes_plain
#include "tests/step/shapes.h"
