/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * page_facts.h - the end of the text report as a list, for the page's dialog.
 */
#ifndef HCCT_PAGE_FACTS_H
#define HCCT_PAGE_FACTS_H

#include <stdint.h>

#include "common/base/json_out.h"
#include "common/profile/profile.h"

/* An array of pairs: what a fact is about, in a word or two, and a sentence. None for a total of
 * 0. */
void page_facts_put(struct json_out *json, const struct profile *profile, uint64_t total);

#endif
