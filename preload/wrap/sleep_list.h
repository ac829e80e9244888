/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sleep_list.h - the functions that can sleep, each with which of its calls SLEEP_FRAGILE asks for
 * (by argument number, as the stubs of each architecture have it; of locks, when somebody has
 * them), whether some may be open (sleep_open.h), which argument is a set of signals, and the
 * system call in which libc's function spends its time. Private to sleep*.c.
 */
#ifndef HCCT_SLEEP_LIST_H
#define HCCT_SLEEP_LIST_H

/* The signal set among a call's arguments: its place, and what is done about ours in a copy. */
#define HIDE_FROM(place) (0x10 | (place)) /* a mask, during the call: ours is blocked in it */
#define KEEP_FROM(place) (0x20 | (place)) /* signals that are waited for: ours is none of them */
#define SET_PLACE(set)   ((set)&0x0f)
#define SET_IS_MASK(set) (((set)&0x10) != 0)
#define NO_SET           0

/* What a call needs that is made with our signal open, should the signal come (sleep_open.h). */
enum {
    CLOSED,       /* it is never open */
    OPEN,         /* it is made again, or is over */
    OPEN_MEMORY,  /* the same; but the rest is read where the descriptor is memory */
    OPEN_BYTES,   /* the rest is written (transfer.h): of a buffer, */
    OPEN_VECTOR,  /* of several, */
    OPEN_MESSAGE, /* of a message */
};
/* The flags of a call on a socket: which argument they are. Some close it. */
#define WITH_FLAGS(open, place) ((open) | (place) << 4)
#define OPEN_KIND(open)         ((open)&0x0f)
#define OPEN_PLACE(open)        ((open) >> 4)

