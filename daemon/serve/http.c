/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * http.c - routes as a table, libmicrohttpd below. One thread of a listener reads requests and
 * sends answers, however slow the client is; others compute the answers (http_jobs.h).
 */
#include "daemon/serve/http.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/json_out.h"
#include "common/base/utf8.h"
#include "common/render/write_html.h"
#include "daemon/answers/control.h"
#include "daemon/answers/marked.h"
#include "daemon/answers/metrics.h"
#include "daemon/answers/query.h"
#include "daemon/answers/query_numbers.h"
#include "daemon/answers/query_threads.h"
#include "daemon/answers/timeline.h"
#include "daemon/render/render_slots.h"
#include "daemon/render/renderer.h"
#include "daemon/serve/answer_stream.h"
#include "daemon/serve/http_jobs.h"
#include "daemon/serve/http_peers.h"
#include "daemon/serve/http_render.h"
#include "daemon/serve/http_tcp.h"
#include "daemon/serve/http_wait.h"
#include "daemon/serve/query_pprof.h"
#include "daemon/state/snapshot.h"

/* libmicrohttpd 0.9.75 locks itself up for good when a connection is added to it beyond its own
 * limit, so that it must never see so many: ours (http_peers.h) is met first. */
#define NEVER_MET    (2 * HTTP_PEERS_MAX)
#define IDLE_SECONDS 60   /* for who takes an answer slowly */
#define HALF_SECONDS 10   /* for who has asked for nothing, or for half of something */
#define FAREWELL_MS  2000 /* for answers that are under way when the daemon ends */
#define REFUSALS_MS  1000 /* for the sentences that others get then */

static struct MHD_Daemon *server;
static struct MHD_Daemon *tcp_server; /* NULL: there is no loopback listener */
static struct http_peers peers = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct http_peers tcp_peers = {.lock = PTHREAD_MUTEX_INITIALIZER}; /* use up none of those */
static _Atomic unsigned in_progress; /* requests whose answers are not sent yet */

/* One request. It belongs to libmicrohttpd's thread, but while it is a job to that job's. */
struct request {
    struct http_job job;
    struct MHD_Connection *connection;
    const struct route *route; /* NULL: none was found yet */
    struct query query;
    struct query_error error;
    unsigned seconds; /* of /debug/pprof/profile */
    struct control control;
    struct query_number_list numbers; /* of /v1/contexts */
    unsigned status;                  /* of the answer; 0: there is none yet */
    char *body;
    int file; /* that has the answer, where body is NULL; -1: none */
    size_t bytes;
};

/* For want of memory even for a sentence. */
static struct MHD_Response *no_memory;

static int socket_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info != NULL ? info->connect_fd : -1;
}

static enum query_status serve_processes(struct request *r, FILE *out) {
    return query_list(&r->query, out, &r->error);
}

static enum query_status serve_hot(struct request *r, FILE *out) {
    return query_hot(&r->query, out, &r->error);
}

static enum query_status serve_threads(struct request *r, FILE *out) {
    return query_threads(&r->query, out, &r->error);
}

static enum query_status serve_contexts(struct request *r, FILE *out) {
    return query_numbers(&r->query, &r->numbers, out, &r->error);
}

static bool set_contexts(struct request *r, const char *name, const char *value,
                         enum query_status *status) {
    bool known = strcmp(name, "number") == 0;
    if (known)
        *status = query_numbers_set(&r->numbers, value, &r->error);
    return known;
}

static enum query_status serve_timeline(struct request *r, FILE *out) {
    return timeline_write(&r->query, out, &r->error);
}

static void put_path(void *arg, const char *path) {
    json_string(arg, path);
}

static enum query_status serve_snapshot(struct request *r, FILE *out) {
    struct json_out json = {.out = out};
    json_begin(&json, '{');
    json_array_member(&json, "paths");
    struct snapshot_files files = {.written = put_path, .arg = &json};
    enum query_status status = snapshot_write(&r->query, &files, &r->error);
    json_end(&json, ']');
    json_string_member(&json, "left_out", files.left_out);
    json_end(&json, '}');
    fputc('\n', out);
    return status;
}

static enum query_status serve_metrics(struct request *r, FILE *out) {
    return metrics_write(&r->query, out, &r->error);
}

static enum query_status serve_control(struct request *r, FILE *out) {
    return control_apply(&r->query, &r->control, out, &r->error);
}

static bool set_control(struct request *r, const char *name, const char *value,
                        enum query_status *status) {
    return control_set(&r->control, name, value, status, &r->error);
}

static enum query_status serve_pprof(struct request *r, FILE *out) {
    unsigned seconds = r->seconds != 0 ? r->seconds : PPROF_SECONDS;
    return query_pprof(&r->query, seconds, socket_of(r->connection), out, &r->error);
}

