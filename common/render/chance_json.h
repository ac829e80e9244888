/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * chance_json.h - intervals of shares, for whoever reads JSON.
 */
#ifndef HCCT_CHANCE_JSON_H
#define HCCT_CHANCE_JSON_H

#include "common/base/json_out.h"
#include "common/profile/chance.h"

/* A member `chance` of the open object: {samples, total_half_width, shares: [...],
 * half_widths: [...]}, none where
 * nothing was left to chance, or nothing is known of it. */
void chance_put_json(struct json_out *json, const struct chance *chance);

#endif
