/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stack.c - process_vm_readv and writev of the process itself, which every user may. Where a filter
 * or an emulator refuses them, memory is read, or written, after a check that it is there.
 *
 * The check is by rt_sigprocmask: the kernel reads the new mask from the address before it reads
 * `how`, and refuses a `how` that does not exist. So EFAULT means unreadable, EINVAL means
 * readable, and nothing changes.
 */
#include "preload/sample/stack.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>

#include "preload/life/agent.h"
#include "preload/life/sys.h"

#define NO_SUCH_HOW 0x68636374
#define PAGE_MASK   (~(uint64_t)(WIRE_PAGE - 1))

bool stack_is_readable(uint64_t address) {
    return sys4(SYS_rt_sigprocmask, NO_SUCH_HOW, address, 0, KERNEL_SIGSET_BYTES) == -EINVAL;
}

static _Atomic bool is_refused;

static bool is_refusal(long got) {
    return got == -EPERM || got == -ENOSYS;
}

static struct iovec piece(uint64_t address, size_t bytes) {
    return (struct iovec){(void *)(uintptr_t)address, bytes};
}

/* By the kernel, which is the readv or writev of `call`: so many bytes, or -errno. */
static long copy_pieces(long call, const struct iovec *ours, const struct iovec *there,
                        unsigned n) {
    if (!agent_started() || atomic_load_explicit(&is_refused, memory_order_relaxed))
        return -EPERM;
    long got = sys6(call, agent.process->pid, ours, n, there, n, 0);
    if (is_refusal(got))
        atomic_store_explicit(&is_refused, true, memory_order_relaxed);
    return got;
}

static long copy(long call, void *here, uint64_t address, size_t bytes) {
    const struct iovec ours = {here, bytes}, there = piece(address, bytes);
    return copy_pieces(call, &ours, &there, 1);
}

static bool copy_what_is_there(void *into, uint64_t address, size_t bytes) {
    if (!stack_is_readable(address) || !stack_is_readable(address + bytes - sizeof(uint64_t)))
        return false;
    memcpy(into, (const void *)(uintptr_t)address, bytes);
    return true;
}

bool stack_copy(void *into, uint64_t address, size_t bytes) {
    long got = copy(SYS_process_vm_readv, into, address, bytes);
    return is_refusal(got) ? copy_what_is_there(into, address, bytes) : got == (long)bytes;
}

bool stack_write(uint64_t address, uint32_t value) {
    long got = copy(SYS_process_vm_writev, &value, address, sizeof value);
    if (!is_refusal(got))
        return got == (long)sizeof value;
    if (!stack_is_readable(address & ~7ull))
        return false;
    *(uint32_t *)(uintptr_t)address = value;
    return true;
}

bool stack_read(void *arg, uint64_t address, uint64_t *word) {
    struct stack_probe *probe = arg;
    uint64_t page = address & PAGE_MASK;
    unsigned i = page / WIRE_PAGE % STACK_PAGES;
    if ((address & 7) != 0 || page == 0)
        return false;
    if (page != probe->page[i]) {
        probe->page[i] = 0;
        if (!stack_copy(&probe->copy[i], page, WIRE_PAGE))
            return false;
        probe->page[i] = page;
    }
    *word = probe->copy[i].word[(address & ~PAGE_MASK) / sizeof(uint64_t)];
    return true;
}

void stack_read_ahead(const struct stack_ahead *ahead, unsigned n) {
    struct iovec to[STACK_AHEAD], from[STACK_AHEAD];
    uint64_t *place[STACK_AHEAD];
    for (unsigned i = 0; i < n; i++) {
        unsigned at = ahead[i].page / WIRE_PAGE % STACK_PAGES;
        to[i] = (struct iovec){&ahead[i].probe->copy[at], WIRE_PAGE};
        from[i] = piece(ahead[i].page, WIRE_PAGE);
        place[i] = &ahead[i].probe->page[at];
        *place[i] = ahead[i].page;
    }
    long got = n > 0 ? copy_pieces(SYS_process_vm_readv, to, from, n) : 0;
    for (unsigned i = got > 0 ? (unsigned)((size_t)got / WIRE_PAGE) : 0; i < n; i++)
        *place[i] = 0;
}