#define SLEEPERS(F)                                                                                \
    F(poll, IF_MS(2), OPEN, NO_SET, SLEEP_POLL)                                                    \
    F(__poll_chk, IF_MS(2), OPEN, NO_SET, SLEEP_POLL)                                              \
    F(ppoll, IF_SET(3), OPEN, HIDE_FROM(3), SYS_ppoll)                                             \
    F(__ppoll_chk, IF_SET(3), OPEN, HIDE_FROM(3), SYS_ppoll)                                       \
    F(select, NONE, OPEN, NO_SET, SYS_pselect6)                                                    \
    F(pselect, IF_SET(5), OPEN, HIDE_FROM(5), SYS_pselect6)                                        \
    F(epoll_wait, IF_MS(3), OPEN, NO_SET, SLEEP_EPOLL_WAIT)                                        \
    F(epoll_pwait, IF_SET_OR_MS(4, 3), OPEN, HIDE_FROM(4), SYS_epoll_pwait)                        \
    F(epoll_pwait2, IF_SET_OR_SHORT(4, 3), OPEN, HIDE_FROM(4), SYS_epoll_pwait2)                   \
    F(nanosleep, IF_SAME_OR_SHORT(0, 1), CLOSED, NO_SET, SYS_clock_nanosleep)                      \
    F(clock_nanosleep, IF_SAME_OR_RELATIVE_SHORT(1, 2, 3), CLOSED, NO_SET, SYS_clock_nanosleep)    \
    F(thrd_sleep, IF_SAME_OR_SHORT(0, 1), CLOSED, NO_SET, SYS_clock_nanosleep)                     \
    F(usleep, IF_AT_MOST(1000000, 0), CLOSED, NO_SET, SYS_clock_nanosleep)                         \
    F(sleep, IF_AT_MOST(1, 0), CLOSED, NO_SET, SYS_clock_nanosleep)                                \
    F(pause, ALL, CLOSED, NO_SET, SLEEP_PAUSE)                                                     \
    F(sigsuspend, ALL, CLOSED, HIDE_FROM(0), SYS_rt_sigsuspend)                                    \
    F(sigwait, ALL, CLOSED, KEEP_FROM(0), SYS_rt_sigtimedwait)                                     \
    F(sigwaitinfo, ALL, CLOSED, KEEP_FROM(0), SYS_rt_sigtimedwait)                                 \
    F(sigtimedwait, ALL, CLOSED, KEEP_FROM(0), SYS_rt_sigtimedwait)                                \
    F(sem_wait, NONE, OPEN, NO_SET, SYS_futex)                                                     \
    F(sem_timedwait, NONE, OPEN, NO_SET, SYS_futex)                                                \
    F(sem_clockwait, NONE, OPEN, NO_SET, SYS_futex)                                                \
    F(semop, NONE, CLOSED, NO_SET, SYS_semop)                                                      \
    F(semtimedop, IF_SHORT(3), CLOSED, NO_SET, SYS_semtimedop)                                     \
    F(msgrcv, NONE, CLOSED, NO_SET, SYS_msgrcv)                                                    \
    F(msgsnd, NONE, CLOSED, NO_SET, SYS_msgsnd)                                                    \
    F(mq_receive, NONE, CLOSED, NO_SET, SYS_mq_timedreceive)                                       \
    F(mq_timedreceive, NONE, CLOSED, NO_SET, SYS_mq_timedreceive)                                  \
    F(mq_send, NONE, CLOSED, NO_SET, SYS_mq_timedsend)                                             \
    F(mq_timedsend, NONE, CLOSED, NO_SET, SYS_mq_timedsend)                                        \
    F(recv, IF_WAITALL(3), WITH_FLAGS(OPEN, 3), NO_SET, SYS_recvfrom)                              \
    F(__recv_chk, IF_WAITALL(4), WITH_FLAGS(OPEN, 4), NO_SET, SYS_recvfrom)                        \
    F(recvfrom, IF_WAITALL(3), WITH_FLAGS(OPEN, 3), NO_SET, SYS_recvfrom)                          \
    F(__recvfrom_chk, IF_WAITALL(4), WITH_FLAGS(OPEN, 4), NO_SET, SYS_recvfrom)                    \
    F(recvmsg, IF_WAITALL(2), WITH_FLAGS(OPEN, 2), NO_SET, SYS_recvmsg)                            \
    F(recvmmsg, IF_MANY(3), CLOSED, NO_SET, SYS_recvmmsg)                                          \
    F(write, ALL, OPEN_BYTES, NO_SET, SYS_write)                                                   \
    F(writev, ALL, OPEN_VECTOR, NO_SET, SYS_writev)                                                \
    F(pwritev2, ALL, CLOSED, NO_SET, SYS_pwritev2)                                                 \
    F(pwritev64v2, ALL, CLOSED, NO_SET, SYS_pwritev2)                                              \
    F(send, ALL, WITH_FLAGS(OPEN_BYTES, 3), NO_SET, SYS_sendto)                                    \
    F(sendto, ALL, WITH_FLAGS(OPEN_BYTES, 3), NO_SET, SYS_sendto)                                  \
    F(sendmsg, ALL, WITH_FLAGS(OPEN_MESSAGE, 2), NO_SET, SYS_sendmsg)                              \
    F(sendmmsg, ALL, CLOSED, NO_SET, SYS_sendmmsg)                                                 \
    F(sendfile, ALL, CLOSED, NO_SET, SYS_sendfile)                                                 \
    F(sendfile64, ALL, CLOSED, NO_SET, SYS_sendfile)                                               \
    F(splice, ALL, CLOSED, NO_SET, SYS_splice)                                                     \
    F(copy_file_range, ALL, CLOSED, NO_SET, SYS_copy_file_range)                                   \
    F(getrandom, IF_ABOVE(256, 1), CLOSED, NO_SET, SYS_getrandom)                                  \
    F(connect, ALL, CLOSED, NO_SET, SYS_connect)

/* What begins a process or another program, which inherits the mask: sleep_open comes first. Beside
 * them is fork, of which libc tells the agent. */
#define STARTERS(F)                                                                                \
    F(_Fork, NONE, CLOSED, NO_SET, SYS_clone)                                                      \
    F(clone, NONE, CLOSED, NO_SET, SYS_clone)                                                      \
    F(execl, NONE, CLOSED, NO_SET, SYS_execve)                                                     \
    F(execle, NONE, CLOSED, NO_SET, SYS_execve)                                                    \
    F(execlp, NONE, CLOSED, NO_SET, SYS_execve)                                                    \
    F(execv, NONE, CLOSED, NO_SET, SYS_execve)                                                     \
    F(execve, NONE, CLOSED, NO_SET, SYS_execve)                                                    \
    F(execveat, NONE, CLOSED, NO_SET, SYS_execveat)                                                \
    F(execvp, NONE, CLOSED, NO_SET, SYS_execve)                                                    \
    F(execvpe, NONE, CLOSED, NO_SET, SYS_execve)                                                   \
    F(fexecve, NONE, CLOSED, NO_SET, SYS_execveat)                                                 \
    F(popen, NONE, CLOSED, NO_SET, SYS_clone)                                                      \
    F(posix_spawn, NONE, CLOSED, NO_SET, SYS_clone)                                                \
    F(posix_spawnp, NONE, CLOSED, NO_SET, SYS_clone)                                               \
    F(system, NONE, CLOSED, NO_SET, SYS_wait4)                                                     \
    F(vfork, NONE, CLOSED, NO_SET, SYS_clone)                                                      \
    F(wordexp, NONE, CLOSED, NO_SET, SYS_wait4)

