/*
 * filter_size.h - how large a regular expression becomes, before the C library compiles it.
 *
 * The library copies what is repeated as often as it is repeated: "x++++++" is 64 times x, and
 * "((x{255}){255}){255}" takes more memory than there is. "x******" takes exponential time, and so
 * do back references, an extension. Whoever may ask the daemon a question must not stop it in that
 * way.
 */
#ifndef HCCT_FILTER_SIZE_H
#define HCCT_FILTER_SIZE_H

#include <stddef.h>

#define FILTER_SIZE_MAX 4000u

/* The size of the POSIX extended regular expression with all repetitions written out, in
 * characters; more than FILTER_SIZE_MAX, too, when it has a back reference or groups within groups
 * that are too deep. Whether it is one at all is for regcomp() to say. */
size_t filter_size(const char *expression);

#endif
