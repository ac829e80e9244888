/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * frame.c - keys in pages that belong to one user each, and for each user a hash table of ids.
 *
 * A page is freed when none of its ids is in use, and its numbers may become another user's. An id
 * is read without a lock: who has one in use knows that its page stays.
 */
#include "common/code/frame.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/intern.h"
#include "common/code/module.h"

#define PAGE_FRAMES  1024u
#define PAGES_MAX    (FRAME_IDS_MAX / PAGE_FRAMES)
#define BITS         64u
#define SWEEP_FIRST  (1u << 17) /* so many ids are worth a sweep */
#define FULL_SWEEP_S 10         /* between sweeps for a user who is at the limit */

struct page {
    struct frame_user *user;
    uint32_t n_used;
    _Atomic uint64_t used[PAGE_FRAMES / BITS];
    uint64_t marked[PAGE_FRAMES / BITS]; /* by the sweep under way */
    struct frame_key key[PAGE_FRAMES]; /* of an id that is not in use: `routine` is the next such */
};

struct frame_user {
    struct frame_user *next;
    uid_t uid;
    pthread_mutex_t lock;
    pthread_cond_t swept;
    struct intern ids; /* by key */
    uint32_t n_used, n_marked;
    uint32_t free;     /* an id that is not in use; 0: none */
    uint32_t sweep_at; /* a sweep is due with so many in use */
    uint64_t overflow;
    unsigned holds;
    bool sweeping;
    time_t swept_s;   /* when the last sweep ended */
    _Atomic bool due; /* for another one */
};

static struct {
    pthread_mutex_t lock; /* of what follows; taken after a user's */
    pthread_cond_t due;
    struct frame_user *users; /* newest first; none ever goes */
    uint32_t n_pages;         /* numbers that were ever in use; number 0 is not */
    uint32_t free_page[PAGES_MAX], n_free_pages;
    bool stop;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .due = PTHREAD_COND_INITIALIZER, .n_pages = 1};

static struct page *_Atomic pages[PAGES_MAX];

static struct frame_root *roots;
static pthread_mutex_t roots_lock = PTHREAD_MUTEX_INITIALIZER; /* taken before a user's */

static struct page *page_of(uint32_t id) {
    return id < FRAME_IDS_MAX ? atomic_load_explicit(&pages[id / PAGE_FRAMES], memory_order_acquire)
                              : NULL;
}

static struct frame_key *key_of(uint32_t id) {
    return &page_of(id)->key[id % PAGE_FRAMES];
}

/* ---- users ---- */

struct frame_user *frame_user(uid_t uid) {
    pthread_mutex_lock(&all.lock);
    struct frame_user *user = all.users;
    while (user != NULL && user->uid != uid)
        user = user->next;
    if (user == NULL && (user = calloc(1, sizeof *user)) != NULL) {
        user->uid = uid;
        user->sweep_at = SWEEP_FIRST;
        pthread_mutex_init(&user->lock, NULL);
        pthread_cond_init(&user->swept, NULL);
        user->next = all.users;
        all.users = user;
    }
    pthread_mutex_unlock(&all.lock);
    return user;
}

/* ---- pages; under the user's lock ---- */

/* 0: there is no number. */
static uint32_t take_number(void) {
    pthread_mutex_lock(&all.lock);
    uint32_t n = 0;
    if (all.n_free_pages > 0)
        n = all.free_page[--all.n_free_pages];
    else if (all.n_pages < PAGES_MAX)
        n = all.n_pages++;
    pthread_mutex_unlock(&all.lock);
    return n;
}

static void give_number(uint32_t n) {
    pthread_mutex_lock(&all.lock);
    all.free_page[all.n_free_pages++] = n;
    pthread_mutex_unlock(&all.lock);
}

static void add_page(struct frame_user *user) {
    struct page *page = calloc(1, sizeof *page);
    uint32_t n = page != NULL ? take_number() : 0;
    if (n == 0) {
        free(page);
        return;
    }
    page->user = user;
    for (uint32_t i = PAGE_FRAMES; i-- > 0;) {
        page->key[i].routine = user->free;
        user->free = n * PAGE_FRAMES + i;
    }
    atomic_store_explicit(&pages[n], page, memory_order_release);
}

static void mark(struct frame_user *user, struct page *page, uint32_t id) {
    uint64_t *word = &page->marked[id % PAGE_FRAMES / BITS], bit = 1ull << id % BITS;
    user->n_marked += (*word & bit) == 0;
    *word |= bit;
}

/* ---- the table; under the user's lock ---- */

static bool is_key(const void *none, uint32_t id, const void *wanted) {
    const struct frame_key *a = key_of(id), *b = wanted;
    (void)none;
    return a->routine == b->routine && a->site == b->site &&
           a->routine_module == b->routine_module && a->site_module == b->site_module;
}

static uint64_t hash(const struct frame_key *key) {
    uint64_t modules = (uint64_t)key->routine_module << 32 | key->site_module;
    return seeded_hash(seeded_hash(modules, key->routine), key->site);
}

