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
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/attach/sight.h"
#include "common/base/options.h"
#include "common/wire/compiler.h"

#define START_TIMEOUT_MS 30000
#define STOP_TIMEOUT_MS  10000
#define SOCKET           "/hcctd.sock"
#define LISTENER_AT      3  /* where hcctd looks for a socket that it is given */
#define COPIES_FROM      10 /* other descriptors of its */

/* ---- its directory ---- */

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

/* False: there is none, or the path would be too long for a socket. */
static bool make_in(struct private_daemon *daemon, const char *parent) {
    char directory[sizeof daemon->directory];
    int n = snprintf(directory, sizeof directory, "%s/hcct-XXXXXX", parent);
    if (n < 0 || (size_t)n + strlen(SOCKET) >= sizeof daemon->socket || mkdtemp(directory) == NULL)
        return false;
    strcpy(daemon->directory, directory);
    strcpy(daemon->socket, directory);
    strcat(daemon->socket, SOCKET);
    return true;
}

static bool make_here(struct private_daemon *daemon) {
    /* the last two where a container's root can't be written to */
    const char *const parents[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp", "/dev/shm",
                                   "/var/tmp"};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(parents); i++)
        if (parents[i] != NULL && parents[i][0] == '/' && make_in(daemon, parents[i])) {
            strcpy(daemon->seen, daemon->socket);
            return true;
        }
    complain("no private directory for hcctd can be made, neither in /tmp nor in /dev/shm nor in "
             "/var/tmp: %s; set TMPDIR to one where you may write",
             strerror(errno));
    return false;
}

/* As hcctd would, which then may not: its user can be one that is not known there. */
static bool listen_there(struct private_daemon *daemon) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, daemon->socket);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t old = umask(0177);
    bool listens = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
                   listen(fd, SOMAXCONN) == 0;
    umask(old);
    daemon->listener = listens ? fd : 0;
    if (fd >= 0 && !listens)
        close(fd);
    return listens;
}

/* Ours is the way through a descriptor, which is there also when the process has ended. */
static bool make_below(struct private_daemon *daemon, pid_t pid, const char *place) {
    char parent[64];
    int fd = sight_open(pid, place, O_PATH | O_DIRECTORY);
    snprintf(parent, sizeof parent, "/proc/%d/fd/%d", (int)getpid(), fd);
    if (fd >= 0 && make_in(daemon, parent) && listen_there(daemon)) {
        snprintf(daemon->seen, sizeof daemon->seen, "%s%s", place, daemon->socket + strlen(parent));
        return true;
    }
    int error = errno;
    if (daemon->directory[0] != '\0')
        remove_directory(daemon);
    daemon->directory[0] = '\0';
    if (fd >= 0)
        close(fd);
    errno = error;
    return false;
}

/* The kernel's view of a process goes with its main thread. */
static bool has_root(pid_t pid) {
    char path[32];
    struct stat root;
    snprintf(path, sizeof path, "/proc/%d/root/", (int)pid);
    return stat(path, &root) == 0 || errno != ENOENT;
}

/* Where that process has it, and as its user: root's files can't be made in a container whose users
 * are others. */
static bool make_there(struct private_daemon *daemon, pid_t pid) {
    static const char *const places[] = {"/tmp", "/dev/shm", "/var/tmp", "/run"};
    struct stat its;
    char path[32];
    bool made = false;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (stat(path, &its) != 0)
        its = (struct stat){.st_uid = geteuid(), .st_gid = getegid()};
    int group = setfsgid(its.st_gid), user = setfsuid(its.st_uid);
    for (size_t i = 0; i < HCCT_ARRAY_LEN(places) && !made; i++)
        made = make_below(daemon, pid, places[i]);
    int error = errno;
    setfsuid((uid_t)user);
    setfsgid((gid_t)group);
    if (!made && !has_root(pid))
        complain("process %d can't be attached to: its main thread has ended, so that its root "
                 "directory can't be reached",
                 (int)pid);
    else if (!made && geteuid() != 0 && its.st_uid != geteuid())
        complain("process %d is another user's: run hcct as that user, or as root", (int)pid);
    else if (!made)
        complain("process %d has another root directory, where no private directory for hcctd can "
                 "be made, neither in /tmp nor in /dev/shm, /var/tmp or /run: %s; mount one there",
                 (int)pid, strerror(error));
    return made;
}

static bool make_directory(struct private_daemon *daemon, pid_t reached_by) {
    if (reached_by != 0 && !sight_is_ours(reached_by))
        return make_there(daemon, reached_by);
    return make_here(daemon);
}

/* ---- starting ---- */

/* As a service manager does it. */
static void pass_listener(int listener) {
    char pid[16];
    int copy = fcntl(listener, F_DUPFD_CLOEXEC, COPIES_FROM);
    dup2(copy, LISTENER_AT);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "1", 1);
}

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
    ready = fcntl(ready, F_DUPFD, COPIES_FROM); /* a copy that stays open */
    if (daemon->listener != 0)
        pass_listener(daemon->listener);
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
    if (!make_directory(daemon, options->reached_by))
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
    if (daemon->listener != 0)
        close(daemon->listener);
    daemon->listener = 0;
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
