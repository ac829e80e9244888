/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * robust.c - the list that the kernel follows when its thread ends. It may end at any instruction,
 * so that each change is one store.
 */
#include "daemon/ingest/robust.h"

#include <sys/syscall.h>
#include <unistd.h>

static struct robust_list_head head = {.list = {&head.list}, .futex_offset = ROBUST_DISTANCE};
static uint32_t owner; /* thread ID; 0: there is none */

void robust_begin(void) {
    if (syscall(SYS_set_robust_list, &head, sizeof head) == 0)
        owner = (uint32_t)syscall(SYS_gettid);
}

void robust_add(struct robust_entry *entry) {
    _Atomic uint32_t *word = (void *)((char *)entry + ROBUST_DISTANCE);
    atomic_store(word, owner);
    entry->list.next = head.list.next;
    atomic_signal_fence(memory_order_seq_cst);
    *(struct robust_list *volatile *)&head.list.next = &entry->list;
}

void robust_remove(struct robust_entry *entry) {
    struct robust_list *before = &head.list;
    while (before->next != &entry->list)
        before = before->next;
    *(struct robust_list *volatile *)&before->next = entry->list.next;
}
