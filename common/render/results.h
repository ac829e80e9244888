/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * results.h - annotations and evaluations, written for people and for programs.
 */
#ifndef HCCT_RESULTS_H
#define HCCT_RESULTS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/profile/annotate.h"
#include "common/profile/eval.h"

/* Where sources are looked for. */
struct annotate_sources {
    const char *directory; /* beside the recorded path: there by the longest part of the path that
                            * exists; NULL: none */
    uint32_t around;       /* lines shown before and after those that weigh something */
};

/* For people. False with errno set when writing failed. */
bool annotation_write_text(FILE *out, const struct annotation *annotation,
                           const struct annotate_sources *sources);
/* Format "hcct-annotation", version 1: the functions with their lines and callees; no sources. */
bool annotation_write_json(FILE *out, const struct annotation *annotation);

/* Writes it for people, or as JSON (documented in hcct(1)); false with errno set when writing
 * failed. */
bool eval_write_text(FILE *out, const struct eval *eval);
bool eval_write_json(FILE *out, const struct eval *eval);

#endif
