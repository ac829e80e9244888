/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * scatter.c - sums of squares and of products by function, clusters of threads, and classes.
 */
#include "common/tree/scatter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/few_samples.h"
#include "common/base/seeded_hash.h"
#include "common/tree/correlation.h"
#include "common/tree/draws.h"
#include "common/tree/saturating.h"

#define LEVELS      256         /* of a stack, from the root on */
#define ITEMS       128         /* functions of one cluster */
#define PLACES      256         /* of their index, a power of two */
#define SLOTS_FIRST 128         /* of the table, powers of two */
#define SLOTS_MOST  4096        /* half of them are used */
#define LIGHT       2048        /* a function below one part in so many is the first to go */
#define STEP_SQUARE (13.0 / 12) /* the mean square, where that is 1 */
#define LEAST_MET   10          /* clusters that have met functions: fewer tell nothing */

/* ---- functions ---- */

/* Which of a function's weights. */
struct name {
    uint64_t key; /* 0: the slot is free */
    uint32_t frame;
    bool at_work;
};

struct function {
    struct name name;
    double weight;
    double squares;     /* of what was left to chance in a cluster, of this function ... */
    double with_all;    /* ... times what the whole cluster has */
    double next, after; /* ... times what it has in the next cluster, and in the one after it */
    double greatest;    /* of the squares */
    uint64_t met;       /* clusters */
};

struct scatter {
    bool independent;
    struct function *slots;
    uint32_t room, n;
    double weight;      /* of all samples */
    double squares;     /* of them, what was left to chance ... */
    double by_coin;     /* ... but not to that of steps */
    double rarest;      /* of the last sample: what one may weigh that is drawn now */
    double clusters;    /* squares of clusters */
    double next, after; /* products of neighbours, as of a function */
    uint64_t met;
    struct scatter_thread *threads; /* living ones */
    struct scatter_total total;     /* of the others, but for what single samples add */
};

/* Known by it: two have the same by a chance of one in 2^64. */
static uint64_t key_of(uint64_t routine) {
    uint64_t key = seeded_hash(0, routine);
    return key != 0 ? key : 1;
}

/* The function's slot, or the free one where it would be. */
static struct function *find(struct function *slots, uint32_t room, uint64_t key) {
    uint32_t i = (uint32_t)key & (room - 1);
    while (slots[i].name.key != 0 && slots[i].name.key != key)
        i = (i + 1) & (room - 1);
    return &slots[i];
}

/* Functions of at least `least` move to a table of `room` slots. False: no memory. */
static bool move(struct scatter *scatter, uint32_t room, double least) {
    struct function *slots = calloc(room, sizeof *slots);
    if (slots == NULL)
        return false;
    scatter->n = 0;
    for (uint32_t i = 0; i < scatter->room; i++)
        if (scatter->slots[i].name.key != 0 && scatter->slots[i].weight >= least) {
            *find(slots, room, scatter->slots[i].name.key) = scatter->slots[i];
            scatter->n++;
        }
    free(scatter->slots);
    scatter->slots = slots;
    scatter->room = room;
    return true;
}

static bool make_room(struct scatter *scatter) {
    if (2 * scatter->n < scatter->room)
        return true;
    if (scatter->room < SLOTS_MOST)
        return move(scatter, 2 * scatter->room, 0);
    for (double least = scatter->weight / LIGHT; 4 * scatter->n > scatter->room; least *= 2)
        if (!move(scatter, scatter->room, least))
            return false;
    return true;
}

struct scatter *scatter_new(bool independent) {
    struct scatter *scatter = calloc(1, sizeof *scatter);
    if (scatter != NULL)
        scatter->independent = independent;
    if (scatter != NULL && !move(scatter, SLOTS_FIRST, 0)) {
        free(scatter);
        return NULL;
    }
    return scatter;
}

/* ---- clusters of a thread ---- */

struct item {
    struct name name;
    float weight, chance;
    uint32_t seen; /* the last sample that it is in */
};

struct cluster {
    float weight, chance;
    uint32_t samples, n;
    uint8_t place[PLACES]; /* by key: the number of the item + 1, 0: none */
    struct item item[ITEMS];
};

