/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * elf_worker_limits.h - what the worker child takes from itself before it reads the first file.
 */
#ifndef HCCT_ELF_WORKER_LIMITS_H
#define HCCT_ELF_WORKER_LIMITS_H

/* Memory, core files, writing of files, privileges. For the life of the process. */
void elf_worker_limit_self(void);

#endif