static bool set_pprof(struct request *r, const char *name, const char *value,
                      enum query_status *status) {
    char *end = NULL;
    if (strcmp(name, "seconds") != 0)
        return false;
    unsigned long n = value != NULL ? strtoul(value, &end, 10) : 0;
    bool ok = value != NULL && value[0] >= '0' && value[0] <= '9' && *end == '\0' && n >= 1 &&
              n <= PPROF_SECONDS_MAX;
    *status = ok ? QUERY_OK : QUERY_BAD;
    r->seconds = ok ? (unsigned)n : 0;
    if (!ok)
        snprintf(r->error.text, sizeof r->error.text,
                 "seconds=%.80s is not possible: give a whole number from 1 to %u",
                 value != NULL ? value : "", PPROF_SECONDS_MAX);
    return true;
}

static enum query_status serve_pprof_index(struct request *r, FILE *out) {
    (void)r;
    return query_pprof_index(out);
}

static enum query_status serve_pprof_cmdline(struct request *r, FILE *out) {
    return query_pprof_cmdline(&r->query, out, &r->error);
}

static enum query_status serve_pprof_symbol(struct request *r, FILE *out) {
    (void)r;
    return query_pprof_symbol(out);
}

static enum query_status serve_page(struct request *r, FILE *out) {
    snprintf(r->error.text, sizeof r->error.text, "the page can't be written: no memory");
    return write_html_live(out) ? QUERY_OK : QUERY_FAILED;
}

#define MIME_TEXT    "text/plain; charset=utf-8"
#define MIME_METRICS "text/plain; version=0.0.4; charset=utf-8"

static const struct route {
    const char *method, *path;
    enum query_status (*serve)(struct request *request, FILE *out);
    const char *mime; /* NULL: that of the format */
} routes[] = {
    {"GET", "/", serve_page, "text/html; charset=utf-8"},
    {"GET", "/v1/processes", serve_processes, "application/json"},
    {"GET", "/v1/threads", serve_threads, "application/json"},
    {"GET", "/v1/hot", serve_hot, NULL},
    {"GET", "/v1/contexts", serve_contexts, "application/octet-stream"},
    {"GET", "/v1/timeline", serve_timeline, "application/json"},
    {"POST", "/v1/snapshot", serve_snapshot, "application/json"},
    {"POST", "/v1/control", serve_control, "application/json"},
    {"GET", "/metrics", serve_metrics, MIME_METRICS},
    {"GET", "/debug/pprof/profile", serve_pprof, "application/octet-stream"},
    {"GET", "/debug/pprof/", serve_pprof_index, MIME_TEXT},
    {"GET", "/debug/pprof/cmdline", serve_pprof_cmdline, MIME_TEXT},
    {"GET", "/debug/pprof/symbol", serve_pprof_symbol, MIME_TEXT},
};

/* Takes a parameter that only one route has; false: it has no such. */
static bool set_own(const struct route *route, struct request *request, const char *name,
                    const char *value, enum query_status *status) {
    if (route->serve == serve_control)
        return set_control(request, name, value, status);
    if (route->serve == serve_contexts)
        return set_contexts(request, name, value, status);
    return route->serve == serve_pprof && set_pprof(request, name, value, status);
}

static void name_routes(char *text, size_t bytes) {
    size_t used = 0;
    for (size_t i = 0; i < sizeof routes / sizeof routes[0] && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s %s", i > 0 ? ", " : "",
                                 routes[i].method, routes[i].path);
}

static const struct route *find_route(const char *method, const char *path, unsigned *status,
                                      struct query_error *error) {
    char known[400];
    *status = MHD_HTTP_NOT_FOUND;
    name_routes(known, sizeof known);
    snprintf(error->text, sizeof error->text, "there is no %.80s here: known are %s", path, known);
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        if (strcmp(path, routes[i].path) != 0)
            continue;
        if (strcmp(method, routes[i].method) == 0)
            return &routes[i];
        *status = MHD_HTTP_METHOD_NOT_ALLOWED;
        snprintf(error->text, sizeof error->text, "%s is asked for by %s, not by %.20s", path,
                 routes[i].method, method);
    }
    return NULL;
}

/* What a browser may do with an answer: nothing. A page says itself which scripts it has
 * (write_html.h), and here that nobody may frame it. */
static const char *policy_of(const char *mime) {
    return strncmp(mime, "text/html", strlen("text/html")) == 0
               ? "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
               : "default-src 'none'; frame-ancestors 'none'";
}

/* Takes the response over. */
static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *mime,
                              struct MHD_Response *response) {
    if (response == NULL)
        return MHD_queue_response(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, no_memory);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, mime);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Content-Security-Policy", policy_of(mime));
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* Takes the body over; NULL: there is no memory. */
static struct MHD_Response *of_body(char *body, size_t bytes) {
    struct MHD_Response *response =
        body != NULL ? MHD_create_response_from_buffer(bytes, body, MHD_RESPMEM_MUST_FREE) : NULL;
    if (response == NULL)
        free(body);
    return response;
}

