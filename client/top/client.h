/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * client.h - sends requests now and then, to hcctd (daemon.h) or to whoever else has profiles, on a
 * thread of its own: the keyboard does not wait. Hands the responses over.
 */
#ifndef HCCT_TOP_CLIENT_H
#define HCCT_TOP_CLIENT_H

#include "client/processes.h"
#include "client/top/kinds.h"
#include "client/top/model.h"
#include "client/top/strip.h"
#include "client/top/threads.h"

enum top_what { TOP_REQUEST_CONTEXTS, TOP_REQUEST_THREADS, TOP_REQUEST_PROCESSES };

/* A request. */
struct top_request {
    enum top_what what;
    uint32_t pid;                   /* 0: any */
    char exe[4096];                 /* "": any */
    const char *window;             /* "60s", ...; a constant; NULL: since the start only */
    struct top_range range;         /* instead of the window, where one is chosen */
    unsigned columns;               /* of the time line, 0: none is wanted */
    char kind[PROCESSES_KIND_ROOM]; /* what contexts weigh, as hcctd says it; "": any */
    bool choose;            /* where it is not there, the first of those that are is taken */
    struct top_steps steps; /* by which contexts are rewritten */
    enum profile_by by;
    double phi;      /* contexts below it are not shown; 0: TOP_PHI_DEFAULT */
    unsigned n;      /* 0: all */
    double delay;    /* refresh interval in seconds */
    bool paused;     /* not to be asked again */
    unsigned number; /* distinguishes responses to it from others */
};

enum top_outcome {
    TOP_ANSWERED,
    TOP_NO_DAEMON, /* nobody listens */
    TOP_NOT_FOUND, /* no such process, or none at all */
    TOP_FAILED,
};

/* A profile as it came: a .pb.gz. */
struct top_copy {
    char *data; /* malloc'ed; NULL: there is none */
    size_t bytes;
};

/* The response to one request. */
struct top_response {
    struct top_request request; /* with the kind that was taken */
    enum top_outcome outcome;
    char sentence[512];  /* why, unless it is an answer; what was refused, when the window was */
    bool window_refused; /* the answer is without it */
    struct top_model *model; /* the others are empty unless they were asked for */
    struct top_kinds kinds;  /* that there are; none unless one is to be chosen */
    struct top_strip strip;
    struct top_threads threads;
    struct process_list processes;
    struct top_copy copy[TOP_SPANS]; /* of what the model is made of */
};

void top_copies_free(struct top_copy copy[static TOP_SPANS]);

#define TOP_PHI_DEFAULT 1e-4 /* a screen has no room for less, and is drawn anew all the time */

/* Who answers. `response` has the request, an outcome of TOP_ANSWERED, and nothing else, when it is
 * asked; one request at a time, from any thread. */
struct top_source {
    const char *name; /* for people */
    void (*answer)(const struct top_source *source, const struct top_request *request,
                   struct top_response *response);
};

/* Sends a request and waits for the response, which the caller frees. Any thread. */
void top_client_once(const struct top_source *source, const struct top_request *request,
                     struct top_response *response);
void top_response_clear(struct top_response *response);

/* The asking thread. NULL: it can't be made, errno says why. `source` may be asked until the
 * program ends: a request that is under way is not waited for. */
struct top_client *top_client_start(const struct top_source *source);
/* This is requested every delay from now on, and at once, too, with `now`; a request that is under
 * way goes on. The following are for one thread. */
void top_client_request(struct top_client *client, const struct top_request *request, bool now);
/* What the source is called. */
const char *top_client_of(const struct top_client *client);
/* Becomes readable when there is something to take. */
int top_client_fd(const struct top_client *client);
/* The newest response, for the caller to clear and free; NULL: none. */
struct top_response *top_client_take(struct top_client *client);
/* For how long a request has been under way, 0: there is none. */
uint64_t top_client_waiting_ns(struct top_client *client);
/* Ends it; does not wait for a request that is under way. */
void top_client_stop(struct top_client *client);

#endif
