/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * render_order.h - what is to be rendered, as one process of a program gives it to another: the
 * format, its options and the profile (profile_image.h). The profile's contexts may be apart from
 * it: as profile_contexts.h has them, before all else.
 *
 * An order that stands behind another one in a file is for a comparison: the first has what was
 * before, the last what came after, and how it is written. Or they are for a page of several
 * metrics: the last one has what is shown first.
 */
#ifndef HCCT_RENDER_ORDER_H
#define HCCT_RENDER_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/render/format.h"
#include "common/wire/wire.h"

struct render_order {
    const struct format *format;
    struct format_options options;
    char *focus, *ignore;                     /* what the options' point to; NULL: none */
    struct profile *before;                   /* what the profile is compared with; NULL: nothing */
    struct profile *others[WIRE_METRICS_MAX]; /* of other metrics, the options point to them */
    unsigned n_others;
    struct profile *profile;
};

/* What an order is to the one before it in the file, if there is one. */
enum render_order_as { RENDER_AFTER, RENDER_BESIDE };

/* To a file that can be positioned. What was written to it from `start` on are contexts, what is
 * before that is another order, to which this one is `as`. False with errno set when writing
 * failed, then or now. Filters may be any text. */
bool render_order_write(const struct format *format, FILE *out, int64_t start,
                        struct profile *profile, const struct format_options *options,
                        enum render_order_as as);

/* The same of a profile that is a part of what is to be rendered: what was written from `start` on
 * are no contexts, but says to its reader what is to be added. */
bool render_order_write_part(const struct format *format, FILE *out, int64_t start,
                             struct profile *profile, const struct format_options *options,
                             enum render_order_as as);

/* False: what is there is no whole order. In any case render_order_free() follows. */
bool render_order_read(FILE *in, struct render_order *order);

/* The same where a profile may be a part: add() makes the whole of it, and takes it over. `order`
 * has the format and its options. */
struct render_adder {
    struct profile *(*add)(const void *arg, const struct render_order *order,
                           struct profile *profile, const uint8_t *what, size_t bytes);
    const void *arg;
};
bool render_order_read_parts(FILE *in, struct render_order *order, const struct render_adder *by);
void render_order_free(struct render_order *order);

#endif
