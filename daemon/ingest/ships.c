/*
 * ships.c - a queue of stacks and one thread that unwinds them in order.
 */
#include "daemon/ingest/ships.h"

#include <stdlib.h>
#include <time.h>

#include "common/wire/wire.h"
#include "daemon/ingest/registry.h"
#include "daemon/ingest/windows.h"

#define PROCESS_BYTES_MAX (SHIPS_BYTES_MAX / 2) /* on their way at a time from one process */
#define PATIENCE_S        5                     /* of a query */

/* The worker failed over so many of a process's stacks: it gets no more of them. */
#define STRIKES_OUT 2

static struct {
    pthread_mutex_t lock;
    pthread_cond_t more, done;
    pthread_t thread;
    struct ship_list waiting;
    bool running;
    struct elf_worker *worker;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .more = PTHREAD_COND_INITIALIZER,
           .done = PTHREAD_COND_INITIALIZER};

/* ---- credit, under the process's lock ---- */

/* A stack in the tree, and in the pane of now if there is one. */
struct place {
    struct mcct_cursor cursor, pane_cursor;
};

/* Into the trace, too, where all stacks of a process are one thread's. */
static void push(struct process *p, struct place *place, uint64_t routine, uint64_t site) {
    uint32_t frame = addresses_frame(p->addresses, routine, site);
    mcct_push(&place->cursor, frame);
    if (place->pane_cursor.tree != NULL)
        mcct_push(&place->pane_cursor, frame);
    trace_push(&p->ships_trace, frame);
}

static void open_place(struct process *p, struct place *place) {
    struct mcct *pane = p->panes != NULL ? panes_tree(p->panes) : NULL;
    place->pane_cursor.tree = NULL;
    mcct_cursor_open(p->tree, &place->cursor);
    if (pane != NULL)
        mcct_cursor_open(pane, &place->pane_cursor);
    else if (p->panes != NULL)
        panes_miss(p->panes);
}

static void credit_place(struct place *place, uint64_t weight) {
    mcct_credit(&place->cursor, weight);
    mcct_cursor_close(&place->cursor);
    if (place->pane_cursor.tree == NULL)
        return;
    mcct_credit(&place->pane_cursor, weight);
    mcct_cursor_close(&place->pane_cursor);
}

/* `pc` is where the innermost frame was. */
static void credit(struct process *p, const struct shipped_walk *walk, uint64_t pc,
                   uint32_t generation, uint64_t weight) {
    struct place place;
    addresses_at(p->addresses, generation);
    open_place(p, &place);
    if (p->ships_trace.process == NULL)
        trace_thread_begin(&p->ships_trace, p->trace);
    if (walk->mark != 0)
        push(p, &place, walk->mark, 0);
    for (uint32_t i = walk->n; i-- > 0;)
        push(p, &place, walk->frames[i].routine, walk->frames[i].site);
    bool here = p->sampling.lines && walk->n > 0;
    if (here)
        push(p, &place, WIRE_HERE, pc);
    credit_place(&place, weight);
    trace_credit(&p->ships_trace, weight);
    trace_pop(&p->ships_trace, walk->n + (walk->mark != 0) + here);
    trace_thread_leave(&p->ships_trace);
}

static void count(struct process_ships *ships, uint32_t mark) {
    ships->credited++;
    ships->complete += mark == 0;
    ships->truncated += mark == WIRE_PSEUDO_TRUNCATED;
    ships->no_module += mark == WIRE_PSEUDO_NO_MODULE;
    ships->no_rule += mark == WIRE_PSEUDO_NO_RULE;
    ships->bad_stack += mark == WIRE_PSEUDO_BAD_STACK;
    ships->short_copy += mark == WIRE_PSEUDO_SHORT_COPY;
}

void ships_refuse(struct process *p, uint64_t n, uint64_t weight) {
    static const struct shipped_walk none = {.mark = WIRE_PSEUDO_NO_RULE};
    if (n == 0)
        return;
    if (weight > 0)
        credit(p, &none, 0, 0, weight);
    p->ended.ships.credited += n;
    p->ended.ships.no_rule += n;
    p->ended.ships.refused += n;
}