/* The same for a file, which is never in memory here. */
static struct MHD_Response *of_file(int file, size_t bytes) {
    struct MHD_Response *response = MHD_create_response_from_fd(bytes, file);
    if (response == NULL)
        close(file);
    return response;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status,
                              const struct query_error *error) {
    size_t length = strlen(error->text);
    char *body = malloc(length + 2);
    if (body != NULL) {
        memcpy(body, error->text, length + 1);
        utf8_clean(body); /* it may quote the request, or what others have named */
        length = strlen(body);
        memcpy(body + length, "\n", 2);
    }
    return answer(connection, status, "text/plain; charset=utf-8", of_body(body, length + 1));
}

struct arguments {
    struct request *request;
    enum query_status status;
};

static enum MHD_Result take_argument(void *arg, enum MHD_ValueKind kind, const char *name,
                                     const char *value) {
    struct arguments *a = arg;
    (void)kind;
    if (set_own(a->request->route, a->request, name, value, &a->status))
        return a->status == QUERY_OK ? MHD_YES : MHD_NO;
    a->status = query_set(&a->request->query, name, value, &a->request->error);
    return a->status == QUERY_OK ? MHD_YES : MHD_NO;
}

static bool peer_of_unix(int fd, uid_t *uid) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return false;
    *uid = peer.uid;
    return true;
}

/* 0, or the status of a refusal: what the loopback listener is more careful about, and who asks. */
static unsigned admit(struct MHD_Connection *connection, const char *method, bool tcp, uid_t *asker,
                      struct query_error *error) {
    const char *host =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    int fd = socket_of(connection);
    unsigned status = MHD_HTTP_FORBIDDEN;
    if (tcp && !http_tcp_host_is_local(host))
        snprintf(error->text, sizeof error->text,
                 "the Host header must be localhost, 127.0.0.1 or [::1], not %.100s: another name "
                 "may be somebody's trick on a browser",
                 host != NULL ? host : "missing");
    else if (tcp && strcmp(method, MHD_HTTP_METHOD_GET) != 0) {
        snprintf(error->text, sizeof error->text,
                 "the loopback listener only answers GET: ask for %.20s over the Unix socket",
                 method);
        status = MHD_HTTP_METHOD_NOT_ALLOWED;
    } else if (tcp ? !http_tcp_asker(fd, asker) : !peer_of_unix(fd, asker))
        snprintf(error->text, sizeof error->text,
                 "the kernel does not say who asks: use the Unix socket");
    else
        return 0;
    return status;
}

static bool is_rendered(const struct request *request) {
    return request->route->serve == serve_hot && query_needs_renderer(&request->query);
}

static void write_body(struct request *request) {
    struct answer_stream stream;
    if (answer_stream_open(&stream)) {
        request->status = request->route->serve(request, stream.out);
        if (!answer_stream_close(&stream) && request->status == QUERY_OK)
            request->status = query_no_memory("the answer", &request->error);
        request->body = stream.bytes;
        request->bytes = stream.n;
    } else {
        request->status = query_no_memory("the answer", &request->error);
    }
}

/* By a thread of http_jobs.h. */
static void compute(struct http_job *job) {
    struct request *request = (struct request *)(void *)job; /* begins with it */
    if (is_rendered(request))
        request->status = http_render(&request->query, socket_of(request->connection),
                                      &request->file, &request->bytes, &request->error);
    else
        write_body(request);
    MHD_resume_connection(request->connection);
}

/* Status of a refusal, or 0: it can be computed. */
static unsigned prepare(struct request *request, const char *path, const char *method, bool tcp) {
    uid_t asker;
    unsigned status = admit(request->connection, method, tcp, &asker, &request->error);
    if (status != 0)
        return status;
    request->route = find_route(method, path, &status, &request->error);
    if (request->route == NULL)
        return status;
    struct arguments arguments = {request, QUERY_OK};
    query_init(&request->query, asker);
    MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, take_argument,
                              &arguments);
    request->job = (struct http_job){.uid = asker, .run = compute};
    if (arguments.status == QUERY_OK)
        arguments.status = marked_resolve(&request->query, &request->error);
    return arguments.status != QUERY_OK ? arguments.status : 0;
}

/* The whole request is there. */
static enum MHD_Result serve(struct request *request, const char *path, const char *method,
                             bool tcp) {
    unsigned status = prepare(request, path, method, tcp);
    if (status != 0)
        return refuse(request->connection, status, &request->error);
    MHD_suspend_connection(request->connection);
    http_jobs_put(&request->job);
    return MHD_YES;
}

