/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * judge.c - one question a function, answered from /proc.
 */
#include "client/attach/judge.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/attach/code.h"
#include "client/attach/filter.h"
#include "client/attach/inject.h"
#include "client/attach/sight.h"
#include "client/attach/target.h"

static bool say(bool passes, char *text, size_t bytes, const char *sentence) {
    snprintf(text, bytes, "%s", sentence);
    return passes;
}

/* ---- the process ---- */

static bool is_there(pid_t pid, const char *library, char *text, size_t bytes) {
    (void)library;
    char state[32], link[64], exe[16];
    uint64_t leader, threads;
    if (!target_status(pid, 0, "Tgid", false, &leader) ||
        !target_status_word(pid, "State", state, sizeof state) || state[0] == 'X') {
        snprintf(text, bytes, "there is no process %d: it has ended, or /proc hides it", (int)pid);
        return false;
    }
    if (state[0] == 'Z')
        return say(false, text, bytes,
                   target_status(pid, 0, "Threads", false, &threads) && threads > 1
                       ? "its main thread has ended, and the kernel shows its files no more"
                       : "it has ended, and its parent has yet to wait for it");
    if (leader != (uint64_t)pid) {
        snprintf(text, bytes, "%d is a thread of process %" PRIu64 ": name that one", (int)pid,
                 leader);
        return false;
    }
    if (state[0] == 'T')
        return say(false, text, bytes,
                   "it is stopped by a signal: let it go on by 'kill -CONT' first");
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    if (readlink(link, exe, sizeof exe) < 0 && errno == ENOENT)
        return say(false, text, bytes, "it is a thread of the kernel");
    return say(true, text, bytes, "it is there");
}

static bool is_not_us(pid_t pid, const char *library, char *text, size_t bytes) {
    (void)library;
    return say(pid != getpid(), text, bytes,
               pid != getpid() ? "it is another process" : "that is hcct itself");
}

static bool is_untraced(pid_t pid, const char *library, char *text, size_t bytes) {
    (void)library;
    uint64_t tracer = 0;
    if (!target_status(pid, 0, "TracerPid", false, &tracer) || tracer == 0)
        return say(true, text, bytes, "nobody traces it");
    snprintf(text, bytes,
             "process %" PRIu64 " traces it (a debugger, strace): only one can; end that first",
             tracer);
    return false;
}

/* ---- rights ---- */

static int read_number(const char *path) {
    char text[16];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    return n > 0 ? text[0] - '0' : 0;
}

static const char *why_no_right(pid_t pid) {
    uint64_t user = 0;
    int scope = read_number("/proc/sys/kernel/yama/ptrace_scope");
    if (target_status(pid, 0, "Uid", false, &user) && user != geteuid() && geteuid() != 0)
        return "it is another user's: run hcct as that user, or as root";
    if (scope == 3)
        return "kernel.yama.ptrace_scope is 3: nobody may trace until the machine is started "
               "anew with another; start the program under 'hcct record --'";
    if (scope == 2)
        return "kernel.yama.ptrace_scope is 2: only root may trace; run hcct as root";
    if (scope == 1)
        return "kernel.yama.ptrace_scope is 1: only a parent may trace; run hcct as root, or set "
               "it to 0: sysctl kernel.yama.ptrace_scope=0";
    return "it is protected (setuid, file capabilities, or not dumpable), or this is a container "
           "that forbids ptrace: run hcct as root, or with CAP_SYS_PTRACE";
}

/* The kernel asks the same as for ptrace. */
static bool may_be_traced(pid_t pid, const char *library, char *text, size_t bytes) {
    (void)library;
    struct target target;
    if (target_open(&target, pid)) {
        target_close(&target);
        return say(true, text, bytes, "this user may trace it");
    }
    return say(false, text, bytes, why_no_right(pid));
}

/* ---- what it is ---- */

static bool read_header(pid_t pid, Elf64_Ehdr *header) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && read(fd, header, sizeof *header) == (ssize_t)sizeof *header &&
                memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

static bool is_of_this_machine(pid_t pid, const char *library, char *text, size_t bytes) {
    (void)library;
    Elf64_Ehdr header;
    if (!inject_is_possible_here())
        return say(false, text, bytes, inject_words(INJECT_NOT_HERE));
    if (!read_header(pid, &header))
        return say(false, text, bytes, "its program file can't be read");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
        return say(false, text, bytes,
                   "it is built for another machine or word size (32-bit) than hcct");
    return say(true, text, bytes, "it is a 64-bit x86-64 program");
}

static bool uses_musl(const struct target *target) {
    for (size_t i = 0; i < target->n_maps; i++)
        if (strstr(target->maps[i].path, "/ld-musl-") != NULL)
            return true;
    return false;
}