static bool is_marked(const void *none, uint32_t id) {
    (void)none;
    return (page_of(id)->marked[id % PAGE_FRAMES / BITS] >> id % BITS & 1) != 0;
}

static uint32_t add_key(struct frame_user *user, uint64_t hashed, const struct frame_key *key) {
    if (user->n_used < FRAMES_USER_MAX && user->free == 0)
        add_page(user);
    if (user->n_used >= FRAMES_USER_MAX || user->free == 0)
        return FRAME_OVERFLOW;
    uint32_t *number = intern_try(&user->ids, hashed, is_key, NULL, key), id = user->free;
    if (number == NULL)
        return FRAME_OVERFLOW;
    struct page *page = page_of(id);
    user->free = (uint32_t)page->key[id % PAGE_FRAMES].routine;
    page->key[id % PAGE_FRAMES] = *key;
    atomic_fetch_or(&page->used[id % PAGE_FRAMES / BITS], 1ull << id % BITS);
    page->n_used++;
    user->n_used++;
    *number = id;
    return id;
}

/* A sweep would be worth its while: enough has come since the last one, or time has passed. */
static bool is_due(const struct frame_user *user) {
    return user->n_used < FRAMES_USER_MAX ? user->n_used >= user->sweep_at
                                          : clock_seconds() - user->swept_s >= FULL_SWEEP_S;
}

static void ask_for_sweep(struct frame_user *user) {
    pthread_mutex_lock(&all.lock);
    user->due = true;
    pthread_cond_signal(&all.due);
    pthread_mutex_unlock(&all.lock);
}

uint32_t frame_intern_for(struct frame_user *user, const struct frame_key *key) {
    if (user == NULL)
        return FRAME_OVERFLOW;
    uint64_t hashed = hash(key);
    pthread_mutex_lock(&user->lock);
    uint32_t id = intern_get(&user->ids, hashed, is_key, NULL, key);
    if (id == 0)
        id = add_key(user, hashed, key);
    if (id == FRAME_OVERFLOW)
        user->overflow++;
    else if (user->sweeping)
        mark(user, page_of(id), id);
    if (!user->due && is_due(user))
        ask_for_sweep(user);
    pthread_mutex_unlock(&user->lock);
    return id;
}

uid_t frame_uid(const struct frame_user *user) {
    return user->uid;
}

struct frame_user *frame_own_user(void) {
    static struct frame_user *_Atomic own;
    if (own == NULL)
        own = frame_user(geteuid());
    return own;
}

uint32_t frame_intern(const struct frame_key *key) {
    return frame_intern_for(frame_own_user(), key);
}

void frame_request_sweep(struct frame_user *user) {
    if (user == NULL)
        return;
    pthread_mutex_lock(&user->lock);
    if (!user->due && clock_seconds() - user->swept_s >= FULL_SWEEP_S)
        ask_for_sweep(user);
    pthread_mutex_unlock(&user->lock);
}

void frame_need_sweep(uid_t uid) {
    pthread_mutex_lock(&all.lock);
    for (struct frame_user *user = all.users; user != NULL; user = user->next)
        if (uid == MODULE_NOBODY || user->uid == uid)
            user->due = true;
    pthread_cond_signal(&all.due);
    pthread_mutex_unlock(&all.lock);
}

bool frame_get(uint32_t id, struct frame_key *key) {
    struct page *page = page_of(id);
    if (page == NULL ||
        (atomic_load_explicit(&page->used[id % PAGE_FRAMES / BITS], memory_order_relaxed) >>
             id % BITS &
         1) == 0)
        return false;
    *key = page->key[id % PAGE_FRAMES];
    return true;
}

/* ---- holds and roots ---- */

void frame_hold(struct frame_user *user) {
    if (user == NULL)
        return;
    pthread_mutex_lock(&user->lock);
    while (user->sweeping)
        pthread_cond_wait(&user->swept, &user->lock);
    user->holds++;
    pthread_mutex_unlock(&user->lock);
}

void frame_drop(struct frame_user *user) {
    if (user == NULL)
        return;
    pthread_mutex_lock(&user->lock);
    user->holds--;
    pthread_mutex_unlock(&user->lock);
}

void frame_root_add(struct frame_root *root) {
    pthread_mutex_lock(&roots_lock);
    root->next = roots;
    roots = root;
    pthread_mutex_unlock(&roots_lock);
}

void frame_root_remove(struct frame_root *root) {
    pthread_mutex_lock(&roots_lock);
    struct frame_root **at = &roots;
    while (*at != root)
        at = &(*at)->next;
    *at = root->next;
    pthread_mutex_unlock(&roots_lock);
}

/* ---- sweeps ---- */

struct frame_user *frame_wait_sweep(void) {
    struct frame_user *user = NULL;
    pthread_mutex_lock(&all.lock);
    while (!all.stop && user == NULL) {
        user = all.users;
        while (user != NULL && !user->due)
            user = user->next;
        if (user == NULL)
            pthread_cond_wait(&all.due, &all.lock);
    }
    if (all.stop)
        user = NULL;
    pthread_mutex_unlock(&all.lock);
    return user;
}

