/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * real.h - the functions that the wrappers stand before, as the next library defines them.
 *
 * Looked up at the start; a wrapper that runs even earlier (the constructor of another library)
 * looks up its own.
 */
#ifndef HCCT_REAL_H
#define HCCT_REAL_H

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/time.h>
#include <sys/resource.h>
#include <threads.h>
#include <time.h>

/* All of them, so that none needs dlsym later. Process context. */
void real_resolve(void);

int real_sigaction(int number, const struct sigaction *action, struct sigaction *old);
int real_sigaltstack(const stack_t *stack, stack_t *old);
int real_signalfd(int fd, const sigset_t *set, int flags);
int real_pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
int real_sigprocmask(int how, const sigset_t *set, sigset_t *old);
void (*real_signal(const char *variant, int number, void (*handler)(int)))(int);
int real_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*start)(void *),
                        void *argument);
int real_thrd_create(thrd_t *id, thrd_start_t start, void *argument);
int real_pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int real_tss_create(tss_t *key, tss_dtor_t destructor);
int real_dlclose(void *handle);
/* The functions themselves, which take note of their caller. */
enum real_dl { REAL_DLOPEN, REAL_DLMOPEN, REAL_DLSYM, REAL_DLVSYM, REAL_DLS };
void *real_dl(enum real_dl which);
struct dl_find_object;
/* glibc has it since 2.35. */
bool real_can_find_objects(void);
int real_dl_find_object(void *address, struct dl_find_object *found);
int real_mlockall(int flags);
int real_setrlimit(enum __rlimit_resource resource, const struct rlimit *limit);
int real_prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *limit,
                 struct rlimit *old);
int real_setuid(uid_t user);
int real_seteuid(uid_t user);
int real_setreuid(uid_t real, uid_t effective);
int real_setresuid(uid_t real, uid_t effective, uid_t saved);
int real_chroot(const char *path);
int real_unshare(int flags);
int real_setns(int fd, int kind);
int real_timer_create(clockid_t clock, struct sigevent *event, timer_t *id);
int real_sigignore(int number);
int real_siginterrupt(int number, int flag);
int real_sighold(int number);
int real_profil(unsigned short *buffer, size_t size, size_t offset, unsigned scale);
struct prof;
int real_sprofil(struct prof *regions, int n, struct timeval *period, unsigned flags);
void real_moncontrol(int mode);
/* __monstartup (`of_gcrt`: what -pg links to a program calls it), or monstartup. */
void real_monstartup(bool of_gcrt, unsigned long low, unsigned long high);
int real_prctl(int option, const unsigned long argument[4]);

enum real_jump { REAL_LONGJMP, REAL_LONGJMP_BSD, REAL_SIGLONGJMP, REAL_LONGJMP_CHK, REAL_JUMPS };
_Noreturn void real_longjmp(enum real_jump which, struct __jmp_buf_tag *buffer, int value);
_Noreturn void real_exit(int status);

#endif
