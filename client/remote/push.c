/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * push.c - every so often: what came since the last time goes to the spool, what is in the spool to
 * the target.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#include "client/ask.h"
#include "client/remote/clickhouse.h"
#include "client/remote/collect.h"
#include "client/remote/remote.h"
#include "client/remote/span.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/wire/metric.h"

#define TIMEOUT_S  30
#define ANSWER_MAX (1u << 20) /* of a server that takes something: a word, or a sentence */

struct push_options {
    const char *every, *spool, *service, *host, *tenant, *database, *credentials, *ca, *socket;
    uint64_t spool_size;
    unsigned keep;
    bool once, create;
};

#define AT(member) offsetof(struct push_options, member)

static const struct option_spec specs[] = {
    {"every", 0, OPTION_STRING, "TIME", AT(every), 0, 0, "push interval (15s)"},
    {"once", 0, OPTION_FLAG, NULL, AT(once), 0, 0, "push once, and end"},
    {"create", 0, OPTION_FLAG, NULL, AT(create), 0, 0,
     "make the tables of clickhouse where they are not there, and end"},
    {"keep", 0, OPTION_UNSIGNED, "DAYS", AT(keep), 0, 36500,
     "with --create: rows are kept so long (90; 0: for ever)"},
    {"service", 0, OPTION_STRING, "NAME", AT(service), 0, 0,
     "of all processes (their tag service, or their command)"},
    {"host", 0, OPTION_STRING, "NAME", AT(host), 0, 0,
     "what this machine is called (its host name)"},
    {"tenant", 0, OPTION_STRING, "ID", AT(tenant), 0, 0, "of pyroscope, otlp and parca"},
    {"database", 0, OPTION_STRING, "NAME", AT(database), 0, 0, "of clickhouse (hcct)"},
    {"credentials", 0, OPTION_STRING, "FILE", AT(credentials), 0, 0,
     "has USER:PASSWORD, or Bearer TOKEN ($HCCT_PUSH_CREDENTIALS)"},
    {"ca", 0, OPTION_STRING, "FILE", AT(ca), 0, 0,
     "certificates that are accepted instead of the system's"},
    {"spool", 0, OPTION_STRING, "DIR", AT(spool), 0, 0,
     "keeps what is not sent ($STATE_DIRECTORY, or ~/.local/state/hcct/push-TARGET)"},
    {"spool-size", 0, OPTION_SIZE, "BYTES", AT(spool_size), 1 << 10, 1e15,
     "the most that waits there; the rest waits in hcctd (64M)"},
    SOCKET_SPEC(push_options, socket),
    OPTIONS_END,
};

static const struct option_command command = {
    .usage = "hcct push [options] TARGET URL",
    .about =
        "Sends what hcctd profiles to a server, every 15 seconds what came since the last time.\n"
        "TARGET is pyroscope, parca, otlp or clickhouse.",
    .examples =
        "  hcct push pyroscope http://pyroscope:4040\n"
        "  hcct push --create clickhouse http://clickhouse:8123\n"
        "  hcct push --credentials /etc/hcct/clickhouse clickhouse https://clickhouse:8443\n"
        "  hcct push --once otlp http://localhost:4318\n",
    .options = specs,
};

/* What goes on, and what was said of it already. */
struct pushing {
    struct push_settings settings;
    const struct target *target;
    struct transfer *transfer;
    struct spool spool;
    char socket[PATHS_SOCKET_MAX];
    char said_of_daemon[600], said_of_target[600];
    struct collected sum;
    uint64_t sent, refused;
};

static volatile sig_atomic_t ending;

static void on_signal(int signal) {
    (void)signal;
    ending = 1;
}

/* A sentence is said when it is another one than before: "" when all is well again. */
static void say_once(char said[600], const char *sentence) {
    if (strcmp(said, sentence) == 0)
        return;
    if (sentence[0] != '\0')
        complain("%s", sentence);
    snprintf(said, 600, "%s", sentence);
}

/* ---- one time ---- */

/* Its name still tells what was in it. */
static void give_up_damaged(const struct spool_push *waits) {
    const char *word =
        waits->collector < 0 ? "?" : metric_word_of_kind(spool_collectors[waits->collector]);
    const struct metric *metric = metric_find(word);
    const char *unit = metric != NULL               ? metric->unit
                       : strcmp(word, "calls") == 0 ? "count"
                                                    : "nanoseconds";
    if (waits->collector < 0)
        complain("push %" PRIu64 " can't be read; given up: what it had, which an earlier version "
                 "did not write down",
                 waits->number);
    else
        complain("push %" PRIu64 " can't be read; given up: %" PRIu64 " %s of %s", waits->number,
                 waits->weight, unit, word);
}

