/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * finished.h - a thread that looks after finished processes: folds them by executable when there
 * are too many, and forgets what they did longer ago than any window reaches. Merges of large trees
 * take a while, for which no living process should wait.
 */
#ifndef HCCT_FINISHED_H
#define HCCT_FINISHED_H

#include <stdbool.h>

bool finished_start(void); /* false: no thread can be had */
void finished_stop(void);

#endif
