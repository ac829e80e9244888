/*
 * elf_worker_limits.c - what the worker child takes from itself.
 *
 * It must go on reading what only root may read: debug files and users' programs. So when it starts
 * as root, it becomes nobody, with the one capability to read any file, and writes none.
 *
 * Nothing here is allowed to fail the child: where a step is refused, the others still protect.
 */
#include "common/code/elf_worker_limits.h"

#include <grp.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MEMORY_MAX (4ull << 30)
#define NOBODY     65534u

/* The address sanitizer reserves terabytes of addresses. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMIT_MEMORY false
#else
#define LIMIT_MEMORY true
#endif

static void set_limit(int resource, rlim_t value) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0)
        return;
    limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
    limit.rlim_max = limit.rlim_cur;
    setrlimit(resource, &limit);
}

/* debuginfod's client, when the user wants it, keeps what it fetches in the user's cache. */
static bool may_download(void) {
    const char *servers = getenv("DEBUGINFOD_URLS");
    return servers != NULL && servers[0] != '\0';
}

/* Keeps the capability to read files, where there is one, and no other. */
static void keep_reading_only(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (syscall(SYS_capget, &header, sets) != 0)
        return;
    sets[0].permitted &= 1u << CAP_DAC_READ_SEARCH;
    sets[0].effective = sets[0].permitted;
    sets[0].inheritable = 0;
    sets[1] = (struct __user_cap_data_struct){0};
    syscall(SYS_capset, &header, sets);
}

static void become_nobody(void) {
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 || setgroups(0, NULL) != 0)
        return;
    if (setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)
        return; /* a user namespace without such an id: the capabilities still go */
}

void elf_worker_limit_self(void) {
    set_limit(RLIMIT_CORE, 0);
    if (LIMIT_MEMORY)
        set_limit(RLIMIT_AS, MEMORY_MAX);
    if (!may_download())
        set_limit(RLIMIT_FSIZE, 0);
    if (geteuid() == 0 && !may_download())
        become_nobody();
    keep_reading_only();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

void elf_worker_limit_cpu(unsigned seconds) {
    struct rusage used;
    struct rlimit limit;
    if (getrusage(RUSAGE_SELF, &used) != 0 || getrlimit(RLIMIT_CPU, &limit) != 0)
        return;
    rlim_t until = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1 + seconds;
    limit.rlim_cur = until < limit.rlim_max ? until : limit.rlim_max;
    setrlimit(RLIMIT_CPU, &limit);
}