_Static_assert(ITEMS<UINT8_MAX && PLACES> ITEMS, "places have room");

#define NEIGHBOURS 2

struct scatter_thread {
    struct scatter *scatter;
    struct scatter_thread *next, **link;
    struct scatter_total_thread total;
    uint64_t depth;
    struct name leaf;                       /* the innermost function; key 0: not known */
    struct name level[LEVELS];              /* the outermost ones */
    struct cluster *now, *last[NEIGHBOURS]; /* of the three below; the last one first */
    struct cluster cluster[1 + NEIGHBOURS];
};

static void empty(struct cluster *cluster) {
    cluster->weight = cluster->chance = 0;
    cluster->samples = cluster->n = 0;
    memset(cluster->place, 0, sizeof cluster->place);
}

struct scatter_thread *scatter_thread_new(struct scatter *scatter) {
    struct scatter_thread *thread = scatter != NULL ? malloc(sizeof *thread) : NULL;
    if (thread == NULL)
        return NULL;
    thread->scatter = scatter;
    thread->depth = 0;
    thread->total = (struct scatter_total_thread){0};
    thread->leaf = (struct name){0};
    thread->now = &thread->cluster[0];
    empty(thread->now);
    for (int i = 0; i < NEIGHBOURS; i++) {
        thread->last[i] = &thread->cluster[i + 1];
        empty(thread->last[i]);
    }
    thread->next = scatter->threads;
    thread->link = &scatter->threads;
    if (thread->next != NULL)
        thread->next->link = &thread->next;
    scatter->threads = thread;
    return thread;
}

/* The place of a function: its own, or the free one where it would be. */
static uint8_t *place_of(const struct cluster *cluster, uint64_t key) {
    uint32_t i = (uint32_t)(key >> 32) & (PLACES - 1);
    while (cluster->place[i] != 0 && cluster->item[cluster->place[i] - 1].name.key != key)
        i = (i + 1) & (PLACES - 1);
    return (uint8_t *)&cluster->place[i];
}

static double chance_in(const struct cluster *cluster, uint64_t key) {
    uint8_t number = *place_of(cluster, key);
    return number != 0 ? cluster->item[number - 1].chance : 0;
}

static void add_item(struct scatter_thread *thread, const struct cluster *cluster,
                     const struct item *item) {
    struct scatter *scatter = thread->scatter;
    uint64_t key = item->name.key;
    if (!make_room(scatter))
        return;
    struct function *function = find(scatter->slots, scatter->room, key);
    scatter->n += function->name.key == 0;
    function->name = item->name;
    function->weight += item->weight;
    function->squares += (double)item->chance * item->chance;
    function->greatest = fmax(function->greatest, (double)item->chance * item->chance);
    function->with_all += (double)item->chance * cluster->chance;
    function->next += item->chance * chance_in(thread->last[0], key);
    function->after += item->chance * chance_in(thread->last[1], key);
    function->met++;
}

/* The cluster is over: a new one begins. */
static void end_cluster(struct scatter_thread *thread) {
    struct scatter *scatter = thread->scatter;
    struct cluster *over = thread->now;
    if (over->samples == 0)
        return;
    for (uint32_t i = 0; i < over->n; i++)
        add_item(thread, over, &over->item[i]);
    scatter->clusters += (double)over->chance * over->chance;
    scatter->next += (double)over->chance * thread->last[0]->chance;
    scatter->after += (double)over->chance * thread->last[1]->chance;
    scatter->met++;
    thread->now = thread->last[1];
    thread->last[1] = thread->last[0];
    thread->last[0] = over;
    empty(thread->now);
}

void scatter_thread_free(struct scatter_thread *thread) {
    if (thread == NULL)
        return;
    end_cluster(thread);
    scatter_total_end(&thread->scatter->total, &thread->total);
    *thread->link = thread->next;
    if (thread->next != NULL)
        thread->next->link = thread->link;
    free(thread);
}

void scatter_finish(struct scatter *scatter) {
    for (struct scatter_thread *t = scatter != NULL ? scatter->threads : NULL; t != NULL;
         t = t->next)
        end_cluster(t);
}