static bool has_glibc(pid_t pid, const char *library, char *text, size_t bytes) {
    (void)library;
    struct target target;
    struct code code;
    if (!target_open(&target, pid))
        return say(false, text, bytes, "its memory can't be read");
    bool musl = uses_musl(&target);
    enum code_fault fault = code_read(&code, &target, INJECT_LIBRARY);
    target_close(&target);
    if (fault == CODE_FINE)
        return say(true, text, bytes, "it uses glibc, 2.34 or later");
    if (musl)
        return say(false, text, bytes, "it uses musl, and the agent needs glibc 2.35 or later");
    if (fault == CODE_NO_LIBC)
        return say(false, text, bytes,
                   "it is statically linked, or uses another C library than glibc: only glibc's "
                   "loader can load the agent; link it dynamically");
    return say(false, text, bytes, inject_words(INJECT_OLD_LIBC));
}

/* ---- what it has forbidden itself ---- */

/* All of its threads have as many filters as its first. */
static bool is_filtered_alike(pid_t pid, uint64_t filters) {
    pid_t *list;
    size_t n = target_threads(pid, &list);
    bool alike = n > 0;
    for (size_t i = 0; alike && i < n; i++) {
        uint64_t its = filters; /* it may have ended */
        (void)target_status(pid, list[i], "Seccomp_filters", false, &its);
        alike = its == filters;
    }
    free(list);
    return alike;
}

/* A filter that all have, hcct too, forbids nothing that matters; one that can be read is looked
 * through when a thread is stopped. */
static bool is_unconfined(pid_t pid, const char *library, char *text, size_t bytes) {
    (void)library;
    uint64_t mode = 0, its = 0, ours = 0;
    (void)target_status(pid, 0, "Seccomp", false, &mode);
    (void)target_status(pid, 0, "Seccomp_filters", false, &its);
    (void)target_status(getpid(), 0, "Seccomp_filters", false, &ours);
    if (mode == 0 || (mode == 2 && its != 0 && its <= ours))
        return say(true, text, bytes, "it has forbidden itself no system calls");
    if (mode == 2 && its != 0 && filter_can_be_read() && is_filtered_alike(pid, its))
        return say(true, text, bytes,
                   "it has a seccomp filter (its container's?), which is read before it is "
                   "attached to");
    return say(false, text, bytes,
               "it has forbidden itself system calls (seccomp), and one of the agent's could end "
               "it; attach as root of the machine, who can read what is forbidden, or start it "
               "under 'hcct record --', where the agent is there before");
}

static bool has_plain_stack(pid_t pid, const char *library, char *text, size_t bytes) {
    (void)library;
    char features[64] = "";
    (void)target_status_word(pid, "x86_Thread_features", features, sizeof features);
    if (strstr(features, "shstk") == NULL)
        return say(true, text, bytes, "it has no shadow stack");
    return say(false, text, bytes,
               "it has a shadow stack, on which no call can be put from outside; start it under "
               "'hcct record --'");
}

/* ---- where it is ---- */

/* The library is sent to who does not have it, which takes a /proc there. */
static bool can_have_library(pid_t pid, const char *library, char *text, size_t bytes) {
    if (sight_is_ours(pid))
        return say(true, text, bytes, "it sees the same files");
    if (sight_has_proc(pid))
        return say(true, text, bytes, "it has another root directory, to which the agent is sent");
    if (library != NULL && sight_has_file(pid, library))
        return say(true, text, bytes, "it has another root directory, where the agent is, too");
    snprintf(text, bytes,
             "it has another root directory, with neither a /proc nor the agent: copy %s there, to "
             "the same path",
             library != NULL ? library : "libhcctattach.so");
    return false;
}

static bool has_no_agent(pid_t pid, const char *library, char *text, size_t bytes) {
    (void)library;
    struct target target;
    bool preloaded = false;
    if (target_open(&target, pid)) {
        preloaded = code_base_of(&target, "/libhcctagent.so") != 0;
        target_close(&target);
    }
    return say(!preloaded, text, bytes,
               preloaded ? "the agent was preloaded into it: see 'hcct list', and 'hcct start'"
                         : "no agent was preloaded into it");
}

const struct judge_check judge_checks[] = {
    {"process", is_there},
    {"itself", is_not_us},
    {"traced", is_untraced},
    {"rights", may_be_traced},
    {"machine", is_of_this_machine},
    {"files", can_have_library},
    {"library", has_glibc},
    {"agent", has_no_agent},
    {"confined", is_unconfined},
    {"stack", has_plain_stack},
    {NULL, NULL},
};

bool judge(pid_t pid, const char *library, char *text, size_t bytes) {
    for (const struct judge_check *check = judge_checks; check->name != NULL; check++)
        if (!check->passes(pid, library, text, bytes))
            return false;
    return true;
}
