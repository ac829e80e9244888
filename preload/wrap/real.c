/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * real.c - the next function of each name, looked up once.
 */
#include "preload/wrap/real.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "common/wire/compiler.h"
#include "preload/wrap/next_symbol.h"

enum name {
    SIGACTION,
    PTHREAD_SIGMASK,
    SIGPROCMASK,
    PTHREAD_CREATE,
    THRD_CREATE,
    PTHREAD_KEY_CREATE,
    TSS_CREATE,
    DLCLOSE,
    DL_FIND_OBJECT,
    SIGALTSTACK,
    SIGNALFD,
    EXIT,
    PRCTL,
    MLOCKALL,
    SETRLIMIT,
    PRLIMIT,
    SETUID,
    SETEUID,
    SETREUID,
    SETRESUID,
    CHROOT,
    UNSHARE,
    SETNS,
    SIGIGNORE,
    SIGINTERRUPT,
    SIGHOLD,
    PROFIL,
    SPROFIL,
    MONCONTROL,
    MONSTARTUP,
    MONSTARTUP_OF_GCRT,
    TIMER_CREATE,
    DL_FIRST,
    JUMP_FIRST = DL_FIRST + REAL_DLS,
    SIGNAL_FIRST = JUMP_FIRST + REAL_JUMPS,
};

static const char *const names[] = {
    "sigaction",      "pthread_sigmask", "sigprocmask",
    "pthread_create", "thrd_create",     "pthread_key_create",
    "tss_create",     "dlclose",         "_dl_find_object",
    "sigaltstack",    "signalfd",        "_exit",
    "prctl",          "mlockall",        "setrlimit",
    "prlimit",        "setuid",          "seteuid",
    "setreuid",       "setresuid",       "chroot",
    "unshare",        "setns",           "sigignore",
    "siginterrupt",   "sighold",         "profil",
    "sprofil",        "moncontrol",      "monstartup",
    "__monstartup",   "timer_create",    "dlopen",
    "dlmopen",        "dlsym",           "dlvsym",
    "longjmp",        "_longjmp",        "siglongjmp",
    "__longjmp_chk",  "signal",          "bsd_signal",
    "ssignal",        "sysv_signal",     "__sysv_signal",
    "sigset",
};

static _Atomic(void *) found[HCCT_ARRAY_LEN(names)];

static void *next(unsigned i) {
    void *function = atomic_load_explicit(&found[i], memory_order_acquire);
    if (hcct_unlikely(function == NULL)) {
        function = next_symbol(names[i]);
        atomic_store_explicit(&found[i], function, memory_order_release);
    }
    return function;
}

void real_resolve(void) {
    void *all[HCCT_ARRAY_LEN(names)];
    next_symbols(names, all, HCCT_ARRAY_LEN(names));
    for (unsigned i = 0; i < HCCT_ARRAY_LEN(names); i++)
        atomic_store_explicit(&found[i], all[i], memory_order_release);
}

#define AS(type, i) ((type)next(i))

int real_sigaction(int number, const struct sigaction *action, struct sigaction *old) {
    return AS(int (*)(int, const struct sigaction *, struct sigaction *), SIGACTION)(number, action,
                                                                                     old);
}

int real_sigaltstack(const stack_t *stack, stack_t *old) {
    return AS(int (*)(const stack_t *, stack_t *), SIGALTSTACK)(stack, old);
}

int real_signalfd(int fd, const sigset_t *set, int flags) {
    return AS(int (*)(int, const sigset_t *, int), SIGNALFD)(fd, set, flags);
}

int real_pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
    return AS(int (*)(int, const sigset_t *, sigset_t *), PTHREAD_SIGMASK)(how, set, old);
}

int real_sigprocmask(int how, const sigset_t *set, sigset_t *old) {
    return AS(int (*)(int, const sigset_t *, sigset_t *), SIGPROCMASK)(how, set, old);
}

void (*real_signal(const char *variant, int number, void (*handler)(int)))(int) {
    unsigned i = SIGNAL_FIRST;
    while (i < HCCT_ARRAY_LEN(names) - 1 && strcmp(names[i], variant) != 0)
        i++;
    return AS(void (*(*)(int, void (*)(int)))(int), i)(number, handler);
}

int real_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*start)(void *),
                        void *argument) {
    return AS(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *),
              PTHREAD_CREATE)(id, attr, start, argument);
}

int real_thrd_create(thrd_t *id, thrd_start_t start, void *argument) {
    return AS(int (*)(thrd_t *, thrd_start_t, void *), THRD_CREATE)(id, start, argument);
}

