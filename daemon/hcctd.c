/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * hcctd.c - options, and the order in which the daemon's parts start and stop.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/options.h"
#include "common/base/own_directory.h"
#include "common/base/roomy_stack.h"
#include "common/base/spawn_self.h"
#include "common/tree/summary.h"
#include "common/wire/paths.h"
#include "daemon/answers/config.h"
#include "daemon/history/history.h"
#include "daemon/ingest/deferred_unwind.h"
#include "daemon/ingest/finished.h"
#include "daemon/ingest/frame_sweep.h"
#include "daemon/ingest/ingest.h"
#include "daemon/ingest/registry.h"
#include "daemon/ingest/robust.h"
#include "daemon/ingest/tables.h"
#include "daemon/render/renderer.h"
#include "daemon/serve/acceptor.h"
#include "daemon/serve/activation.h"
#include "daemon/serve/http.h"
#include "daemon/serve/http_jobs.h"
#include "daemon/serve/http_tcp.h"
#include "daemon/serve/listener.h"
#include "daemon/serve/notify.h"
#include "daemon/state/checkpoint.h"
#include "daemon/state/history_keeper.h"
#include "daemon/state/recording.h"
#include "daemon/state/snapshot.h"

struct daemon_config config;

struct settings {
    const char *socket, *listen, *report_dir, *report_format, *summary, *table_cache, *trace;
    const char *state_dir;
    double phi, epsilon;
    uint64_t memory_limit, render_memory, history_limit;
    unsigned ready_fd, checkpoint, render_time;
    unsigned parent; /* 0: none that hcctd is to end with */
};

static struct settings settings = {
    .report_dir = "hcct-reports",
    .report_format = "text",
    .phi = 1e-4,
    .memory_limit = 64u << 20,
    .checkpoint = 60,
    .render_memory = 1u << 30,
    .history_limit = 256u << 20,
    .render_time = 50,
};

#define AT(member) offsetof(struct settings, member)

static const struct option_spec options[] = {
    {"socket", 's', OPTION_STRING, "PATH", AT(socket), 0, 0,
     "where to listen (default: $HCCT_SOCKET, else $XDG_RUNTIME_DIR/hcct/hcctd.sock, else "
     "/run/hcct/hcctd.sock)"},
    {"listen", 0, OPTION_STRING, "ADDRESS", AT(listen), 0, 0,
     "answer GET on loopback, too: 127.0.0.1:PORT or [::1]:PORT, port 0 for any that is free; each "
     "user sees their own processes (default: no)"},
    {"report-dir", 'd', OPTION_STRING, "DIR", AT(report_dir), 0, 0,
     "where snapshots go, \"none\" for no snapshots (default: ./hcct-reports)"},
    {"report-format", 0, OPTION_STRING, "FORMAT", AT(report_format), 0, 0,
     "of snapshots: " FORMAT_NAMES " (default: text)"},
    {"phi", 0, OPTION_FRACTION, "P", AT(phi), 0, 1,
     "a context is hot from this share of all weight on (default: 0.0001)"},
    {"epsilon", 0, OPTION_FRACTION, "E", AT(epsilon), 0, 1,
     "largest error of a count, as a share of all weight; less than phi (default: 0.00002, or phi "
     "/ 5 where "
     "that is less)"},
    {"summary", 0, OPTION_STRING, "KIND", AT(summary), 0, 0,
     "which contexts are kept: filtered-space-saving (default), space-saving, space-saving-list, "
     "lossy-counting, sticky-sampling or exact"},
    {"trace", 0, OPTION_STRING, "FILE", AT(trace), 0, 0,
     "keep all events in a file, for hcct replay; in a directory, in one named after the daemon"},
    {"memory-limit", 0, OPTION_SIZE, "SIZE", AT(memory_limit), 1u << 20, 1ull << 40,
     "of one process's tree; error bounds grow when it is reached (default: 64M)"},
    {"table-cache", 0, OPTION_STRING, "DIR", AT(table_cache), 0, 0,
     "where unwind tables and call sites are kept, \"none\" to make them anew each time (default: "
     "$XDG_CACHE_HOME/hcct, else $HOME/.cache/hcct, else, for root, /var/cache/hcct)"},
    {"state-dir", 0, OPTION_STRING, "DIR", AT(state_dir), 0, 0,
     "keep profiles there, so that a new hcctd continues them even when this one is killed; "
     "\"none\" (the default): they end with it"},
    {"checkpoint", 0, OPTION_UNSIGNED, "SECONDS", AT(checkpoint), 1, 86400,
     "with --state-dir: how often they are written, and so how much is lost at most (default: 60)"},
    {"history-limit", 0, OPTION_SIZE, "SIZE", AT(history_limit), 1u << 20, 1ull << 40,
     "with --state-dir: of the profiles of past hours that are kept there (default: 256M)"},
    {"render-memory", 0, OPTION_SIZE, "SIZE", AT(render_memory), 16u << 20, 1ull << 40,
     "of one process that renders an answer; up to 8 are at work at once, 4 for one user (default: "
     "1G)"},
    {"render-time", 0, OPTION_UNSIGNED, "SECONDS", AT(render_time), 1, 3600,
     "of CPU time for one answer, and twice as long in all (default: 50)"},
    {"ready-fd", 0, OPTION_UNSIGNED, "N", AT(ready_fd), 0, 1u << 20,
     "write a newline to this descriptor when the socket is there"},
    {"exit-with-parent", 0, OPTION_UNSIGNED, "PID", AT(parent), 1, INT_MAX,
     "end when the process that started hcctd ends, which is PID"},
    {0},
};