/* By which a program may confine itself, too (wrap/seccomp.c). */
#define RAW(F) F(syscall, IF_FRAGILE_NUMBER, CLOSED, NO_SET, SYS_read)

/* What SA_RESTART covers in full, or libc itself: no timer does harm to it, but a thread
 * which often waits in them keeps its timer. */
#define WAITS(F)                                                                                   \
    F(wait, NONE, CLOSED, NO_SET, SYS_wait4)                                                       \
    F(wait3, NONE, CLOSED, NO_SET, SYS_wait4)                                                      \
    F(wait4, NONE, CLOSED, NO_SET, SYS_wait4)                                                      \
    F(waitpid, NONE, CLOSED, NO_SET, SYS_wait4)
#define RESTARTED(F)                                                                               \
    WAITS(F)                                                                                       \
    F(read, IF_MEMORY_ABOVE(read, 4095, 2), OPEN_MEMORY, NO_SET, SYS_read)                         \
    F(__read_chk, IF_MEMORY_ABOVE(__read_chk, 4095, 2), OPEN_MEMORY, NO_SET, SYS_read)             \
    F(readv, IF_MEMORY(readv), CLOSED, NO_SET, SYS_readv)                                          \
    F(accept, IF_TIMED(accept), OPEN, NO_SET, SYS_accept)                                          \
    F(accept4, IF_TIMED(accept4), OPEN, NO_SET, SYS_accept4)                                       \
    F(pthread_cond_wait, NONE, CLOSED, NO_SET, SYS_futex)                                          \
    F(pthread_cond_timedwait, NONE, CLOSED, NO_SET, SYS_futex)                                     \
    F(pthread_cond_clockwait, NONE, CLOSED, NO_SET, SYS_futex)                                     \
    F(cnd_wait, NONE, CLOSED, NO_SET, SYS_futex)                                                   \
    F(cnd_timedwait, NONE, CLOSED, NO_SET, SYS_futex)                                              \
    F(pthread_barrier_wait, NONE, CLOSED, NO_SET, SYS_futex)                                       \
    F(pthread_join, NONE, CLOSED, NO_SET, SYS_futex)

/* Locks: the same, but only for calls that find the lock taken. A program may take
 * millions of others in a second. */
#define MUTEXES(F)                                                                                 \
    F(pthread_mutex_lock, IF_TAKEN, OPEN, NO_SET, SYS_futex)                                       \
    F(pthread_mutex_timedlock, IF_TAKEN, OPEN, NO_SET, SYS_futex)                                  \
    F(pthread_mutex_clocklock, IF_TAKEN, OPEN, NO_SET, SYS_futex)                                  \
    F(mtx_lock, IF_TAKEN, OPEN, NO_SET, SYS_futex)                                                 \
    F(mtx_timedlock, IF_TAKEN, OPEN, NO_SET, SYS_futex)
#define LOCKS(F)                                                                                   \
    MUTEXES(F)                                                                                     \
    F(pthread_rwlock_rdlock, IF_WRITTEN, OPEN, NO_SET, SYS_futex)                                  \
    F(pthread_rwlock_timedrdlock, IF_WRITTEN, OPEN, NO_SET, SYS_futex)                             \
    F(pthread_rwlock_clockrdlock, IF_WRITTEN, OPEN, NO_SET, SYS_futex)                             \
    F(pthread_rwlock_wrlock, IF_USED, OPEN, NO_SET, SYS_futex)                                     \
    F(pthread_rwlock_timedwrlock, IF_USED, OPEN, NO_SET, SYS_futex)                                \
    F(pthread_rwlock_clockwrlock, IF_USED, OPEN, NO_SET, SYS_futex)

/* All of them, in the order of their slots. */
#define SLEEP_LIST(F) RESTARTED(F) LOCKS(F) SLEEPERS(F) STARTERS(F) RAW(F)

#define NUMBER(name, fragile, open, set, call) NUMBER_##name,
enum { SLEEP_LIST(NUMBER) NUMBERS };

#endif
