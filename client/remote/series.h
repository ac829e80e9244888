/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * series.h - a push process by process, each as a profile of pprof with labels: for Pyroscope and
 * Parca.
 */
#ifndef HCCT_SERIES_H
#define HCCT_SERIES_H

#include "client/remote/target.h"
#include "common/base/memory.h"

struct series_label {
    const char *name, *value;
};

struct series {
    struct series_label *labels;
    size_t n_labels;
    uint8_t *pprof; /* gzipped */
    size_t bytes;
    const char *id;
};

/* All processes that have weight; what they consist of is the pool's. *list is the caller's to
 * free. Names of labels are letters, digits and underscores; the first one is __name__; there are
 * 30 at most. A profile of more than longest_ns (0: of any time) says that it is of the last part
 * of it. */
size_t series_make(const struct push_settings *settings, const struct push *push,
                   uint64_t longest_ns, struct pool *pool, struct series **list);

#endif
