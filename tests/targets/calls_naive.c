/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_naive.c - the tree of calls by the simplest means, to compare a profile with: loaded in the
 * place of the agent, it follows enter and exit, and writes at exit what it has counted.
 *
 * It goes by the pairing of the reports alone, so it is right for programs whose functions all
 * return. One tree for each thread, keyed by function and call site. The file that CALLS_NAIVE
 * names gets a line for each node, parents first, the threads one after the other:
 *
 *   NODE PARENT COUNT MODULE OFFSET      numbers; PARENT 0: the thread; OFFSET in the module, hex
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    void *function, *site;
    uint64_t count;
    struct node *parent, *child, *sibling;
};

struct tree {
    struct node root, *at;
    struct tree *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tree *trees; /* of all threads, the ended ones too */
static __thread struct tree *own;

static void *get_zeros(size_t bytes) {
    void *memory = calloc(1, bytes);
    if (memory == NULL)
        abort();
    return memory;
}

static struct tree *begin_thread(void) {
    struct tree *tree = get_zeros(sizeof *tree);
    tree->at = &tree->root;
    pthread_mutex_lock(&lock);
    tree->next = trees;
    trees = tree;
    pthread_mutex_unlock(&lock);
    return tree;
}

/* The child that was found goes to the front: the next call is likely the same. */
static struct node *child_of(struct node *parent, void *function, void *site) {
    struct node **link = &parent->child, *node = *link;
    while (node != NULL && (node->function != function || node->site != site)) {
        link = &node->sibling;
        node = *link;
    }
    if (node == NULL) {
        node = get_zeros(sizeof *node);
        node->function = function;
        node->site = site;
        node->parent = parent;
    } else {
        *link = node->sibling;
    }
    node->sibling = parent->child;
    parent->child = node;
    return node;
}

static void write_node(FILE *out, const struct node *node, uint64_t number, uint64_t parent) {
    Dl_info info;
    if (dladdr(node->function, &info) == 0)
        abort();
    const char *slash = strrchr(info.dli_fname, '/');
    fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %s %tx\n", number, parent, node->count,
            slash != NULL ? slash + 1 : info.dli_fname,
            (char *)node->function - (char *)info.dli_fbase);
}

static uint64_t written;

static void write_children(FILE *out, const struct node *parent, uint64_t number) {
    for (const struct node *node = parent->child; node != NULL; node = node->sibling) {
        uint64_t own_number = ++written;
        write_node(out, node, own_number, number);
        write_children(out, node, own_number);
    }
}

static bool is_late; /* other destructors may come after ours */

__attribute__((destructor)) static void write_all(void) {
    const char *path = getenv("CALLS_NAIVE");
    FILE *out = path != NULL ? fopen(path, "w") : NULL;
    if (out == NULL)
        return;
    written = 0;
    for (const struct tree *tree = trees; tree != NULL; tree = tree->next)
        write_children(out, &tree->root, 0);
    fclose(out);
    is_late = true;
}

__attribute__((visibility("default"))) void __cyg_profile_func_enter(void *function, void *site) {
    if (own == NULL)
        own = begin_thread();
    own->at = child_of(own->at, function, site);
    own->at->count++;
}

__attribute__((visibility("default"))) void __cyg_profile_func_exit(void *function, void *site) {
    if (own == NULL || own->at->function != function || own->at->site != site) {
        fprintf(stderr, "calls_naive: a return without its call\n");
        abort();
    }
    own->at = own->at->parent;
    if (is_late && own->at == &own->root)
        write_all();
}