static enum transfer_result send_push(struct pushing *p, const struct spool_push *waits,
                                      char *error, size_t error_bytes) {
    struct push push;
    struct profile *profile = spool_read(&p->spool, waits, push.id);
    enum transfer_result result;
    if (profile == NULL) {
        give_up_damaged(waits);
        return TRANSFER_REFUSED;
    }
    push.profile = profile;
    result = p->target->send(p->transfer, &p->settings, &push, error, error_bytes);
    if (result == TRANSFER_REFUSED)
        complain("%s; given up: %" PRIu64 " %s of %s", error, profile_total(profile), profile->unit,
                 profile->type);
    profile_free(profile);
    return result;
}

/* What the target has lost of contexts it gets again, as far as hcctd still had it at the last
 * push.
 */
static void resend_lost(struct pushing *p) {
    struct profile *profiles[SPOOL_COLLECTORS];
    size_t n = 0;
    if (p->target->has_lost == NULL || !p->target->has_lost(p->transfer, &p->settings))
        return;
    for (int i = 0; i < SPOOL_COLLECTORS; i++)
        if ((profiles[n] = spool_base(&p->spool, i)) != NULL)
            n++;
    p->target->resend(p->transfer, &p->settings, (const struct profile *const *)profiles, n);
    while (n > 0)
        profile_free(profiles[--n]);
}

/* The oldest first; the others wait for it. False: some still wait. */
static bool send_waiting(struct pushing *p) {
    enum transfer_result result = TRANSFER_DONE;
    char error[512] = "";
    size_t n, i;
    struct spool_push *waits = spool_waiting(&p->spool, &n);
    if (n > 0)
        resend_lost(p);
    for (i = 0; i < n && result != TRANSFER_LATER && !ending; i++) {
        result = send_push(p, &waits[i], error, sizeof error);
        if (result == TRANSFER_LATER)
            break;
        spool_remove(&p->spool, &waits[i]);
        p->sent += result == TRANSFER_DONE;
        p->refused += result == TRANSFER_REFUSED;
    }
    if (result == TRANSFER_LATER)
        say_once(p->said_of_target, error);
    else if (p->said_of_target[0] != '\0' && i == n) {
        complain("%s takes pushes again", p->settings.url);
        say_once(p->said_of_target, "");
    }
    free(waits);
    return i == n;
}

static int push_once(struct pushing *p) {
    char error[512] = "";
    uint64_t excess = p->sum.excess;
    int status = collect(&p->spool, p->socket, &p->sum, error, sizeof error);
    say_once(p->said_of_daemon, error);
    if (p->sum.excess > excess)
        complain("a weight of %" PRIu64 " that was sent before is not in hcctd's counts any more: "
                 "the server has so much more",
                 p->sum.excess - excess);
    if (!send_waiting(p) && (status == HCCT_EXIT_OK || status == HCCT_EXIT_NO_DATA))
        return HCCT_EXIT_FAILURE;
    return status;
}

/* ---- the whole ---- */

static void wait_until(const struct timespec *then) {
    while (!ending && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, then, NULL) == EINTR)
        ;
}

/* Until a signal; what waits is sent at the end. Times that were missed are left out. */
static int push_always(struct pushing *p, uint64_t every_s) {
    struct sigaction action = {.sa_handler = on_signal};
    struct timespec next, now;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (!ending) {
        push_once(p);
        clock_gettime(CLOCK_MONOTONIC, &now);
        do
            next.tv_sec += (time_t)every_s;
        while (next.tv_sec < now.tv_sec);
        wait_until(&next);
    }
    ending = 0;
    push_once(p);
    return HCCT_EXIT_OK;
}

static int push_and_tell(struct pushing *p) {
    int status = push_once(p);
    size_t n;
    free(spool_waiting(&p->spool, &n));
    complain("%" PRIu64 " pushes sent, %" PRIu64 " refused, %zu wait", p->sent, p->refused, n);
    return status == HCCT_EXIT_OK && p->refused > 0 ? HCCT_EXIT_FAILURE : status;
}

