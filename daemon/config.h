/*
 * config.h - what hcctd was started with; written once, before any thread.
 */
#ifndef HCCT_CONFIG_H
#define HCCT_CONFIG_H

#include <stdint.h>

#include "daemon/code/elf_worker.h"

struct daemon_config {
    const char *socket;     /* path */
    const char *report_dir; /* NULL: no snapshots at the end, none on request */
    const char *report_format;
    double phi, epsilon;
    const char *summary;
    uint64_t memory_limit;      /* of one process's tree, bytes */
    struct elf_worker *symbols; /* the worker for queries */
};

extern struct daemon_config config;

#endif
