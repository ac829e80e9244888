/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * config.h - what hcctd was started with; written once, before any thread.
 */
#ifndef HCCT_CONFIG_H
#define HCCT_CONFIG_H

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
};

extern struct daemon_config config;

#endif