void ships_take(struct process *p, struct ship_list *taken) {
    struct ship *ship;
    *taken = (struct ship_list){0};
    while ((ship = ship_list_take(&p->ships_read)) != NULL) {
        if (p->ships_bytes + ship->bytes > PROCESS_BYTES_MAX || p->ships_strikes >= STRIKES_OUT) {
            ships_refuse(p, 1, ship->weight);
            ship_free(ship);
            continue;
        }
        p->ships_bytes += ship->bytes;
        p->ships_queued++;
        ship_list_add(taken, ship);
    }
}

/* ---- the thread ---- */

/* `walk` is NULL when there was none. Gives the stack's reference to its process back. */
static void finish(struct ship *ship, const struct shipped_walk *walk) {
    struct process *p = ship->process;
    pthread_mutex_lock(&p->lock);
    windows_turn(p, windows_now());
    if (walk != NULL) {
        credit(p, walk, ship->stack.pc, ship->generation, ship->weight);
        count(&p->ended.ships, walk->mark);
    } else {
        ships_refuse(p, 1, ship->weight);
    }
    p->ships_bytes -= ship->bytes;
    p->ships_done++;
    if (!process_has_ships(p) && !p->live) {
        addresses_free(p->addresses); /* the end of the process has left them to us */
        p->addresses = NULL;
    }
    bool finished = !p->live && !process_has_ships(p);
    pthread_mutex_unlock(&p->lock);
    if (finished)
        process_say_finished(p);
    pthread_mutex_lock(&queue.lock);
    pthread_cond_broadcast(&queue.done);
    pthread_mutex_unlock(&queue.lock);
    registry_put(p);
    ship_free(ship);
}

static void unwind(struct ship *ship) {
    struct shipped_walk walk;
    if (ship->process->ships_strikes < STRIKES_OUT &&
        elf_worker_unwind(queue.worker, &ship->stack, &walk)) {
        finish(ship, &walk);
        free(walk.frames);
        return;
    }
    ship->process->ships_strikes++;
    finish(ship, NULL);
}

static struct ship *next(void) {
    pthread_mutex_lock(&queue.lock);
    while (queue.waiting.first == NULL && queue.running)
        pthread_cond_wait(&queue.more, &queue.lock);
    struct ship *ship = queue.running ? ship_list_take(&queue.waiting) : NULL;
    pthread_mutex_unlock(&queue.lock);
    return ship;
}

static void *run(void *unused) {
    struct ship *ship;
    (void)unused;
    while ((ship = next()) != NULL)
        unwind(ship);
    return NULL;
}

bool ships_start(struct elf_worker *worker) {
    queue.worker = worker;
    queue.running = true;
    if (pthread_create(&queue.thread, NULL, run, NULL) == 0)
        return true;
    queue.running = false;
    return false;
}

void ships_stop(void) {
    struct ship *ship;
    pthread_mutex_lock(&queue.lock);
    queue.running = false;
    pthread_cond_signal(&queue.more);
    pthread_mutex_unlock(&queue.lock);
    pthread_join(queue.thread, NULL);
    while ((ship = ship_list_take(&queue.waiting)) != NULL)
        finish(ship, NULL);
}

void ships_submit(struct process *p, struct ship_list *taken) {
    struct ship *ship;
    while ((ship = ship_list_take(taken)) != NULL) {
        registry_ref(p);
        ship->process = p;
        pthread_mutex_lock(&queue.lock);
        bool running = queue.running;
        if (running) {
            ship_list_add(&queue.waiting, ship);
            pthread_cond_signal(&queue.more);
        }
        pthread_mutex_unlock(&queue.lock);
        if (!running)
            finish(ship, NULL);
    }
}

void ships_settle(struct process *p) {
    struct timespec until;
    int status = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_S;
    uint64_t upto = p->ships_queued;
    pthread_mutex_lock(&queue.lock);
    while (p->ships_done < upto && status == 0)
        status = pthread_cond_clockwait(&queue.done, &queue.lock, CLOCK_MONOTONIC, &until);
    pthread_mutex_unlock(&queue.lock);
}
