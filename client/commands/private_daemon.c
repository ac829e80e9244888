/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * private_daemon.c - starts hcctd, waits for its word that it listens, stops it.
 */
#include "client/commands/private_daemon.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/base/options.h"
#include "common/wire/compiler.h"

#define START_TIMEOUT_MS 30000
#define STOP_TIMEOUT_MS  10000

/* ---- its directory ---- */

static bool make_directory(struct private_daemon *daemon) {
    const char *const parents[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(parents); i++) {
        if (parents[i] == NULL || parents[i][0] != '/')
            continue;
        char directory[sizeof daemon->directory];
        int n = snprintf(directory, sizeof directory, "%s/hcct-XXXXXX", parents[i]);
        if (n < 0 || (size_t)n + strlen("/hcctd.sock") >= sizeof daemon->socket)
            continue; /* too long for a socket; /tmp never is */
        if (mkdtemp(directory) == NULL)
            continue;
        strcpy(daemon->directory, directory);
        strcpy(daemon->socket, directory);
        strcat(daemon->socket, "/hcctd.sock");
        return true;
    }
    complain("no private directory for hcctd can be made in /tmp: %s; set TMPDIR to one where you "
             "may write",
             strerror(errno));
    return false;
}

static void remove_directory(struct private_daemon *daemon) {
    DIR *directory = opendir(daemon->directory);
    struct dirent *entry;
    if (directory == NULL)
        return;
    while ((entry = readdir(directory)) != NULL)
        unlinkat(dirfd(directory), entry->d_name, 0); /* fails for "." and "..", as it should */
    closedir(directory);
    rmdir(daemon->directory);
}

/* ---- starting ---- */

/* In the child. A session of its own: what the terminal sends (Ctrl-C) is for the command. */
_Noreturn static void become_daemon(const struct private_daemon *daemon,
                                    const struct private_daemon_options *options, pid_t starter,
                                    int ready) {
    char fd[16], parent[16], phi[32], epsilon[32], limit[32];
    const char *argv[24] = {"hcctd",        "--socket",   daemon->socket,
                            "--report-dir", "none",       "--exit-with-parent",
                            parent,         "--ready-fd", fd};
    size_t n = 9;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGTERM, SIG_DFL); /* our caller may ignore it; the daemon must end by it */
    setsid();
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    ready = dup(ready); /* a copy that stays open */
    snprintf(fd, sizeof fd, "%d", ready);
    snprintf(parent, sizeof parent, "%d", (int)starter);
    if (options->phi > 0) {
        snprintf(phi, sizeof phi, "%.9g", options->phi);
        argv[n++] = "--phi";
        argv[n++] = phi;
    }
    if (options->epsilon > 0) {
        snprintf(epsilon, sizeof epsilon, "%.9g", options->epsilon);
        argv[n++] = "--epsilon";
        argv[n++] = epsilon;
    }
    if (options->summary != NULL) {
        argv[n++] = "--summary";
        argv[n++] = options->summary;
    }
    if (options->memory_limit != 0) {
        snprintf(limit, sizeof limit, "%" PRIu64, options->memory_limit);
        argv[n++] = "--memory-limit";
        argv[n++] = limit;
    }
    if (options->trace != NULL) {
        argv[n++] = "--trace";
        argv[n++] = options->trace;
    }
    execv(options->program, (char *const *)argv);
    complain("%s can't be run: %s", options->program, strerror(errno));
    _exit(HCCT_EXIT_FAILURE);
}

static bool wait_ready(int fd) {
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    char byte;
    int n;
    do {
        n = poll(&ready, 1, START_TIMEOUT_MS);
    } while (n < 0 && errno == EINTR);
    if (n == 0) {
        complain("the private hcctd does not come up: is the machine overloaded?");
        return false;
    }
    if (n == 1 && read(fd, &byte, 1) == 1)
        return true;
    complain("the private hcctd ended before it was ready"); /* it has said why */
    return false;
}

bool private_daemon_start(struct private_daemon *daemon,
                          const struct private_daemon_options *options) {
    int ends[2];
    *daemon = (struct private_daemon){0};
    if (!make_directory(daemon))
        return false;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        complain("no pipe can be made: %s", strerror(errno));
        remove_directory(daemon);
        return false;
    }
    pid_t starter = getpid(), pid = fork();
    if (pid == 0)
        become_daemon(daemon, options, starter, ends[1]);
    close(ends[1]);
    daemon->pid = pid > 0 ? pid : 0;
    bool ready = pid > 0 && wait_ready(ends[0]);
    if (pid < 0)
        complain("no process can be started: %s", strerror(errno));
    close(ends[0]);
    if (!ready)
        private_daemon_stop(daemon);
    return ready;
}

void private_daemon_let_in(const struct private_daemon *daemon, uid_t user) {
    if (user != geteuid() &&
        (chown(daemon->directory, user, (gid_t)-1) != 0 || chmod(daemon->socket, 0666) != 0))
        complain("%s can't be opened to user %u: %s", daemon->socket, (unsigned)user,
                 strerror(errno));
}

/* ---- stopping ---- */

static void wait_end(pid_t pid) {
    const struct timespec moment = {.tv_nsec = 5000000};
    for (int waited_ms = 0; waited_ms < STOP_TIMEOUT_MS; waited_ms += 5) {
        pid_t ended = waitpid(pid, NULL, WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            return;
        nanosleep(&moment, NULL);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

void private_daemon_stop(struct private_daemon *daemon) {
    if (daemon->pid > 0) {
        kill(daemon->pid, SIGTERM);
        wait_end(daemon->pid);
    }
    if (daemon->directory[0] != '\0')
        remove_directory(daemon);
    *daemon = (struct private_daemon){0};
}

void private_daemon_abandon(const struct private_daemon *daemon) {
    if (daemon->pid > 0)
        kill(daemon->pid, SIGKILL);
    if (daemon->directory[0] != '\0') {
        unlink(daemon->socket);
        rmdir(daemon->directory);
    }
}
