/*
 * symbols.h - names for a profile's locations.
 */
#ifndef HCCT_SYMBOLS_H
#define HCCT_SYMBOLS_H

#include <stdint.h>

#include "daemon/code/elf_worker.h"
#include "daemon/report/profile.h"

/* Gives each location of the profile its functions and lines. module_of maps the profile's module
 * indices to module ids; a location in no module is named by its address. */
void symbolize(struct profile *profile, const uint32_t *module_of, struct elf_worker *worker);

#endif
