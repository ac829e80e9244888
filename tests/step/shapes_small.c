/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shapes_small.c - the shapes as the smallest code. The options stand here, since those of the
 * command line are the builder's.
 */
#pragma GCC optimize("Os", "omit-frame-pointer")
#define SHAPES shapes_small
#include "tests/step/shapes.h"
