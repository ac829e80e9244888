/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * patience.h - how long a process that is in the middle of its work waits for hcctd's answer, and
 * how soon it asks again.
 *
 * A hcctd that has a processor answers within a millisecond. Where all of them are busy that takes
 * 10 to 30, and whoever always waits for 3 may never hear of it. So each question that was not
 * answered makes the next wait twice as long, up to a limit, and when that is reached questions
 * become rare: what the process waits altogether is a small share of its time, however long hcctd
 * is silent. A hcctd that is stopped is not waited for (stopped.h), so nothing grows by it.
 */
#ifndef HCCT_PATIENCE_H
#define HCCT_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

/* For the answer to a question before which so many in a row had none. Any context. */
int patience_wait_ms(uint32_t unanswered);

/* From that question to the next. `late`: of a process that was attached to, which has a hcctd, and
 * somebody who waits for its profile. Any context. */
uint64_t patience_pause_ns(uint32_t unanswered, bool late);

#endif
