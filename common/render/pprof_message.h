/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * pprof_message.h - a profile as the message of profile.proto, and back: what pprof files are made
 * of, and what other formats with the same tables are translated from and to.
 */
#ifndef HCCT_PPROF_MESSAGE_H
#define HCCT_PPROF_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/render/format.h"
#include "common/render/profile.pb-c.h"

#define PPROF_MAX_PLAIN_BYTES ((size_t)1 << 30)

/* Makes the message of a profile and calls use(message, arg). Ids are numbers from 1 on, in the
 * order of the lists; all samples of a process have one array of labels; a sample has two values,
 * the weight and its error. The message ends with this call. Returns what `use` did. */
bool pprof_message_with(const struct profile *profile, const struct format_options *options,
                        bool (*use)(const Perftools__Profiles__Profile *message, void *arg),
                        void *arg);

/* The profile of a message, in which any number may be wrong; of several metrics that one, or that
 * type, NULL: the default one. NULL: `error` says what is. */
struct profile *pprof_message_read(const Perftools__Profiles__Profile *message, const char *metric,
                                   char *error, size_t error_bytes);

/* The message as a file. False: errno says why. */
bool pprof_message_write(const Perftools__Profiles__Profile *message, void *out);

/* Parsed messages are many times larger than their bytes: a small file could ask for all memory.
 * Give &budget.allocator to an unpack function; once it has failed, `exceeded` says whether the
 * room was too small. */
struct pprof_budget {
    ProtobufCAllocator allocator;
    size_t left;
    bool exceeded;
};

void pprof_budget_init(struct pprof_budget *budget);

#endif
