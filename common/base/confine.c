/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * confine.c - limits, capabilities, user.
 */
#include "common/base/confine.h"

#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534u

/* The address sanitizer reserves terabytes of addresses. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMIT_MEMORY false
#else
#define LIMIT_MEMORY true
#endif

uint64_t confine_address_space(void) {
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f == NULL)
        return 0;
    if (fscanf(f, "%llu", &pages) != 1)
        pages = 0;
    fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void set_limit(int resource, rlim_t value) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0)
        return;
    limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
    limit.rlim_max = limit.rlim_cur;
    setrlimit(resource, &limit);
}

void confine_memory(uint64_t bytes) {
    if (LIMIT_MEMORY)
        set_limit(RLIMIT_AS, bytes);
}

void confine_files(uint64_t bytes) {
    set_limit(RLIMIT_FSIZE, bytes);
}

void confine_descriptors(void) {
    set_limit(RLIMIT_NOFILE, 0);
}

void confine_cpu(unsigned seconds) {
    struct rusage used;
    struct rlimit limit;
    if (getrusage(RUSAGE_SELF, &used) != 0 || getrlimit(RLIMIT_CPU, &limit) != 0)
        return;
    rlim_t until = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1 + seconds;
    limit.rlim_cur = until < limit.rlim_max ? until : limit.rlim_max;
    setrlimit(RLIMIT_CPU, &limit);
}

void confine_user(void) {
    if (geteuid() != 0)
        return;
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 || setgroups(0, NULL) != 0)
        return;
    if (setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)
        return; /* a user namespace without such an id: the capabilities still go */
}

static void keep_capabilities(uint32_t kept) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (syscall(SYS_capget, &header, sets) != 0)
        return;
    sets[0].permitted &= kept;
    sets[0].effective = sets[0].permitted;
    sets[0].inheritable = 0;
    sets[1] = (struct __user_cap_data_struct){0};
    syscall(SYS_capset, &header, sets);
}

void confine_rights(bool reads_files) {
    set_limit(RLIMIT_CORE, 0);
    keep_capabilities(reads_files ? 1u << CAP_DAC_READ_SEARCH : 0);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}