static const struct option_command command = {
    .usage = "hcctd [options]",
    .about = "Collects the hot calling contexts of programs that run with libhcctagent.so, and "
             "answers queries about them. SIGUSR1 writes a report of each live process, SIGTERM "
             "does so and ends.",
    .examples = "  hcctd --socket /tmp/hcctd.sock &\n"
                "  HCCT_SOCKET=/tmp/hcctd.sock LD_PRELOAD=libhcctagent.so ./app\n"
                "  HCCT_SOCKET=/tmp/hcctd.sock hcct hot\n",
    .options = options,
};

static _Noreturn void usage_error(const char *sentence) {
    complain("%s", sentence);
    exit(HCCT_EXIT_USAGE);
}

static void check_settings(void) {
    if (settings.listen != NULL && !http_tcp_is_address(settings.listen))
        usage_error("--listen takes 127.0.0.1:PORT or [::1]:PORT: hcctd answers this machine "
                    "only");
    if (settings.epsilon == 0)
        settings.epsilon = summary_default_epsilon(settings.phi);
    if (settings.epsilon >= settings.phi)
        usage_error(
            "epsilon must be below phi: a context can't be called hot by a count that may be "
            "wrong by more than that");
    if (format_find(settings.report_format) == NULL)
        usage_error("--report-format must be one of " FORMAT_NAMES);
    if (settings.summary != NULL && summary_find(settings.summary) == NULL)
        usage_error("--summary is none of filtered-space-saving, space-saving, space-saving-list, "
                    "lossy-counting, sticky-sampling and exact");
}

static void configure(void) {
    static char path[4096];
    paths_socket(path, sizeof path, settings.socket);
    config.socket = path;
    config.report_dir = strcmp(settings.report_dir, "none") != 0 ? settings.report_dir : NULL;
    config.report_format = settings.report_format;
    config.phi = settings.phi;
    config.epsilon = settings.epsilon;
    config.summary = settings.summary != NULL ? settings.summary : summary_kinds[0]->name;
    config.memory_limit = settings.memory_limit;
}

/* ---- snapshots on request ---- */

static void say_written(void *arg, const char *path) {
    unsigned *n = arg;
    (*n)++;
    fprintf(stderr, "hcctd: wrote %s\n", path);
}

