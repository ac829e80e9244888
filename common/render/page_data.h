/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * page_data.h - a profile, or a comparison of two, as the data that the HTML page draws.
 *
 * One JSON object, with a string for each column of numbers instead of an object for each node, so
 * that a hundred thousand contexts are read at once. It is the page's own format, which changes
 * with the page: scripts take the format json.
 *
 * - version, kind ("profile" or "diff"), type, unit, measure (what is counted, for people), by
 * - phi, epsilon, summary, time_ms, total, facts: [[word, sentence]]
 * - wide: weights do not fit a JavaScript number, and all are strings of digits
 * - strings: what the columns refer to by number; 0 is ""
 * - functions {n, name, system, file, line}, modules {n, path}
 * - locations {n, function, module, line, address ([hexadecimal], by site only)}
 * - nodes {n, children, location, process, step, count, error}, in the page's order (page_order.h);
 *   process is of those of the first level; a weight is count times step; where `wide`, count and
 *   error are arrays
 * - inlined [node]
 * - processes [{command, exe, pid, runs, live, threads, scale}], the first is number 1
 * - diff {before, after, scale, sampling, absolute, ...}, and by node {self, inclusive}, each
 *   {before, before_error, before_more, after_error, after_more, interval, beyond}, arrays
 *
 * Of a profile with many contexts there are two objects, a line each. The first one has all but
 * functions, modules, locations, nodes, inlined and strings, which the second one has, and in their
 * place
 * - overview {the same of few contexts (page_overview.h), module_weights (by module, of all)}
 * so that a picture is there before the second one is read.
 *
 * A column is its numbers one after the other, each in digits of five bits, the least first. A
 * digit is its character's value less that of '?', and '!' stands for '\'; where it is 32 more,
 * another one follows.
 *
 * There is no '<' in it: it can stand within a script element as it is.
 */
#ifndef HCCT_PAGE_DATA_H
#define HCCT_PAGE_DATA_H

#include <stdio.h>

#include "common/render/format.h"

struct diff;

struct page_rest; /* the second object, which is to be written */

/* The profile as the options want it, grouped and reduced: writes the first object, or the only
 * one: NULL then. Errors of writing stay in `out`. */
struct page_rest *page_data_begin(FILE *out, const struct profile *profile,
                                  const struct format_options *options);
/* Writes the second object, and frees it; NULL is allowed. */
void page_data_end(FILE *out, struct page_rest *rest);
/* The same in one object. */
void page_data_write(FILE *out, const struct profile *profile,
                     const struct format_options *options);

/* Of a comparison, with weights of both sides; its contexts are as it was made. */
void page_data_write_diff(FILE *out, const struct diff *diff);

#endif