/* $STATE_DIRECTORY is what systemd gives a unit. */
static char *spool_path(const struct push_options *options, const struct target *target) {
    const char *state = getenv("STATE_DIRECTORY"), *home = getenv("HOME"),
               *xdg = getenv("XDG_STATE_HOME");
    char path[4096];
    if (options->spool != NULL)
        snprintf(path, sizeof path, "%s", options->spool);
    else if (state != NULL && state[0] != '\0')
        snprintf(path, sizeof path, "%s", state);
    else if (xdg != NULL && xdg[0] == '/')
        snprintf(path, sizeof path, "%s/hcct/push-%s", xdg, target->name);
    else
        snprintf(path, sizeof path, "%s/.local/state/hcct/push-%s", home != NULL ? home : "",
                 target->name);
    char *copy = memory_new(strlen(path) + 1, 1, "a path");
    return strcpy(copy, path);
}

/* Its parents, too; whether it can be used is found out later. */
static void make_parents(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

static int run(struct pushing *p, const struct push_options *options, uint64_t every_s) {
    char error[512], *path = spool_path(options, p->target);
    int status = ask_socket(p->socket, options->socket);
    if (status != HCCT_EXIT_OK) {
        free(path);
        return status;
    }
    if (options->create) {
        free(path);
        if (p->target->create(p->transfer, &p->settings, error, sizeof error))
            return HCCT_EXIT_OK;
        complain("the tables can't be made: %s", error);
        return HCCT_EXIT_FAILURE;
    }
    make_parents(path);
    status = HCCT_EXIT_FAILURE;
    if (spool_open(&p->spool, path, options->spool_size)) {
        status = options->once ? push_and_tell(p) : push_always(p, every_s);
        spool_close(&p->spool);
    }
    free(path);
    return status;
}

/* NULL: not given. */
static bool is_name(const char *option, const char *text) {
    if (text == NULL)
        return true;
    if (text[0] == '\0')
        complain("%s is empty: is a variable not set?", option);
    else if (strpbrk(text, "\r\n") != NULL)
        complain("%s is of several lines", option);
    else
        return true;
    return false;
}

static bool resolve(const struct push_options *options, int words, char **word, struct pushing *p,
                    uint64_t *every_s) {
    *every_s = 0;
    if (words != 2)
        complain("name a target and its URL: hcct push pyroscope http://pyroscope:4040");
    else if ((p->target = target_find(word[0])) == NULL)
        complain("there is no target '%s'; there are: pyroscope, parca, otlp and clickhouse",
                 word[0]);
    else if (!transfer_is_url(word[1]))
        return false;
    else if (!span_parse(options->every, every_s))
        complain("--every '%s': it must be a time such as 15s or 1m", options->every);
    else if (options->create && p->target->create == NULL)
        complain("--create is for clickhouse: there is nothing to be made for %s", word[0]);
    else
        return clickhouse_check_name(options->database) && is_name("--host", options->host) &&
               is_name("--service", options->service) && is_name("--tenant", options->tenant);
    return false;
}

int cmd_push(int argc, char **argv) {
    struct push_options options = {
        .every = "15s", .database = CLICKHOUSE_DATABASE, .spool_size = 64 << 20, .keep = 90};
    struct pushing p = {.target = NULL};
    struct utsname machine;
    uint64_t every_s;
    char header[300];
    int rest;
    options_parse(&command, argc, argv, &options, &rest);
    if (!resolve(&options, argc - rest, argv + rest, &p, &every_s))
        return HCCT_EXIT_USAGE;
    uname(&machine);
    p.settings =
        (struct push_settings){.url = argv[rest + 1],
                               .service = options.service,
                               .host = options.host != NULL ? options.host : machine.nodename,
                               .tenant = options.tenant,
                               .database = options.database,
                               .keep_days = options.keep};
    snprintf(header, sizeof header, "X-Scope-OrgID: %.200s",
             options.tenant != NULL ? options.tenant : "");
    p.transfer = transfer_new(&(struct transfer_options){
        .credentials = options.credentials,
        .ca = options.ca,
        .header = options.tenant != NULL ? header : NULL,
        .timeout_s = TIMEOUT_S,
        .answer_max = ANSWER_MAX,
    });
    int status = p.transfer != NULL ? run(&p, &options, every_s) : HCCT_EXIT_FAILURE;
    transfer_free(p.transfer);
    return status;
}