void scatter_free(struct scatter *scatter) {
    if (scatter == NULL)
        return;
    while (scatter->threads != NULL)
        scatter_thread_free(scatter->threads);
    free(scatter->slots);
    free(scatter);
}

/* ---- where a thread is ---- */

static void enter(struct scatter_thread *thread, struct name function) {
    thread->leaf = function;
    if (thread->depth < LEVELS)
        thread->level[thread->depth] = function;
    thread->depth++;
}

void scatter_push(struct scatter_thread *thread, uint64_t routine, uint32_t frame) {
    if (thread != NULL)
        enter(thread, (struct name){.key = key_of(routine), .frame = frame});
}

void scatter_push_leaf_pc(struct scatter_thread *thread) {
    if (thread != NULL)
        enter(thread, thread->leaf);
}

void scatter_repeat(struct scatter_thread *thread, uint64_t n) {
    if (thread == NULL)
        return;
    for (; n > 0 && thread->depth < LEVELS; n--)
        enter(thread, thread->leaf);
    thread->depth += n;
}

void scatter_pop(struct scatter_thread *thread, uint64_t n) {
    if (thread == NULL || n == 0)
        return;
    thread->depth -= n < thread->depth ? n : thread->depth;
    bool known = thread->depth > 0 && thread->depth <= LEVELS;
    thread->leaf = known ? thread->level[thread->depth - 1] : (struct name){0};
}

/* ---- samples ---- */

/* Its item, NULL: there is no room for it. */
static struct item *item_of(struct cluster *cluster, struct name name) {
    uint8_t *place = place_of(cluster, name.key);
    if (*place != 0)
        return &cluster->item[*place - 1];
    if (cluster->n == ITEMS)
        return NULL;
    *place = (uint8_t)++cluster->n;
    cluster->item[cluster->n - 1] = (struct item){.name = name};
    return &cluster->item[cluster->n - 1];
}

/* A function that is on the stack several times has the sample's weight once. */
static void add_to(struct cluster *cluster, struct name name, float weight, float chance) {
    struct item *item = name.key != 0 ? item_of(cluster, name) : NULL;
    if (item == NULL || item->seen == cluster->samples)
        return;
    item->seen = cluster->samples;
    item->weight += weight;
    item->chance += chance;
}

void scatter_credit(struct scatter_thread *thread, const struct scatter_sample *sample) {
    if (thread == NULL)
        return;
    scatter_total_credit(&thread->scatter->total, &thread->total, sample);
    if (!sample->same_burst)
        end_cluster(thread);
    struct cluster *now = thread->now;
    now->samples++;
    struct name at_work = thread->leaf;
    float weight = (float)sample->weight, chance = (float)sample->chance;
    at_work.at_work = true;
    at_work.key = at_work.key != 0 ? key_of(at_work.key) : 0;
    add_to(now, at_work, weight, chance);
    for (uint32_t i = 0; i < thread->depth && i < LEVELS; i++)
        add_to(now, thread->level[i], weight, chance);
    now->weight += weight;
    now->chance += chance;
    thread->scatter->weight += (double)sample->weight;
    thread->scatter->squares += (double)sample->chance * (double)sample->chance;
    thread->scatter->by_coin += scatter_by_coin(sample);
    thread->scatter->rarest = (double)sample->rarest;
}

/* Its thread sends copies of the stack that are so far apart, as it sends those alone. */
void scatter_skip(struct scatter_thread *thread, const struct scatter_sample *sample) {
    struct scatter_sample copy = *sample;
    if (thread == NULL)
        return;
    copy.step = copy.step > copy.chance || copy.attached ? copy.step : copy.chance;
    scatter_total_credit(&thread->scatter->total, &thread->total, &copy);
    end_cluster(thread);
    for (int i = 0; i < NEIGHBOURS; i++)
        empty(thread->last[i]);
}

/* ---- sums ---- */

/* What functions weigh beyond their share of each cluster: squares, and products of neighbours. */
struct excess {
    double squares, next, after;
    double independent; /* what the squares would be, were each sample drawn by itself */
    uint64_t met;
};

