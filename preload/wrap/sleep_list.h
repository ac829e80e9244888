/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleep_list.h - the functions that can sleep, each with which of its calls SLEEP_FRAGILE asks for
 * (by argument number, as the stubs of each architecture have it), and which argument is a set of
 * signals. Private to sleep*.c.
 */
#ifndef HCCT_SLEEP_LIST_H
#define HCCT_SLEEP_LIST_H

/* The signal set among a call's arguments: its place, and what is done about ours in a copy. */
#define HIDE_FROM(place) (0x10 | (place)) /* a mask, during the call: ours is blocked in it */
#define KEEP_FROM(place) (0x20 | (place)) /* signals that are waited for: ours is none of them */
#define SET_PLACE(set)   ((set)&0x0f)
#define SET_IS_MASK(set) (((set)&0x10) != 0)
#define NO_SET           0

#define SLEEPERS(F)                                                                                \
    F(poll, NONE, NO_SET)                                                                          \
    F(__poll_chk, NONE, NO_SET)                                                                    \
    F(ppoll, IF_SET(3), HIDE_FROM(3))                                                              \
    F(__ppoll_chk, IF_SET(3), HIDE_FROM(3))                                                        \
    F(select, NONE, NO_SET)                                                                        \
    F(pselect, IF_SET(5), HIDE_FROM(5))                                                            \
    F(epoll_wait, NONE, NO_SET)                                                                    \
    F(epoll_pwait, IF_SET(4), HIDE_FROM(4))                                                        \
    F(epoll_pwait2, IF_SET(4), HIDE_FROM(4))                                                       \
    F(nanosleep, IF_SAME(0, 1), NO_SET)                                                            \
    F(clock_nanosleep, IF_SAME(2, 3), NO_SET)                                                      \
    F(thrd_sleep, IF_SAME(0, 1), NO_SET)                                                           \
    F(usleep, NONE, NO_SET)                                                                        \
    F(sleep, NONE, NO_SET)                                                                         \
    F(pause, ALL, NO_SET)                                                                          \
    F(sigsuspend, ALL, HIDE_FROM(0))                                                               \
    F(sigwait, ALL, KEEP_FROM(0))                                                                  \
    F(sigwaitinfo, ALL, KEEP_FROM(0))                                                              \
    F(sigtimedwait, ALL, KEEP_FROM(0))                                                             \
    F(sem_wait, NONE, NO_SET)                                                                      \
    F(sem_timedwait, NONE, NO_SET)                                                                 \
    F(sem_clockwait, NONE, NO_SET)                                                                 \
    F(semop, NONE, NO_SET)                                                                         \
    F(semtimedop, NONE, NO_SET)                                                                    \
    F(msgrcv, NONE, NO_SET)                                                                        \
    F(msgsnd, NONE, NO_SET)                                                                        \
    F(mq_receive, NONE, NO_SET)                                                                    \
    F(mq_timedreceive, NONE, NO_SET)                                                               \
    F(mq_send, NONE, NO_SET)                                                                       \
    F(mq_timedsend, NONE, NO_SET)                                                                  \
    F(recv, IF_WAITALL(3), NO_SET)                                                                 \
    F(__recv_chk, IF_WAITALL(4), NO_SET)                                                           \
    F(recvfrom, IF_WAITALL(3), NO_SET)                                                             \
    F(__recvfrom_chk, IF_WAITALL(4), NO_SET)                                                       \
    F(recvmsg, IF_WAITALL(2), NO_SET)                                                              \
    F(recvmmsg, IF_WAITALL(3), NO_SET)                                                             \
    F(write, ALL, NO_SET)                                                                          \
    F(writev, ALL, NO_SET)                                                                         \
    F(send, ALL, NO_SET)                                                                           \
    F(sendto, ALL, NO_SET)                                                                         \
    F(sendmsg, ALL, NO_SET)                                                                        \
    F(sendmmsg, ALL, NO_SET)                                                                       \
    F(sendfile, ALL, NO_SET)                                                                       \
    F(sendfile64, ALL, NO_SET)                                                                     \
    F(splice, ALL, NO_SET)                                                                         \
    F(copy_file_range, ALL, NO_SET)                                                                \
    F(getrandom, IF_ABOVE(256, 1), NO_SET)                                                         \
    F(connect, ALL, NO_SET)

/* By which a program may confine itself, too (wrap/seccomp.c). */
#define RAW(F) F(syscall, IF_FRAGILE_NUMBER, NO_SET)

/* What SA_RESTART covers in full, or libc itself: no timer does harm to it, but a thread
 * which often waits in them keeps its timer. */
#define WAITS(F)                                                                                   \
    F(wait, NONE, NO_SET)                                                                          \
    F(wait3, NONE, NO_SET)                                                                         \
    F(wait4, NONE, NO_SET)                                                                         \
    F(waitpid, NONE, NO_SET)
#define RESTARTED(F)                                                                               \
    WAITS(F)                                                                                       \
    F(read, IF_MEMORY_ABOVE(read, 4095, 2), NO_SET)                                                \
    F(__read_chk, IF_MEMORY_ABOVE(__read_chk, 4095, 2), NO_SET)                                    \
    F(readv, IF_MEMORY(readv), NO_SET)                                                             \
    F(accept, NONE, NO_SET)                                                                        \
    F(accept4, NONE, NO_SET)                                                                       \
    F(pthread_cond_wait, NONE, NO_SET)                                                             \
    F(pthread_cond_timedwait, NONE, NO_SET)                                                        \
    F(pthread_cond_clockwait, NONE, NO_SET)                                                        \
    F(cnd_wait, NONE, NO_SET)                                                                      \
    F(cnd_timedwait, NONE, NO_SET)                                                                 \
    F(pthread_barrier_wait, NONE, NO_SET)                                                          \
    F(pthread_join, NONE, NO_SET)

#endif
