/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * write_otlp.h - profiles of OpenTelemetry, with what only a sender knows.
 */
#ifndef HCCT_WRITE_OTLP_H
#define HCCT_WRITE_OTLP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/render/format.h"

#define OTLP_ID_BYTES 16

struct otlp_about {
    /* Attributes of each resource, beyond the process's own. */
    const struct otlp_attribute { const char *key, *value; } * attributes;
    size_t n_attributes;
    const uint8_t *id; /* of OTLP_ID_BYTES, from which those of profiles are made; NULL: none */
};

/* The whole profile, as the body of a request. False with errno set when writing failed. */
bool write_otlp_about(FILE *out, const struct profile *profile,
                      const struct format_options *options, const struct otlp_about *about);

#endif
