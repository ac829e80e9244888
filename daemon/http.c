/*
 * http.c - routes as a table, libmicrohttpd below. Each connection has a thread of its own, so that
 * a slow client or a long query delays nobody else.
 */
#include "daemon/http.h"

#include <json-c/json.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/query.h"
#include "daemon/snapshot.h"

#define CONNECTIONS_MAX 64
#define IDLE_SECONDS    60

static struct MHD_Daemon *server;

struct request {
    struct query query;
    struct query_error error;
};

static enum query_status serve_processes(struct request *r, FILE *out) {
    return query_list(&r->query, out);
}

static enum query_status serve_hot(struct request *r, FILE *out) {
    return query_hot(&r->query, out, &r->error);
}

static void add_path(void *arg, const char *path) {
    json_object_array_add(arg, json_object_new_string(path));
}

static enum query_status serve_snapshot(struct request *r, FILE *out) {
    struct json_object *answer = json_object_new_object(), *paths = json_object_new_array();
    json_object_object_add(answer, "paths", paths);
    enum query_status status = snapshot_write(&r->query, add_path, paths, &r->error);
    fprintf(out, "%s\n", json_object_to_json_string_ext(answer, JSON_C_TO_STRING_PRETTY));
    json_object_put(answer);
    return status;
}

static const struct route {
    const char *method, *path;
    enum query_status (*serve)(struct request *request, FILE *out);
    const char *mime; /* NULL: that of the format */
} routes[] = {
    {"GET", "/v1/processes", serve_processes, "application/json"},
    {"GET", "/v1/hot", serve_hot, NULL},
    {"POST", "/v1/snapshot", serve_snapshot, "application/json"},
};

static const struct route *find_route(const char *method, const char *path, unsigned *status,
                                      struct query_error *error) {
    *status = MHD_HTTP_NOT_FOUND;
    snprintf(error->text, sizeof error->text,
             "there is no %.100s here: known are GET /v1/processes, GET /v1/hot and POST "
             "/v1/snapshot",
             path);
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

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *mime,
                              char *body, size_t bytes) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(bytes, body, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        free(body);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, mime);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status,
                              const struct query_error *error) {
    size_t length = strlen(error->text);
    char *body = malloc(length + 2);
    if (body == NULL)
        return MHD_NO;
    memcpy(body, error->text, length);
    memcpy(body + length, "\n", 2);
    return answer(connection, status, "text/plain; charset=utf-8", body, length + 1);
}

struct arguments {
    struct request *request;
    enum query_status status;
};

static enum MHD_Result take_argument(void *arg, enum MHD_ValueKind kind, const char *name,
                                     const char *value) {
    struct arguments *a = arg;
    (void)kind;
    a->status = query_set(&a->request->query, name, value, &a->request->error);
    return a->status == QUERY_OK ? MHD_YES : MHD_NO;
}

static uid_t asker_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (info == NULL || getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return (uid_t)-1;
    return peer.uid;
}

static enum MHD_Result serve(struct MHD_Connection *connection, const char *path,
                             const char *method) {
    struct request request = {0};
    struct arguments arguments = {&request, QUERY_OK};
    unsigned status;
    char *body = NULL;
    size_t bytes = 0;
    const struct route *route = find_route(method, path, &status, &request.error);
    if (route == NULL)
        return refuse(connection, status, &request.error);
    query_init(&request.query, asker_of(connection));
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_argument, &arguments);
    if (arguments.status != QUERY_OK)
        return refuse(connection, arguments.status, &request.error);
    FILE *out = open_memstream(&body, &bytes);
    if (out == NULL)
        return MHD_NO;
    status = route->serve(&request, out);
    fclose(out);
    if (status == QUERY_OK)
        return answer(connection, status,
                      route->mime != NULL ? route->mime : request.query.format->mime, body, bytes);
    free(body);
    return refuse(connection, status, &request.error);
}

/* libmicrohttpd calls once for the headers and again when the body, which we ignore, is there. */
static enum MHD_Result handle(void *unused, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_bytes, void **state) {
    static int seen;
    (void)unused, (void)version, (void)upload;
    if (*state == NULL) {
        *state = &seen;
        return MHD_YES;
    }
    if (*upload_bytes != 0) {
        *upload_bytes = 0;
        return MHD_YES;
    }
    return serve(connection, path, method);
}

bool http_start(void) {
    unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
                     MHD_USE_POLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC;
    server = MHD_start_daemon(flags, 0, NULL, NULL, handle, NULL, MHD_OPTION_CONNECTION_LIMIT,
                              CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
                              MHD_OPTION_END);
    return server != NULL;
}

void http_stop(void) {
    if (server != NULL)
        MHD_stop_daemon(server);
    server = NULL;
}

void http_take(int fd, const struct sockaddr *address, socklen_t length) {
    MHD_add_connection(server, fd, address, length); /* closes fd itself when it fails */
}