static double share_of(const struct scatter *scatter, const struct function *function) {
    return scatter->weight > 0 ? function->weight / scatter->weight : 0;
}

/* (its own - its share of all) * (the same of the neighbour), multiplied out. */
static void add_function(const struct scatter *scatter, const struct function *function,
                         struct excess *excess) {
    double share = share_of(scatter, function), square = share * share;
    double mixed = 2 * share * function->with_all / scatter->clusters;
    excess->squares += function->squares + (square - mixed) * scatter->clusters;
    excess->next += function->next + (square - mixed) * scatter->next;
    excess->after += function->after + (square - mixed) * scatter->after;
    excess->independent += share * (1 - share) * scatter->squares;
    excess->met += function->met;
}

/* Neighbours are less alike where their steps differ, whatever they have seen: that is not meant.
 */
static double likeness(const struct scatter *scatter, double correlation, double neighbours) {
    double scale = neighbours > 0 ? scatter->clusters / neighbours : 1;
    return correlation * fmin(scale, STEP_SQUARE);
}

/* 0: nothing is known. */
static double variance(const struct scatter *scatter, bool bursts, const struct excess *excess) {
    enum correlation_of of = bursts ? CORRELATION_OF_BURSTS : CORRELATION_OF_STEPS;
    if (excess->met < LEAST_MET || !(excess->squares > 0) || !(excess->independent > 0))
        return 0;
    double factor =
        correlation_factor(of, likeness(scatter, excess->next / excess->squares, scatter->next),
                           likeness(scatter, excess->after / excess->squares, scatter->after),
                           1 / sqrt((double)scatter->met));
    /* a coin knows nothing of its neighbours */
    double coins = bursts ? 0 : scatter->by_coin / scatter->squares;
    return excess->squares * (coins + (1 - coins) * factor);
}

/* Is it heavy enough for a class, or nearly all? */
static bool matters(const struct scatter *scatter, const struct function *function) {
    return function->name.key != 0 && scatter->clusters > 0 &&
           share_of(scatter, function) >= share_class_least(SHARE_CLASSES - 1);
}

/* An agent may say weights whose squares no count holds. */
static uint64_t in_units(double squares) {
    return whole_saturating(squares / (1ull << 2 * DRAWS_UNIT_SHIFT) + 0.5);
}

/* With the threads that are there. */
static struct scatter_total total_now(const struct scatter *scatter) {
    struct scatter_total total = scatter->total;
    for (const struct scatter_thread *t = scatter->threads; t != NULL; t = t->next)
        scatter_total_end(&total, &t->total);
    return total;
}

static void sum_total(const struct scatter *scatter, bool bursts, struct scatter_sums *sums) {
    const struct scatter_total total = total_now(scatter);
    uint64_t lone = whole_saturating(scatter_total_greatest(&total, bursts));
    sums->total = add_saturating(sums->total, in_units(scatter_total_variance(&total, bursts)));
    sums->attached = add_saturating(sums->attached, whole_saturating(total.attached));
    sums->lone = lone > sums->lone ? lone : sums->lone;
}

/* What the weight of all varies by. Where that is most of its square, the process was drawn as a
 * whole: what is in it has come with it. */
static double variance_of_all(const struct scatter *scatter, bool bursts, bool *whole) {
    *whole = false;
    if (scatter->independent)
        return scatter->squares;
    const struct scatter_total total = total_now(scatter);
    double square = scatter->weight * scatter->weight;
    double variance = scatter_total_variance(&total, bursts);
    *whole = variance > square / 2;
    return *whole ? square : variance;
}

/* Of a class of which too little is known: as of the heavier one beside it, but no less than if
 * samples were independent. */
static void add_class(struct scatter_sums *sums, int i, double effect, double squares) {
    sums->varied[i] = add_saturating(sums->varied[i], in_units(effect * squares));
    sums->independent[i] = add_saturating(sums->independent[i], in_units(squares));
}

