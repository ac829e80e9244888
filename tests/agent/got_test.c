/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * got_test.c - words by which an object calls others are replaced, and put back byte for byte;
 * their pages have the rights that they had.
 *
 * Built twice: all bound at the start, in read-only pages, and bound when called first.
 */
#include "preload/redirect/got.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FAKE 4711

static int failed;

static void check(int good, const char *what) {
    printf("%s %s\n", good ? "ok     " : "NOT SO ", what);
    failed |= !good;
}

static pid_t fake(void) {
    return FAKE;
}

struct found {
    const char *name;
    struct got_word word;
    unsigned n, all;
};

static void take(void *arg, const struct got_word *word) {
    struct found *found = arg;
    found->all++;
    if (strcmp(word->name, found->name) != 0)
        return;
    found->word = *word;
    found->n++;
}

static struct got_object object_of(const void *address) {
    struct dl_find_object o;
    if (_dl_find_object((void *)(uintptr_t)address, &o) != 0)
        exit(1);
    return (struct got_object){.dynamic = o.dlfo_link_map->l_ld,
                               .bias = o.dlfo_link_map->l_addr,
                               .start = (uintptr_t)o.dlfo_map_start,
                               .end = (uintptr_t)o.dlfo_map_end};
}

static void rights_of(const void *address, char text[8]) {
    char line[4352];
    FILE *file = fopen("/proc/self/maps", "re");
    text[0] = '\0';
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        unsigned long from, to;
        char rights[8];
        if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) == 3 && (uintptr_t)address >= from &&
            (uintptr_t)address < to)
            strcpy(text, rights);
    }
    if (file != NULL)
        fclose(file);
}

static struct found find(const struct got_object *object, const char *name) {
    struct found found = {.name = name};
    got_words(object, take, &found);
    return found;
}

/* Of a page, to compare with. */
static const unsigned char *page_of(const void *at) {
    return (const unsigned char *)((uintptr_t)at & ~(uintptr_t)4095);
}

static void replaces(const struct got_object *object) {
    static unsigned char before[4096];
    char was[8], is[8];
    struct got_pages pages = {0};
    struct found found = find(object, "getppid");
    check(found.n == 1 && found.all > 1, "the program has one word of getppid, and others");
    if (found.n != 1)
        return;
    check(found.word.lazy == (LAZY != 0), LAZY ? "it is not bound yet" : "it is bound");
    rights_of(found.word.at, was);
    check(strcmp(was, LAZY ? "rw-p" : "r--p") == 0, was);
    memcpy(before, page_of(found.word.at), sizeof before);
    uintptr_t first = *found.word.at, other = (uintptr_t)fake;
    check(got_change(&pages, found.word.at, first + 1, other) == GOT_OTHER,
          "another word is left alone");
    check(got_change(&pages, found.word.at, first, other) == GOT_CHANGED, "it is changed");
    got_done(&pages);
    rights_of(found.word.at, is);
    check(strcmp(was, is) == 0, "its page has the same rights");
    check(getppid() == FAKE, "the other function is called");
    check(got_change(&pages, found.word.at, other, first) == GOT_CHANGED, "it is put back");
    got_done(&pages);
    rights_of(found.word.at, is);
    check(strcmp(was, is) == 0, "its page has the same rights");
    /* of words that are bound when called first others have been by now */
    check(LAZY ? *found.word.at == first
               : memcmp(before, page_of(found.word.at), sizeof before) == 0,
          "and the same bytes");
    check(getppid() != FAKE && getppid() > 0, "the function itself is called");
}

/* A page that somebody has made writable stays so: who did writes there. */
static void keeps_rights(const struct got_object *object) {
    struct got_pages pages = {0};
    struct found found = find(object, "getpgrp");
    char is[8];
    if (found.n != 1 ||
        mprotect((void *)(uintptr_t)page_of(found.word.at), 4096, PROT_READ | PROT_WRITE) != 0) {
        check(0, "the program has a word of getpgrp");
        return;
    }
    uintptr_t first = *found.word.at;
    check(got_change(&pages, found.word.at, first, (uintptr_t)fake) == GOT_CHANGED &&
              getpgrp() == FAKE,
          "a word of a page that is writable is changed");
    check(got_change(&pages, found.word.at, (uintptr_t)fake, first) == GOT_CHANGED, "and put back");
    got_done(&pages);
    rights_of(found.word.at, is);
    check(strcmp(is, "rw-p") == 0, "it is writable still");
}

int main(void) {
    struct got_object self = object_of((const void *)(uintptr_t)main);
    replaces(&self);
    keeps_rights(&self);
    return failed;
}
