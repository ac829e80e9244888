/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * task_clock.c - perf_event_open and what makes its event a signal.
 */
#include "preload/sample/task_clock.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "preload/life/sys.h"

#define FAR_LAST 60000u
#define FAR_NS   3600000000000u /* until it is set */

/* Without its time in the kernel a thread would be met too seldom there: who may count in user code
 * only has none. */
static long open_event(void) {
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    attr.sample_period = FAR_NS;
    attr.wakeup_events = 1;
    attr.exclude_hv = 1;
    return sys5(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* As far up as the limit lets us, with room for other threads' events above. */
static long move_away(long fd) {
    struct rlimit limit = {FAR_LAST, FAR_LAST};
    sys2(SYS_getrlimit, RLIMIT_NOFILE, &limit);
    unsigned long last = limit.rlim_cur < FAR_LAST ? limit.rlim_cur : FAR_LAST;
    long far = sys3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, last - last / 4);
    if (far < 0)
        return fd;
    sys1(SYS_close, fd);
    return far;
}

static bool raise_signal(long fd, int signal, int tid) {
    struct f_owner_ex owner = {F_OWNER_TID, tid};
    return sys3(SYS_fcntl, fd, F_SETSIG, signal) == 0 &&
           sys3(SYS_fcntl, fd, F_SETOWN_EX, &owner) == 0 &&
           sys3(SYS_fcntl, fd, F_SETFL, O_NONBLOCK | O_ASYNC) == 0;
}

bool task_clock_open(struct task_clock *clock, int signal, int tid) {
    long fd = open_event();
    if (fd < 0)
        return false;
    fd = move_away(fd);
    clock->fd = (int)fd;
    clock->open =
        sys3(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &clock->id) == 0 && raise_signal(fd, signal, tid);
    if (!clock->open)
        sys1(SYS_close, fd);
    return clock->open;
}

bool task_clock_is_there(const struct task_clock *clock) {
    uint64_t id = 0;
    return clock->open && sys3(SYS_ioctl, clock->fd, PERF_EVENT_IOC_ID, &id) == 0 &&
           id == clock->id;
}

bool task_clock_run(struct task_clock *clock, uint64_t ns) {
    return task_clock_is_there(clock) &&
           sys3(SYS_ioctl, clock->fd, PERF_EVENT_IOC_PERIOD, &ns) == 0;
}

void task_clock_close(struct task_clock *clock) {
    if (task_clock_is_there(clock))
        sys1(SYS_close, clock->fd);
    clock->open = false;
}