static void snapshot_all(bool final) {
    struct query query;
    struct query_error error;
    unsigned n = 0;
    query_init(&query, geteuid());
    if (config.report_dir == NULL && final)
        return;
    struct snapshot_files files = {.written = say_written, .arg = &n};
    enum query_status status = snapshot_write(&query, &files, &error);
    if (status != QUERY_OK && !(final && status == QUERY_NOT_FOUND))
        complain("%s", error.text);
}

/* SIGUSR1s whose reports are not written yet. */
static _Atomic unsigned asked_for_snapshots;

static void write_snapshots(struct http_job *unused) {
    (void)unused;
    do
        snapshot_all(false);
    while (atomic_fetch_sub(&asked_for_snapshots, 1) > 1);
}

/* By a thread that answers queries: this one accepts connections meanwhile. */
static void ask_for_snapshots(void) {
    static struct http_job job;
    if (atomic_fetch_add(&asked_for_snapshots, 1) > 0)
        return;
    job = (struct http_job){.uid = geteuid(), .run = write_snapshots};
    http_jobs_put(&job);
}

static bool on_signal(int fd) {
    struct signalfd_siginfo info;
    if (read(fd, &info, sizeof info) != (ssize_t)sizeof info)
        return true;
    bool stop = info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT;
    if (stop)
        notify_manager("STOPPING=1");
    if (info.ssi_signo == SIGUSR1)
        ask_for_snapshots();
    return !stop;
}

/* ---- start and stop ---- */

