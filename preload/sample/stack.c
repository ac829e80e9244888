/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stack.c - probing by rt_sigprocmask: the kernel reads the new mask from the address before it
 * reads `how`, and refuses a `how` that does not exist. So EFAULT means unreadable, EINVAL means
 * readable, and nothing changes.
 */
#include "preload/sample/stack.h"

#include <errno.h>

#include "common/wire/wire.h"
#include "preload/life/sys.h"

#define NO_SUCH_HOW 0x68636374
#define PAGE_MASK   (~(uint64_t)(WIRE_PAGE - 1))

bool stack_is_readable(uint64_t address) {
    return sys4(SYS_rt_sigprocmask, NO_SUCH_HOW, address, 0, KERNEL_SIGSET_BYTES) == -EINVAL;
}

bool stack_read(void *arg, uint64_t address, uint64_t *word) {
    struct stack_probe *probe = arg;
    uint64_t page = address & PAGE_MASK;
    if ((address & 7) != 0 || page == 0)
        return false;
    uint64_t *found = &probe->page[page / WIRE_PAGE % (sizeof probe->page / sizeof(uint64_t))];
    if (page != *found) {
        if (!stack_is_readable(address))
            return false;
        *found = page;
    }
    *word = *(const volatile uint64_t *)address;
    return true;
}
