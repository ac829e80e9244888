/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * config.h - what hcctd was started with; written once, before any thread.
 */
#ifndef HCCT_CONFIG_H
#define HCCT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/code/symbol_service.h"

struct daemon_config {
    const char *socket;     /* path */
    const char *report_dir; /* NULL: no snapshots at the end, none on request */
    const char *report_format;
    double phi, epsilon;
    const char *summary;
    uint64_t memory_limit;          /* of one process's tree, bytes */
    struct symbol_service *symbols; /* for queries */
    uint64_t instance;              /* tells this run of hcctd from others */
    bool restored;                  /* profiles go on from those of another run */
};

extern struct daemon_config config;

#endif