static int catch_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Each live process needs a few descriptors, each module one. */
static void raise_limits(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void tell_ready(int tcp) {
    char url[64];
    if (tcp >= 0) {
        http_tcp_url(tcp, url, sizeof url);
        complain("answers on %s/", url);
    }
    if (settings.ready_fd != 0) {
        ssize_t n = write((int)settings.ready_fd, "\n", 1);
        (void)n; /* whoever waited may be gone */
        close((int)settings.ready_fd);
    }
    notify_manager("READY=1\nSTATUS=Waiting for programs with libhcctagent.so");
}

static _Noreturn void fail(const char *sentence) {
    complain("%s", sentence);
    exit(HCCT_EXIT_FAILURE);
}

/* Small enough for all that reads numbers in JSON as floating point. */
static uint64_t draw_instance(void) {
    uint64_t number = clock_ns(CLOCK_REALTIME);
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
        number += (uint64_t)getpid() << 32;
    return number % (UINT64_C(1) << 53);
}

static void serve(int listener, int tcp, int signals) {
    const struct handshake_policy policy = {
        .tree = {.summary = summary_find(config.summary),
                 .epsilon = config.epsilon,
                 .phi = config.phi,
                 .max_bytes = config.memory_limit},
        .made = recording_begin,
    };
    robust_begin();
    config.instance = draw_instance();
    config.restored = checkpoint_restore(&policy.tree);
    struct table_cache *caches[TABLE_KINDS];
    for (unsigned kind = 0; kind < TABLE_KINDS; kind++)
        caches[kind] = table_cache_new(settings.table_cache, TABLE_CACHE_BYTES);
    struct acceptor acceptor;
    config.symbols = symbol_service_new("/proc/self/exe");
    if (config.symbols == NULL || !deferred_unwind_start() || !tables_start(caches) ||
        !frame_sweep_start() || !finished_start() || !ingest_start() || !http_start(tcp) ||
        !checkpoint_start(settings.checkpoint) || !history_keeper_start() ||
        !acceptor_open(&acceptor, listener, &policy) ||
        !acceptor_watch(&acceptor, signals, on_signal))
        fail("the daemon's parts can't be started: no memory, threads or descriptors");
    tell_ready(tcp);
    acceptor_loop(&acceptor);
    listener_close(listener, config.socket);
    ingest_say_goodbye(); /* programs that count calls do not wait for what follows */
    http_stop();
    ingest_stop();
    history_keeper_stop();
    snapshot_all(true);
    renderer_stop();
    finished_stop();
    frame_sweep_stop();
    deferred_unwind_stop();
    checkpoint_stop();
    recording_close();
    tables_stop();
    for (unsigned kind = 0; kind < TABLE_KINDS; kind++)
        table_cache_free(caches[kind]);
    symbol_service_free(config.symbols);
    registry_clear();
}

/* The socket for agents and clients: a service manager's, or our own. */
static int open_listener(void) {
    static char path[PATHS_SOCKET_MAX];
    char error[512];
    int fd;
    if (!activation_take(&fd, path, sizeof path, error, sizeof error))
        fail(error);
    if (fd >= 0) {
        config.socket = path;
        listener_adopt(fd);
        return fd;
    }
    fd = listener_open(config.socket, error, sizeof error);
    if (fd < 0)
        fail(error);
    return fd;
}

/* -1: none was asked for. */
static int open_tcp(void) {
    char error[512];
    if (settings.listen == NULL)
        return -1;
    int fd = http_tcp_open(settings.listen, error, sizeof error);
    if (fd < 0)
        fail(error);
    return fd;
}

/* An answer about many contexts takes a hundred times the memory that hcctd needs else; malloc
 * would keep it, and for each thread that ever answered. Large pieces go back to the kernel at
 * once; smaller ones don't, as to get them again costs a third of an answer.
 *
 * One heap for all threads: another would reserve 64 MB of address space when a thread first
 * allocates, and without that much the thread could not allocate at all. The heap grows by some
 * megabytes that are left untouched, for what takes little when there are no more to be had. */
#define LARGE_BYTES   (2 << 20)
#define RESERVE_BYTES (4 << 20)

static void give_memory_back(void) {
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    mallopt(M_TRIM_THRESHOLD, 2 * LARGE_BYTES);
    mallopt(M_TOP_PAD, RESERVE_BYTES);
    mallopt(M_ARENA_MAX, 1);
}

/* The default is what RLIMIT_STACK allows, 8 MB of address space or more. */
#define STACK_BYTES (1 << 20)

static void keep_stacks_small(void) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

static void say_removed(const struct history_earlier *gone) {
    if (gone->files > 0)
        complain(
            "removed from %s/history: files in which an earlier version kept an hour each, and "
            "which this one does not read (%" PRIu64 " of %" PRIu64 " bytes in all)",
            settings.state_dir, gone->files, gone->bytes);
}

static bool open_state(char *error, size_t room) {
    struct history_earlier gone = {0, 0};
    if (!checkpoint_open(settings.state_dir, error, room))
        return false;
    if (history_open(settings.state_dir, settings.history_limit, &gone)) {
        say_removed(&gone);
        return true;
    }
    snprintf(error, room, "--state-dir %.200s can't have a history: %s", settings.state_dir,
             own_directory_error(errno));
    return false;
}

static int hcctd_main(int argc, char **argv) {
    char error[512];
    int rest;
    if (argc == 2 && strcmp(argv[1], "--elf-worker") == 0)
        return elf_worker_main(SPAWN_SELF_FD);
    setlocale(LC_CTYPE, ""); /* names may be UTF-8 */
    if (argc > 1 && strcmp(argv[1], RENDERER_ROLE) == 0)
        renderer_main(argc, argv);
    options_program = "hcctd";
    options_parse(&command, argc, argv, &settings, &rest);
    options_no_more(&command, argc, argv, rest);
    check_settings();
    configure();
    if (settings.parent != 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != (pid_t)settings.parent) /* it was gone before that */
            return HCCT_EXIT_OK;
    }
    signal(SIGCHLD, SIG_DFL); /* children are waited for, whatever the caller did with its own */
    renderer_start(
        &(struct render_limits){.memory = settings.render_memory, .seconds = settings.render_time});
    raise_limits();
    give_memory_back();
    keep_stacks_small();
    if (settings.trace != NULL && !recording_open(settings.trace, error, sizeof error))
        fail(error);
    if (settings.state_dir != NULL && strcmp(settings.state_dir, "none") != 0 &&
        !open_state(error, sizeof error))
        fail(error);
    int signals = catch_signals();
    int tcp = open_tcp();
    serve(open_listener(), tcp, signals);
    return HCCT_EXIT_OK;
}

int main(int argc, char **argv) {
    return roomy_stack_run(hcctd_main, argc, argv);
}
