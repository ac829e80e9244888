/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * filter.c - matches each location once, then sorts the contexts by what stands above them.
 */
#include "common/profile/filter.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "common/base/confine.h"
#include "common/base/memory.h"
#include "common/profile/copy.h"

/* As regcomp(), with no more than so much memory, where it is known what there is already. */
static int compile_within(regex_t *compiled, const char *expression, uint64_t bytes) {
    uint64_t now = confine_address_space();
    struct rlimit limit, less;
    int status;
    if (now == 0 || getrlimit(RLIMIT_AS, &limit) != 0)
        return regcomp(compiled, expression, REG_EXTENDED | REG_NOSUB);
    less = limit;
    if (now + bytes < limit.rlim_cur)
        less.rlim_cur = now + bytes;
    setrlimit(RLIMIT_AS, &less);
    status = regcomp(compiled, expression, REG_EXTENDED | REG_NOSUB);
    setrlimit(RLIMIT_AS, &limit);
    return status;
}

bool filter_check(const char *expression, char *error, size_t error_bytes) {
    char why[200];
    regex_t compiled;
    int status = compile_within(&compiled, expression, FILTER_MEMORY);

    if (status == 0) {
        regfree(&compiled);
        return true;
    }
    regerror(status, &compiled, why, sizeof why);
    snprintf(error, error_bytes, "'%.100s' is no regular expression: %s", expression, why);
    return false;
}

static bool matches(const regex_t *expression, const char *text) {
    return text[0] != '\0' && regexec(expression, text, 0, NULL, 0) == 0;
}

static bool line_matches(const regex_t *expression, const struct profile *profile,
                         const struct profile_line *line) {
    const struct profile_function *function = &profile->functions[line->function];
    char place[4200];
    if (matches(expression, function->name))
        return true;
    if (function->file[0] == '\0')
        return false;
    if (line->line != 0)
        snprintf(place, sizeof place, "%.4100s:%u", function->file, line->line);
    else
        snprintf(place, sizeof place, "%.4100s", function->file);
    return matches(expression, place);
}

/* It passed the check: only memory can be short. */
static void compile(regex_t *compiled, const char *expression) {
    if (regcomp(compiled, expression, REG_EXTENDED | REG_NOSUB) != 0)
        memory_die("a regular expression");
}

bool *filter_match_modules(const struct profile *profile, const char *expression) {
    bool *matched = memory_new(profile->n_modules, sizeof *matched, "modules");
    regex_t compiled;

    compile(&compiled, expression);
    for (uint32_t i = 1; i < profile->n_modules; i++)
        matched[i] = matches(&compiled, profile->modules[i].path);
    regfree(&compiled);
    return matched;
}

bool *filter_match_locations(const struct profile *profile, const char *expression) {
    bool *matched = memory_new(profile->n_locations, sizeof *matched, "locations");
    regex_t compiled;

    compile(&compiled, expression);
    for (uint32_t i = 1; i < profile->n_locations; i++) {
        const struct profile_location *location = &profile->locations[i];
        matched[i] = matches(&compiled, profile->modules[location->module].path);
        for (uint32_t k = 0; k < location->n_lines && !matched[i]; k++)
            matched[i] = line_matches(&compiled, profile, &location->lines[k]);
    }
    regfree(&compiled);
    return matched;
}

/* By node: is one of its frames at one of these locations? NULL where nothing is asked. */
static bool *match_contexts(const struct profile *profile, const bool *locations) {
    bool *matched;
    if (locations == NULL)
        return NULL;
    matched = memory_new(profile->n_nodes, sizeof *matched, "contexts");
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        matched[i] = matched[node->parent] || locations[node->location];
    }
    return matched;
}

/* What becomes of a context. */
enum fate { STAYS, OUT_OF_FOCUS, UNKNOWN, IGNORED, FATES };

struct fates {
    const bool *focus, *ignore; /* by node, NULL: not asked for */
    const bool *hidden;         /* its frames are not all known: one of them may be matched */
};

static enum fate fate_of(const struct fates *fates, uint32_t node) {
    bool in_focus = fates->focus == NULL || fates->focus[node];
    if (fates->ignore != NULL && fates->ignore[node])
        return IGNORED;
    if (fates->hidden[node] && (fates->ignore != NULL || !in_focus))
        return UNKNOWN;
    return in_focus ? STAYS : OUT_OF_FOCUS;
}

/* By node: is it in the path of a context that stays? */
static bool *paths_of(const struct profile *profile, const struct fates *fates) {
    bool *path = memory_new(profile->n_nodes, sizeof *path, "contexts");
    for (uint32_t i = profile->n_nodes; i-- > 1;) {
        const struct profile_node *node = &profile->nodes[i];
        path[i] |= (node->count > 0 || node->error > 0) && fate_of(fates, i) == STAYS;
        path[node->parent] |= path[i];
    }
    return path;
}

static struct profile *copy_paths(const struct profile *from, const struct fates *fates,
                                  const bool *path) {
    struct profile *to = copy_begin(from);
    uint32_t *copy = memory_new(from->n_nodes, sizeof *copy, "contexts");
    uint32_t *place = memory_new(from->n_locations, sizeof *place, "locations");
    static const char *const names[FATES] = {[OUT_OF_FOCUS] = FILTER_NOT_IN_FOCUS,
                                             [UNKNOWN] = PROFILE_PRUNED,
                                             [IGNORED] = FILTER_IGNORED};
    uint32_t pseudo[FATES] = {0};
    for (uint32_t i = 1; i < from->n_nodes; i++) {
        const struct profile_node *node = &from->nodes[i];
        uint32_t root = profile_root(to, node->process);
        enum fate fate = fate_of(fates, i);
        uint32_t gains = root;
        if (node->parent == 0) {
            copy[i] = root;
        } else if (path[i]) {
            if (place[node->location] == 0)
                place[node->location] = copy_location(to, from, node->location);
            copy[i] = profile_add_node(to, copy[node->parent], place[node->location], 0, 0);
            to->nodes[copy[i]].inlined = node->inlined;
            gains = copy[i];
        }
        if (node->count == 0 && node->error == 0)
            continue;
        if (fate != STAYS) {
            if (pseudo[fate] == 0)
                pseudo[fate] = profile_add_pseudo(to, names[fate]);
            gains = profile_add_node(to, root, pseudo[fate], 0, 0);
        }
        copy_weight(&to->nodes[gains], node);
    }
    free(copy);
    free(place);
    return to;
}

/* By locations; NULL: not asked for. */
static struct profile *filter(const struct profile *profile, const bool *focus,
                              const bool *ignore) {
    bool *in_focus = match_contexts(profile, focus), *ignored = match_contexts(profile, ignore);
    bool *hidden = profile_find_hidden(profile);
    const struct fates fates = {in_focus, ignored, hidden};
    bool *path = paths_of(profile, &fates);
    struct profile *filtered = copy_paths(profile, &fates, path);
    free(path);
    free(hidden);
    free(in_focus);
    free(ignored);
    return filtered;
}

struct profile *profile_filter(const struct profile *profile, const char *focus,
                               const char *ignore) {
    bool *in_focus = focus != NULL ? filter_match_locations(profile, focus) : NULL;
    bool *ignored = ignore != NULL ? filter_match_locations(profile, ignore) : NULL;
    struct profile *filtered = filter(profile, in_focus, ignored);
    free(in_focus);
    free(ignored);
    return filtered;
}

struct profile *profile_ignore(const struct profile *profile, const bool *matched) {
    return filter(profile, NULL, matched);
}