static void set_timeout(struct MHD_Connection *connection, unsigned seconds) {
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

/* The answer is there. */
static enum MHD_Result reply(struct request *request) {
    const char *mime = request->route->mime;
    set_timeout(request->connection, IDLE_SECONDS);
    if (request->status != QUERY_OK)
        return refuse(request->connection, request->status, &request->error);
    struct MHD_Response *response = request->file >= 0 ? of_file(request->file, request->bytes)
                                                       : of_body(request->body, request->bytes);
    request->body = NULL;
    request->file = -1;
    return answer(request->connection, request->status,
                  mime != NULL ? mime : request->query.format->mime, response);
}

static void completed(void *unused, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode how) {
    struct request *request = *state;
    (void)unused, (void)how;
    if (request == NULL)
        return;
    set_timeout(connection, HALF_SECONDS);
    atomic_fetch_sub(&in_progress, 1);
    free(request->body);
    if (request->file >= 0)
        close(request->file);
    free(request);
    *state = NULL;
}

/* libmicrohttpd calls once for the headers, again when the body, which we ignore, is there, and
 * again when the answer is. */
static enum MHD_Result handle(void *tcp, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_bytes, void **state) {
    struct request *request = *state;
    (void)version, (void)upload;
    if (request == NULL) {
        request = calloc(1, sizeof *request);
        if (request == NULL)
            return MHD_queue_response(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, no_memory);
        request->connection = connection;
        request->file = -1;
        *state = request;
        atomic_fetch_add(&in_progress, 1);
        return MHD_YES;
    }
    if (*upload_bytes != 0) {
        *upload_bytes = 0;
        return MHD_YES;
    }
    return request->status != 0 ? reply(request) : serve(request, path, method, tcp != NULL);
}

#define FLAGS (MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_ALLOW_SUSPEND_RESUME)
#define LIMITS                                                                                     \
    MHD_OPTION_CONNECTION_LIMIT, NEVER_MET, MHD_OPTION_CONNECTION_TIMEOUT, HALF_SECONDS,           \
        MHD_OPTION_NOTIFY_COMPLETED, completed, NULL

static void connection_changed(void *tcp, struct MHD_Connection *connection, void **state,
                               enum MHD_ConnectionNotificationCode code) {
    int fd = socket_of(connection);
    uid_t uid;
    (void)state;
    if (code != MHD_CONNECTION_NOTIFY_STARTED)
        http_peers_remove(tcp != NULL ? &tcp_peers : &peers, fd);
    else if (tcp != NULL && (!http_tcp_asker(fd, &uid) || !http_peers_add(&tcp_peers, fd, uid)))
        shutdown(fd, SHUT_RDWR); /* its end is seen next; others are counted by http_take() */
}

/* Each listener has connections of its own: those of one can't use up the other's. */
bool http_start(int tcp) {
    static int is_tcp;
    static char sentence[] = "there is no memory for an answer\n";
    no_memory = MHD_create_response_from_buffer(strlen(sentence), sentence, MHD_RESPMEM_PERSISTENT);
    if (no_memory == NULL || !http_wait_start() || !http_jobs_start())
        return false;
    server =
        MHD_start_daemon(FLAGS | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, handle, NULL, LIMITS,
                         MHD_OPTION_NOTIFY_CONNECTION, connection_changed, NULL, MHD_OPTION_END);
    if (tcp >= 0)
        tcp_server = MHD_start_daemon(FLAGS | (http_tcp_is_v6(tcp) ? MHD_USE_IPv6 : 0), 0, NULL,
                                      NULL, handle, &is_tcp, LIMITS, MHD_OPTION_NOTIFY_CONNECTION,
                                      connection_changed, &is_tcp, MHD_OPTION_LISTEN_SOCKET, tcp,
                                      MHD_OPTION_END);
    return server != NULL && (tcp < 0 || tcp_server != NULL);
}

/* Answers that are under way are sent, if that is done in so much time. */
static void wait_for_answers(int ms) {
    for (; ms > 0 && atomic_load(&in_progress) > 0; ms -= 10)
        usleep(10000);
}

void http_stop(void) {
    http_wait_stop();
    render_slots_stop();
    wait_for_answers(FAREWELL_MS);
    renderer_interrupt(true);
    http_jobs_stop();
    renderer_interrupt(false); /* for the reports at the end */
    wait_for_answers(REFUSALS_MS);
    if (tcp_server != NULL)
        MHD_stop_daemon(tcp_server);
    if (server != NULL)
        MHD_stop_daemon(server);
    server = tcp_server = NULL;
    MHD_destroy_response(no_memory);
}

void http_take(int fd, uid_t uid) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!http_peers_add(&peers, fd, uid)) {
        close(fd);
        return;
    }
    MHD_add_connection(server, fd, (struct sockaddr *)&address, sizeof address); /* or closes it */
}
