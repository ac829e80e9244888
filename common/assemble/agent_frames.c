/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * agent_frames.c - which frames are the agent's, and what stands in their place.
 *
 * The outermost frame of the agent that a program calls is a wrapper: what that calls in another
 * module is the application's. What deeper ones call is the agent's own, unless code of the
 * application comes below; so is all where libc or the loader calls the agent, at the beginning and
 * at the end of threads and processes.
 */
#include "common/assemble/agent_frames.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/profile/copy.h"
#include "common/profile/numbers.h"

enum owner { SYSTEM, APPLICATION, OF_AGENT };

enum role {
    SHOWN,
    WRAPPER, /* the frame goes, what it calls stays */
    OWN,     /* its weight, and what is below, is the agent's */
};

struct hiding {
    const struct profile *from;
    struct profile *to;
    enum owner *owner; /* by module of `from` */
    bool *leads_back;  /* by node: the application is at it or below */
    enum role *role;   /* by node */
    uint32_t *node;    /* its node of `to`, or its caller's */
    uint32_t *place;   /* location of `from` -> of `to` */
    uint32_t agent;    /* location of `to` */
};

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* The agent, the one that is sent to a process that runs, and what stands before malloc and locks.
 */
static bool is_ours(const char *name) {
    static const char *const objects[] = {"libhcctagent.so", "libhcctattach.so", "libhcctblocks.so",
                                          "libhcctlocks.so"};
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if (strcmp(name, objects[i]) == 0)
            return true;
    return false;
}

static enum owner owner_of(const char *path) {
    const char *name = profile_basename(path);
    if (is_ours(name))
        return OF_AGENT;
    if (begins(name, "libc.so") || begins(name, "libc-") || begins(name, "libpthread") ||
        begins(name, "ld-linux") || strcmp(path, "[vdso]") == 0)
        return SYSTEM;
    return APPLICATION;
}

/* What has no module (marks, what is not known) says nothing: as libc. */
static enum owner owner(const struct hiding *h, uint32_t node) {
    return h->owner[h->from->locations[h->from->nodes[node].location].module];
}

static bool find_owners(struct hiding *h) {
    bool found = false;
    h->owner = memory_new(h->from->n_modules, sizeof *h->owner, "modules");
    for (uint32_t i = 1; i < h->from->n_modules; i++) {
        h->owner[i] = owner_of(h->from->modules[i].path);
        found |= h->owner[i] == OF_AGENT;
    }
    return found;
}

static void find_what_leads_back(struct hiding *h) {
    h->leads_back = memory_new(h->from->n_nodes, sizeof *h->leads_back, "contexts");
    for (uint32_t i = h->from->n_nodes; i-- > 1;) {
        h->leads_back[i] |= owner(h, i) == APPLICATION;
        if (h->leads_back[i])
            h->leads_back[h->from->nodes[i].parent] = true;
    }
}

/* The caller has its role already. */
static enum role role_below(const struct hiding *h, uint32_t node, uint32_t caller) {
    if (h->role[caller] == OWN)
        return h->leads_back[node] ? WRAPPER : OWN;
    if (owner(h, node) != OF_AGENT)
        return SHOWN;
    if (h->role[caller] == SHOWN && owner(h, caller) == APPLICATION)
        return WRAPPER;
    return h->leads_back[node] ? WRAPPER : OWN;
}

static enum role role_of(const struct hiding *h, uint32_t node) {
    const struct profile_node *it = &h->from->nodes[node];
    enum role role;
    if (it->parent == 0 || owner(h, node) == APPLICATION)
        return SHOWN;
    role = role_below(h, node, it->parent);
    return role == WRAPPER && profile_is_pruned(h->from, it->location) ? SHOWN : role;
}

static uint32_t place_of(struct hiding *h, uint32_t location) {
    if (h->place[location] == 0)
        h->place[location] = copy_location(h->to, h->from, location);
    return h->place[location];
}

static void add(struct profile *to, uint32_t node, const struct profile_node *source) {
    struct profile_node *sum = &to->nodes[node];
    sum->count += source->count;
    sum->error += source->error;
    sum->counter_error += source->counter_error;
}

static void put(struct hiding *h, uint32_t i) {
    const struct profile_node *source = &h->from->nodes[i];
    uint32_t caller = h->node[source->parent];
    if (source->parent == 0) {
        h->node[i] = profile_root(h->to, source->process);
        add(h->to, h->node[i], source);
    } else if (h->role[i] == SHOWN) {
        h->node[i] = profile_add_node(h->to, caller, place_of(h, source->location), 0, 0);
        h->to->nodes[h->node[i]].inlined = source->inlined;
        add(h->to, h->node[i], source);
    } else {
        h->node[i] = caller;
        if (source->count > 0 || source->error > 0)
            add(h->to, profile_add_node(h->to, caller, h->agent, 0, 0), source);
    }
}

struct profile *agent_frames_hide(struct profile *profile) {
    struct hiding h = {.from = profile};

    if (find_owners(&h)) {
        find_what_leads_back(&h);
        h.role = memory_new(profile->n_nodes, sizeof *h.role, "contexts");
        h.node = memory_new(profile->n_nodes, sizeof *h.node, "contexts");
        h.place = memory_new(profile->n_locations, sizeof *h.place, "locations");
        h.to = copy_begin(profile);
        h.agent = profile_add_pseudo(h.to, PROFILE_AGENT);
        for (uint32_t i = 1; i < profile->n_nodes; i++) {
            h.role[i] = role_of(&h, i);
            put(&h, i);
        }
        numbers_copy(h.to, profile);
        profile_free(profile);
        profile = h.to;
    }
    free(h.owner);
    free(h.leads_back);
    free(h.role);
    free(h.node);
    free(h.place);
    return profile;
}
