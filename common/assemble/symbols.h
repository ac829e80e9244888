/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * symbols.h - names for a profile's locations.
 */
#ifndef HCCT_SYMBOLS_H
#define HCCT_SYMBOLS_H

#include <stdint.h>

#include "common/code/symbol_service.h"
#include "common/profile/profile.h"

/* Gives each location of the profile its functions and lines. module_of maps the profile's module
 * indices to module ids; a location in no module is named by its address. Sets
 * profile->unresolved, which is 0 where there is patience. */
void symbolize(struct profile *profile, const uint32_t *module_of, struct symbol_service *service,
               enum symbol_patience patience);

#endif
