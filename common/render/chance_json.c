/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * chance_json.c - half of the 95 % interval, for some shares: for others it lies between these.
 */
#include "common/render/chance_json.h"

void chance_put_json(struct json_out *json, const struct chance *chance) {
    bool sure = chance->kind == CHANCE_SAMPLED && chance->lone > 0; /* but for what is not there */
    if (!(chance->squares > 0) && !sure)
        return;
    json_object_member(json, "chance");
    json_double_member(json, "samples", chance_samples(chance, CHANCE_TYPICAL));
    json_double_member(json, "total_half_width", chance_total_half_width(chance));
    if (chance_left_out(chance) > 0)
        json_double_member(json, "left_out", chance_left_out(chance));
    json_array_member(json, "shares");
    for (int i = 0; i < CHANCE_SHARES; i++)
        json_double(json, chance_shares[i]);
    json_end(json, ']');
    json_array_member(json, "half_widths");
    for (int i = 0; i < CHANCE_SHARES; i++)
        json_double(json, chance_half_width(chance, chance_shares[i], 0));
    json_end(json, ']');
    json_end(json, '}');
}
