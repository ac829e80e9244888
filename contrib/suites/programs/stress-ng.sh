# SPDX-License-Identifier: LGPL-3.0-or-later
# what a kernel can be asked, by processes that end by signals and alarms
for kind in cpu fork pipe futex sem-sysv poll sigq timer timerfd mq clone vfork pthread switch context \
    eventfd epoll fault mmap aio nanosleep clock sigsuspend sigfd sigsegv sigfpe zombie wait yield \
    matrix qsort malloc stack itimer alarm kill sigpending sigpipe sock udp seccomp prctl tsc vdso; do
    status=0
    stress-ng -q --$kind 2 --timeout 1s >$kind.out 2>&1 || status=$?
    echo $kind $status
    cat $kind.out
done