int real_pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
    return AS(int (*)(pthread_key_t *, void (*)(void *)), PTHREAD_KEY_CREATE)(key, destructor);
}

int real_tss_create(tss_t *key, tss_dtor_t destructor) {
    return AS(int (*)(tss_t *, tss_dtor_t), TSS_CREATE)(key, destructor);
}

void *real_dl(enum real_dl which) {
    void *function = atomic_load_explicit(&found[DL_FIRST + which], memory_order_acquire);
    if (hcct_unlikely(function == NULL)) {
        function = next_by_itself(names[DL_FIRST + which]);
        atomic_store_explicit(&found[DL_FIRST + which], function, memory_order_release);
    }
    return function;
}

int real_dlclose(void *handle) {
    return AS(int (*)(void *), DLCLOSE)(handle);
}

bool real_can_find_objects(void) {
    return atomic_load(&found[DL_FIND_OBJECT]) != NULL;
}

int real_dl_find_object(void *address, struct dl_find_object *object) {
    return AS(int (*)(void *, struct dl_find_object *), DL_FIND_OBJECT)(address, object);
}

int real_prctl(int option, const unsigned long argument[4]) {
    return AS(int (*)(int, ...), PRCTL)(option, argument[0], argument[1], argument[2], argument[3]);
}

int real_mlockall(int flags) {
    return AS(int (*)(int), MLOCKALL)(flags);
}

int real_setrlimit(enum __rlimit_resource resource, const struct rlimit *limit) {
    return AS(int (*)(enum __rlimit_resource, const struct rlimit *), SETRLIMIT)(resource, limit);
}

int real_prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *limit,
                 struct rlimit *old) {
    return AS(int (*)(pid_t, enum __rlimit_resource, const struct rlimit *, struct rlimit *),
              PRLIMIT)(pid, resource, limit, old);
}

int real_setuid(uid_t user) {
    return AS(int (*)(uid_t), SETUID)(user);
}

int real_seteuid(uid_t user) {
    return AS(int (*)(uid_t), SETEUID)(user);
}

int real_setreuid(uid_t real, uid_t effective) {
    return AS(int (*)(uid_t, uid_t), SETREUID)(real, effective);
}

int real_setresuid(uid_t real, uid_t effective, uid_t saved) {
    return AS(int (*)(uid_t, uid_t, uid_t), SETRESUID)(real, effective, saved);
}

int real_chroot(const char *path) {
    return AS(int (*)(const char *), CHROOT)(path);
}

int real_unshare(int flags) {
    return AS(int (*)(int), UNSHARE)(flags);
}

int real_setns(int fd, int kind) {
    return AS(int (*)(int, int), SETNS)(fd, kind);
}

int real_timer_create(clockid_t clock, struct sigevent *event, timer_t *id) {
    return AS(int (*)(clockid_t, struct sigevent *, timer_t *), TIMER_CREATE)(clock, event, id);
}

int real_sigignore(int number) {
    return AS(int (*)(int), SIGIGNORE)(number);
}

int real_siginterrupt(int number, int flag) {
    return AS(int (*)(int, int), SIGINTERRUPT)(number, flag);
}

int real_sighold(int number) {
    return AS(int (*)(int), SIGHOLD)(number);
}

int real_profil(unsigned short *buffer, size_t size, size_t offset, unsigned scale) {
    return AS(int (*)(unsigned short *, size_t, size_t, unsigned), PROFIL)(buffer, size, offset,
                                                                           scale);
}

int real_sprofil(struct prof *regions, int n, struct timeval *period, unsigned flags) {
    return AS(int (*)(struct prof *, int, struct timeval *, unsigned), SPROFIL)(regions, n, period,
                                                                                flags);
}

void real_moncontrol(int mode) {
    AS(void (*)(int), MONCONTROL)(mode);
}

void real_monstartup(bool of_gcrt, unsigned long low, unsigned long high) {
    unsigned i = of_gcrt ? MONSTARTUP_OF_GCRT : MONSTARTUP;
    AS(void (*)(unsigned long, unsigned long), i)(low, high);
}

void real_exit(int status) {
    AS(void (*)(int), EXIT)(status);
    __builtin_unreachable();
}

void real_longjmp(enum real_jump which, struct __jmp_buf_tag *buffer, int value) {
    AS(void (*)(struct __jmp_buf_tag *, int), JUMP_FIRST + which)(buffer, value);
    __builtin_unreachable();
}