/* The process may be one of many: then what it weighs itself is left to chance, too. */
static void sum_classes(const struct scatter *scatter, bool bursts, struct scatter_sums *sums) {
    struct excess excess[SHARE_CLASSES] = {0};
    bool whole;
    double of_all = variance_of_all(scatter, bursts, &whole) / scatter->squares, last = 1;
    for (uint32_t i = 0; i < scatter->room; i++) {
        int class = share_class(share_of(scatter, &scatter->slots[i]));
        if (matters(scatter, &scatter->slots[i]) && class < SHARE_CLASSES)
            add_function(scatter, &scatter->slots[i], &excess[class]);
    }
    for (int i = 0; i < SHARE_CLASSES; i++) {
        double varied = variance(scatter, bursts, &excess[i]);
        if (varied > 0)
            last = varied / excess[i].independent;
        else
            last = fmax(last, 1);
        add_class(sums, i, last + of_all, scatter->squares);
    }
}

void scatter_sum(const struct scatter *scatter, bool bursts, struct scatter_sums *sums) {
    if (scatter == NULL || scatter->independent)
        return;
    if (scatter->squares > 0)
        sum_classes(scatter, bursts, sums);
    sum_total(scatter, bursts, sums);
}

static void see_thread(const struct scatter_thread *thread, void see(uint32_t frame)) {
    for (uint32_t i = 0; i < thread->depth && i < LEVELS; i++)
        see(thread->level[i].frame);
    see(thread->leaf.frame);
    for (uint32_t i = 0; i < thread->now->n; i++) /* those of earlier clusters are in the table */
        see(thread->now->item[i].name.frame);
}

void scatter_each_frame(const struct scatter *scatter, void see(uint32_t frame)) {
    for (uint32_t i = 0; scatter != NULL && i < scatter->room; i++)
        if (scatter->slots[i].name.key != 0)
            see(scatter->slots[i].name.frame);
    for (const struct scatter_thread *t = scatter != NULL ? scatter->threads : NULL; t != NULL;
         t = t->next)
        see_thread(t, see);
}

/* ---- functions ---- */

/* What its weight varies by is the sum of its own squares, and of the rarest that there were, or
 * may be by now, some may have been missed. */
static double varied_by_itself(const struct scatter *scatter, const struct function *function) {
    double rarest = fmax(function->greatest, scatter->rarest * scatter->rarest);
    double least = FEW_LEAST_EFFECT * share_of(scatter, function) * scatter->squares;
    return fmax(function->squares + FEW_UNSEEN * rarest, least);
}

/* Of few clusters it is not known whether they are alike. */
static double varied_beside(const struct scatter *scatter, bool bursts,
                            const struct function *function) {
    struct excess excess = {0};
    if (scatter->independent)
        return varied_by_itself(scatter, function);
    add_function(scatter, function, &excess);
    if (excess.met < LEAST_MET)
        return fmax(excess.squares, 0);
    return variance(scatter, bursts, &excess);
}

static struct scatter_effect effect_of(const struct scatter *scatter,
                                       const struct function *function, double beside,
                                       double total) {
    double share = share_of(scatter, function);
    return (struct scatter_effect){.frame = function->name.frame,
                                   .at_work = function->name.at_work,
                                   .met = function->met,
                                   .weight = function->weight,
                                   .beside = beside,
                                   .shared = share * total,
                                   .shared_square = share * share * total};
}

struct scatter_effects scatter_effects(const struct scatter *scatter, bool bursts) {
    struct scatter_effects effects = {0};
    if (scatter == NULL ||
        (effects.effect = calloc(scatter->n + 1, sizeof *effects.effect)) == NULL)
        return effects;
    bool whole;
    effects.weight = scatter->weight;
    effects.independent = scatter->squares;
    effects.drawn_alone = scatter->independent;
    effects.total = variance_of_all(scatter, bursts, &whole);
    for (uint32_t i = 0; i < scatter->room; i++) {
        const struct function *function = &scatter->slots[i];
        if (!matters(scatter, function))
            continue;
        double beside = whole ? 0 : varied_beside(scatter, bursts, function);
        effects.effect[effects.n++] = effect_of(scatter, function, beside, effects.total);
    }
    scatter_effects_sort(&effects);
    return effects;
}
