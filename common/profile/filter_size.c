/*
 * filter_size.c - adds up characters, groups and repetitions, from left to right.
 */
#include "common/profile/filter_size.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 50u /* of groups */
#define TOO_LARGE SIZE_MAX

/* One group that is open: what is in it already, and its last piece, which may be repeated. */
struct level {
    size_t done, last;
};

static size_t add(size_t a, size_t b) {
    size_t sum;
    return __builtin_add_overflow(a, b, &sum) ? TOO_LARGE : sum;
}

static size_t times(size_t a, size_t b) {
    size_t product;
    return __builtin_mul_overflow(a, b, &product) ? TOO_LARGE : product;
}

static void next_piece(struct level *level, size_t size) {
    level->done = add(level->done, level->last);
    level->last = size;
}

/* Behind a bracket expression, which begins with '['. */
static const char *skip_bracket(const char *at) {
    at++;
    if (*at == '^')
        at++;
    if (*at == ']')
        at++;
    while (*at != '\0' && *at != ']') {
        char kind = at[0] == '[' ? at[1] : '\0';
        if (kind == ':' || kind == '.' || kind == '=') {
            const char end[] = {kind, ']', '\0'};
            const char *found = strstr(at + 2, end);
            at = found != NULL ? found + 1 : at;
        }
        at++;
    }
    return *at != '\0' ? at + 1 : at;
}

/* Behind an interval such as {3,7}, which begins with '{'; *copies is the larger number, and one
 * more than the other when that is the only one. */
static const char *skip_interval(const char *at, size_t *copies) {
    char *end;
    size_t low = strtoul(at + 1, &end, 10), high = low;
    if (*end == ',')
        high = strtoul(end + 1, &end, 10);
    *copies = add(low > high ? low : high, 1);
    return *end == '}' ? end + 1 : at + 1;
}

/* What repeats the last piece; NULL: nothing does here. */
static const char *repetition(const char *at, struct level *level) {
    size_t copies = 2; /* "x****" is one x, but as long to go through */
    if (*at == '{')
        at = skip_interval(at, &copies) - 1;
    else if (*at != '*' && *at != '+' && *at != '?')
        return NULL;
    level->last = add(times(level->last, copies), 1);
    return at + 1;
}

/* One piece that is no group; NULL: it can't be. */
static const char *piece(const char *at, struct level *level) {
    next_piece(level, 1);
    if (*at == '[')
        return skip_bracket(at);
    if (*at != '\\')
        return at + 1;
    if (at[1] >= '1' && at[1] <= '9')
        return NULL;
    return at[1] != '\0' ? at + 2 : at + 1;
}

size_t filter_size(const char *expression) {
    struct level level[DEPTH_MAX] = {{0}};
    unsigned depth = 0;
    for (const char *at = expression, *next; *at != '\0'; at = next) {
        if (*at == '(') {
            if (++depth == DEPTH_MAX)
                return TOO_LARGE;
            level[depth] = (struct level){0};
            next = at + 1;
        } else if (*at == ')' && depth > 0) {
            size_t size = add(add(level[depth].done, level[depth].last), 1);
            next_piece(&level[--depth], size);
            next = at + 1;
        } else if ((next = repetition(at, &level[depth])) == NULL &&
                   (next = piece(at, &level[depth])) == NULL) {
            return TOO_LARGE;
        }
    }
    size_t size = 0;
    for (unsigned i = 0; i <= depth; i++)
        size = add(size, add(level[i].done, level[i].last));
    return size;
}
