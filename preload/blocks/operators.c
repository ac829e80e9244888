/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * operators.c - C++'s operators new and delete, in all their forms.
 *
 * Those of the C++ library call malloc and free, which is seen there, and so it is left alone: one
 * jump more. But an allocator that brings its own malloc (jemalloc, tcmalloc, mimalloc) brings
 * operators, too, that do not call it. In a program that brings its own operators these here are
 * called by nobody. They have no names in C but their mangled ones, and throw what the next ones
 * throw: there is nothing to be done in between.
 *
 * Looked up when they are called: a program in C may load a library in C++ later. All objects are
 * asked, in the order in which they were loaded, whatever their scope.
 */
#include <stdlib.h>

#include "preload/blocks/allocate.h"
#include "preload/wrap/next_symbol.h"

typedef void *new_1(size_t);
typedef void *new_2(size_t, size_t);
typedef void *new_3(size_t, size_t, const void *);
typedef void delete_1(void *);
typedef void delete_2(void *, size_t);
typedef void delete_3(void *, size_t, size_t);

/* The next operator of that name. */
struct form {
    const char *name;
    _Atomic(void *) next;
    _Atomic bool counts; /* it calls no malloc, or none that is seen */
};

static hcct_noinline void look_up(struct form *it) {
    void *(*find)(const char *) = hcct_blocks_link.event.find;
    void *next = find != NULL ? find(it->name) : next_by_itself(it->name);
    bool own = next != NULL && symbol_beside(next, "malloc") == SYMBOL_THERE;
    atomic_store(&it->counts, own);
    atomic_store(&it->next, next);
}

static inline void *next_of(struct form *it) {
    if (hcct_unlikely(atomic_load_explicit(&it->next, memory_order_acquire) == NULL))
        look_up(it);
    return atomic_load_explicit(&it->next, memory_order_relaxed);
}

/* Such an operator may call malloc after all, for some blocks: these have been seen. */
static hcct_noinline void *allocate(struct form *it, size_t size, size_t second, const void *third,
                                    const struct event_place *place) {
    uint64_t left = blocks_course.stops.course.left;
    void *block = ((new_3 *)it->next)(size, second, third);
    if (blocks_course.stops.course.left == left)
        blocks_check(block, size, place);
    return block;
}

/* `Type` has as many arguments as `list` names; `second` and `third`: what stands there, or 0. */
#define NEW(symbol, Type, list, call, second, third)                                               \
    hcct_export void *symbol list;                                                                 \
    BLOCKS_WRAPPER void *symbol list {                                                             \
        static struct form it = {.name = #symbol};                                                 \
        void *next = next_of(&it);                                                                 \
        if (hcct_unlikely(next == NULL))                                                           \
            return malloc(size); /* nobody could have linked against it */                         \
        if (hcct_likely(!atomic_load_explicit(&it.counts, memory_order_relaxed)))                  \
            return ((Type *)next)call;                                                             \
        const struct event_place place = EVENT_CALLER;                                             \
        return allocate(&it, size, second, third, &place);                                         \
    }

#define DELETE(symbol, Type, list, call)                                                           \
    hcct_export void symbol list;                                                                  \
    BLOCKS_WRAPPER void symbol list {                                                              \
        static struct form it = {.name = #symbol};                                                 \
        void *next = next_of(&it);                                                                 \
        if (hcct_unlikely(atomic_load_explicit(&it.counts, memory_order_relaxed)))                 \
            blocks_leave(block);                                                                   \
        if (hcct_likely(next != NULL))                                                             \
            ((Type *)next) call;                                                                   \
        else                                                                                       \
            free(block);                                                                           \
    }

/* A nothrow_t is a reference: an argument as a number is. */
#define NEWS(symbol)                                                                               \
    NEW(symbol##m, new_1, (size_t size), (size), 0, NULL)                                          \
    NEW(symbol##mRKSt9nothrow_t, new_2, (size_t size, size_t no), (size, no), no, NULL)            \
    NEW(symbol##mSt11align_val_t, new_2, (size_t size, size_t to), (size, to), to, NULL)           \
    NEW(symbol##mSt11align_val_tRKSt9nothrow_t, new_3, (size_t size, size_t to, const void *no),   \
        (size, to, no), to, no)

#define DELETES(symbol)                                                                            \
    DELETE(symbol##Pv, delete_1, (void *block), (block))                                           \
    DELETE(symbol##Pvm, delete_2, (void *block, size_t size), (block, size))                       \
    DELETE(symbol##PvRKSt9nothrow_t, delete_2, (void *block, size_t no), (block, no))              \
    DELETE(symbol##PvSt11align_val_t, delete_2, (void *block, size_t to), (block, to))             \
    DELETE(symbol##PvmSt11align_val_t, delete_3, (void *block, size_t size, size_t to),            \
           (block, size, to))                                                                      \
    DELETE(symbol##PvSt11align_val_tRKSt9nothrow_t, delete_3, (void *block, size_t to, size_t no), \
           (block, to, no))

NEWS(_Znw)
NEWS(_Zna)
DELETES(_Zdl)
DELETES(_Zda)