void frame_wait_stop(void) {
    pthread_mutex_lock(&all.lock);
    all.stop = true;
    pthread_cond_signal(&all.due);
    pthread_mutex_unlock(&all.lock);
}

/* Calls `visit` for each of the user's pages. */
static void each_page(struct frame_user *user,
                      void (*visit)(struct frame_user *user, uint32_t n, struct page *page)) {
    pthread_mutex_lock(&all.lock);
    uint32_t n_pages = all.n_pages;
    pthread_mutex_unlock(&all.lock);
    for (uint32_t n = 1; n < n_pages; n++) {
        struct page *page = page_of(n * PAGE_FRAMES);
        if (page != NULL && page->user == user)
            visit(user, n, page);
    }
}

static void unmark_page(struct frame_user *user, uint32_t n, struct page *page) {
    (void)user, (void)n;
    memset(page->marked, 0, sizeof page->marked);
}

bool frame_sweep_begin(struct frame_user *user) {
    pthread_mutex_lock(&user->lock);
    bool may = user->holds == 0;
    if (may) {
        each_page(user, unmark_page);
        user->n_marked = 0;
        user->sweeping = true;
    }
    pthread_mutex_unlock(&user->lock);
    if (!may)
        return false;
    pthread_mutex_lock(&roots_lock);
    for (struct frame_root *root = roots; root != NULL; root = root->next)
        root->mark(root);
    pthread_mutex_unlock(&roots_lock);
    return true;
}

void frame_mark(uint32_t id) {
    struct page *page = page_of(id);
    if (page == NULL)
        return;
    struct frame_user *user = page->user;
    pthread_mutex_lock(&user->lock);
    if (user->sweeping)
        mark(user, page, id);
    pthread_mutex_unlock(&user->lock);
}

void frame_each_in_use(struct frame_user *user, void (*visit)(const struct frame_key *key)) {
    pthread_mutex_lock(&user->lock);
    for (uint32_t i = 0; i < user->ids.capacity; i++) {
        uint32_t id = user->ids.slots[i].number;
        if (id != 0 && is_marked(NULL, id))
            visit(key_of(id));
    }
    pthread_mutex_unlock(&user->lock);
}

void frame_each_key(void (*visit)(const struct frame_key *key)) {
    pthread_mutex_lock(&all.lock);
    struct frame_user *user = all.users;
    pthread_mutex_unlock(&all.lock);
    for (; user != NULL; user = user->next) { /* whoever is in the list stays there */
        pthread_mutex_lock(&user->lock);
        for (uint32_t i = 0; i < user->ids.capacity; i++)
            if (user->ids.slots[i].number != 0)
                visit(key_of(user->ids.slots[i].number));
        pthread_mutex_unlock(&user->lock);
    }
}

/* Ids of a page that are not marked are not in use any more; nor is the page, if none is. */
static void give_back(struct frame_user *user, uint32_t n, struct page *page) {
    page->n_used = 0;
    for (uint32_t i = 0; i < PAGE_FRAMES / BITS; i++) {
        page->used[i] = page->marked[i];
        page->n_used += (uint32_t)__builtin_popcountll(page->marked[i]);
    }
    if (page->n_used == 0) {
        atomic_store_explicit(&pages[n], NULL, memory_order_release);
        free(page);
        give_number(n);
        return;
    }
    for (uint32_t i = PAGE_FRAMES; i-- > 0;) {
        if ((page->used[i / BITS] >> i % BITS & 1) != 0)
            continue;
        page->key[i].routine = user->free;
        user->free = n * PAGE_FRAMES + i;
    }
}

static uint32_t next_sweep_at(uint32_t n_used) {
    uint32_t at = n_used + (FRAMES_USER_MAX - n_used) / 2;
    if (at > 2 * n_used)
        at = 2 * n_used;
    return at > SWEEP_FIRST ? at : SWEEP_FIRST;
}

void frame_sweep_end(struct frame_user *user, bool whole) {
    pthread_mutex_lock(&user->lock);
    if (whole && intern_keep(&user->ids, is_marked, NULL)) {
        user->free = 0;
        each_page(user, give_back);
        user->n_used = user->n_marked;
    }
    user->sweeping = false;
    user->sweep_at = next_sweep_at(user->n_used);
    user->swept_s = clock_seconds();
    user->due = false;
    pthread_cond_broadcast(&user->swept);
    pthread_mutex_unlock(&user->lock);
}

/* ---- figures ---- */

void frame_usage_of(struct frame_user *user, struct frame_usage *usage) {
    pthread_mutex_lock(&user->lock);
    *usage = (struct frame_usage){user->uid, user->n_used, user->overflow};
    pthread_mutex_unlock(&user->lock);
}

void frame_usage_all(void (*visit)(void *arg, const struct frame_usage *usage), void *arg) {
    struct frame_usage usage;
    pthread_mutex_lock(&all.lock);
    struct frame_user *user = all.users;
    pthread_mutex_unlock(&all.lock);
    for (; user != NULL; user = user->next) { /* whoever is in the list stays there */
        frame_usage_of(user, &usage);
        visit(arg, &usage);
    }
}
