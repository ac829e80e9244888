/*
 * ask.h - asks hcctd now and then, and does not keep the keyboard waiting: a thread of its own
 * asks, and hands over what was said.
 */
#ifndef HCCT_TOP_ASK_H
#define HCCT_TOP_ASK_H

#include "client/processes.h"
#include "client/top/model.h"
#include "client/top/threads.h"

enum top_what { TOP_ASK_CONTEXTS, TOP_ASK_THREADS, TOP_ASK_PROCESSES };

/* A question. */
struct top_want {
    enum top_what what;
    uint32_t pid;       /* 0: any */
    char exe[4096];     /* "": any */
    const char *window; /* "60s", ...; a constant; NULL: since the start only */
    enum profile_by by;
    double phi;      /* contexts below it are not shown; 0: PHI_DEFAULT of top/ask.c */
    unsigned n;      /* 0: all */
    double delay;    /* seconds from one question to the next */
    bool paused;     /* not to be asked again */
    unsigned number; /* to tell answers to it from others */
};

enum top_outcome {
    TOP_SAID_ANSWER,
    TOP_SAID_NO_DAEMON, /* nobody listens */
    TOP_SAID_NOTHING,   /* no such process, or none at all */
    TOP_SAID_ERROR,
};

/* A profile as it came: a .pb.gz. */
struct top_copy {
    char *data; /* malloc'ed; NULL: there is none */
    size_t bytes;
};

/* What was said to one question. */
struct top_said {
    struct top_want want;
    enum top_outcome outcome;
    char sentence[512];  /* why, unless it is an answer; what was refused, when the window was */
    bool window_refused; /* the answer is without it */
    struct top_model *model; /* the others are empty unless they were asked for */
    struct top_threads threads;
    struct process_list processes;
    struct top_copy copy[TOP_SPANS]; /* of what the model is made of */
};

void top_copies_free(struct top_copy copy[static TOP_SPANS]);

/* Asks here and now. The caller frees what was said. Any thread. */
void top_ask_once(const char *socket, const struct top_want *want, struct top_said *said);
void top_said_clear(struct top_said *said);

/* The asking thread; `socket` is copied. NULL: it can't be made, errno says why. */
struct top_ask *top_ask_start(const char *socket);
/* From now on this is asked every delay, and at once, too, with `now`; a question that is under way
 * goes on.
 * The following are for one thread. */
void top_ask_want(struct top_ask *ask, const struct top_want *want, bool now);
/* Becomes readable when there is something to take. */
int top_ask_fd(const struct top_ask *ask);
/* The newest thing that was said, for the caller to clear and free; NULL: none. */
struct top_said *top_ask_take(struct top_ask *ask);
/* For how long a question has been under way, 0: there is none. */
uint64_t top_ask_waiting_ns(struct top_ask *ask);
/* Ends it; does not wait for a question that is under way. */
void top_ask_stop(struct top_ask *ask);

#endif
