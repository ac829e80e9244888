/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * elf_worker.c - the daemon's side of a worker child: starts it, asks it, ends it when it is late
 * or lies, and remembers which modules are not to be asked for again.
 */
#include "common/code/elf_worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/spawn_self.h"
#include "common/code/elf_protocol.h"
#include "common/code/module.h"
#include "common/code/symbol.h"

/* How long the child may take for a request, by kind. */
static const int64_t patience_ns[ELF_KINDS] = {
    [ELF_TABLE] = 30000000000ll,   [ELF_CALLS] = 60000000000ll, [ELF_SYMBOLS] = 60000000000ll,
    [ELF_NAMES] = 10000000000ll,   [ELF_IMAGE] = 10000000000ll, [ELF_UNWIND] = 3000000000ll,
    [ELF_DEMANGLE] = 10000000000ll};

static const uint64_t answer_max[ELF_KINDS] = {[ELF_TABLE] = ELF_TABLE_MAX,
                                               [ELF_CALLS] = ELF_TABLE_MAX,
                                               [ELF_SYMBOLS] = ELF_SYMBOLS_MAX,
                                               [ELF_NAMES] = ELF_SYMBOLS_MAX,
                                               [ELF_IMAGE] = sizeof(struct elf_image_head),
                                               [ELF_UNWIND] = ELF_WALK_MAX,
                                               [ELF_DEMANGLE] = ELF_SYMBOLS_MAX};

/* A module whose request a child died of is tried once more, as the child may have died of
 * something else (somebody killed it, memory was short); then never again. */
#define STRIKES_OUT 2

/* A stack in more modules than this is given up; the child keeps more. */
#define MODULES_OF_A_WALK 128

struct elf_worker {
    pthread_mutex_t lock;
    char *program;
    pthread_mutex_t child_lock; /* for the two below, within `lock` */
    pid_t child;                /* 0: none */
    bool interrupted;           /* there will be no other child */
    int socket;
    struct strikes {
        uint32_t module; /* whose they are */
        uint8_t n[ELF_KINDS];
    } strikes[MODULE_PLACES];
};

enum outcome {
    ANSWERED,
    NO_ANSWER, /* the child has nothing to say */
    DIED,
    LATE,
    LIED, /* an answer that no honest child gives */
};

struct question {
    enum elf_kind kind;
    uint32_t module;
    char *path; /* malloc'ed, or NULL where there is no module; names to be demangled */
    int fd;
    const struct elf_query *query;
    uint32_t n;
    const struct raw_stack *stack;
    uint32_t stack_bytes;
};

struct reply {
    void *bytes; /* malloc'ed */
    size_t n;
};

struct elf_worker *elf_worker_new(const char *program) {
    struct elf_worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL)
        return NULL;
    worker->program = strdup(program);
    if (worker->program == NULL) {
        free(worker);
        return NULL;
    }
    pthread_mutex_init(&worker->lock, NULL);
    pthread_mutex_init(&worker->child_lock, NULL);
    return worker;
}

/* ---- the child's life ---- */

static void end_child(struct elf_worker *worker) {
    if (worker->child == 0)
        return;
    close(worker->socket);
    pthread_mutex_lock(&worker->child_lock);
    kill(worker->child, SIGKILL);
    while (waitpid(worker->child, NULL, 0) < 0 && errno == EINTR)
        ;
    worker->child = 0;
    pthread_mutex_unlock(&worker->child_lock);
}

void elf_worker_interrupt(struct elf_worker *worker) {
    pthread_mutex_lock(&worker->child_lock);
    worker->interrupted = true;
    if (worker->child != 0)
        kill(worker->child, SIGKILL);
    pthread_mutex_unlock(&worker->child_lock);
}

void elf_worker_rest(struct elf_worker *worker) {
    pthread_mutex_lock(&worker->lock);
    end_child(worker);
    pthread_mutex_unlock(&worker->lock);
}

void elf_worker_free(struct elf_worker *worker) {
    if (worker == NULL)
        return;
    end_child(worker);
    pthread_mutex_destroy(&worker->lock);
    pthread_mutex_destroy(&worker->child_lock);
    free(worker->program);
    free(worker);
}

static bool start_child(struct elf_worker *worker) {
    char role[] = "--elf-worker";
    char *arguments[] = {worker->program, role, NULL};
    if (worker->child != 0)
        return true;
    pthread_mutex_lock(&worker->child_lock);
    bool ok = !worker->interrupted &&
              spawn_self(worker->program, arguments, SOCK_STREAM, &worker->child, &worker->socket);
    if (!ok)
        worker->child = 0;
    pthread_mutex_unlock(&worker->child_lock);
    return ok;
}

/* ---- a question ---- */

static enum elf_transfer send_question(int socket, const struct question *question,
                                       int64_t deadline) {
    struct elf_request head = {
        .magic = ELF_REQUEST_MAGIC,
        .kind = question->kind,
        .module = question->module,
        .path_bytes = question->path != NULL ? (uint32_t)strnlen(question->path, ELF_PATH_MAX) : 0,
        .queries = question->n,
        .stack_bytes = question->stack_bytes,
    };
    enum elf_transfer sent = elf_send_head(socket, &head, question->fd, deadline);
    if (sent == ELF_TRANSFERRED)
        sent = elf_send(socket, question->path, head.path_bytes, deadline);
    if (sent == ELF_TRANSFERRED)
        sent = elf_send(socket, question->query, question->n * sizeof *question->query, deadline);
    if (sent == ELF_TRANSFERRED)
        sent = elf_send(socket, question->stack, question->stack_bytes, deadline);
    return sent;
}

static enum elf_transfer receive_reply(int socket, uint64_t bytes_max, struct elf_answer *head,
                                       struct reply *reply, int64_t deadline) {
    enum elf_transfer got = elf_receive(socket, head, sizeof *head, deadline);
    if (got != ELF_TRANSFERRED || head->magic != ELF_ANSWER_MAGIC || !head->ok ||
        head->bytes == 0 || head->bytes > bytes_max)
        return got;
    reply->bytes = malloc(head->bytes);
    if (reply->bytes == NULL)
        return ELF_GONE;
    reply->n = head->bytes;
    return elf_receive(socket, reply->bytes, reply->n, deadline);
}

static enum outcome ask_once(struct elf_worker *worker, const struct question *question,
                             struct reply *reply) {
    static const enum outcome why[] = {
        [ELF_TRANSFERRED] = ANSWERED, [ELF_GONE] = DIED, [ELF_LATE] = LATE};
    int64_t deadline = elf_now() + patience_ns[question->kind];
    struct elf_answer head = {0};
    enum elf_transfer state = send_question(worker->socket, question, deadline);
    if (state == ELF_TRANSFERRED)
        state = receive_reply(worker->socket, answer_max[question->kind], &head, reply, deadline);
    if (state != ELF_TRANSFERRED)
        return why[state];
    if (head.magic != ELF_ANSWER_MAGIC)
        return LIED;
    if (!head.ok)
        return NO_ANSWER;
    return reply->bytes != NULL ? ANSWERED : LIED;
}

static void drop_reply(struct reply *reply) {
    free(reply->bytes);
    *reply = (struct reply){0};
}

/* Those of the question's module: none, if others' were there. Under the worker's lock. */
static uint8_t *strikes_of(struct elf_worker *worker, const struct question *question) {
    struct strikes *strikes = &worker->strikes[module_place(question->module)];
    if (strikes->module != question->module)
        *strikes = (struct strikes){.module = question->module};
    return &strikes->n[question->kind];
}

/* Asks, under the worker's lock. True: `reply` is to be freed. */
static bool ask(struct elf_worker *worker, const struct question *question, struct reply *reply) {
    uint8_t *strikes = strikes_of(worker, question);
    while (*strikes < STRIKES_OUT && start_child(worker)) {
        enum outcome outcome = ask_once(worker, question, reply);
        if (outcome == ANSWERED) {
            *strikes = 0;
            return true;
        }
        drop_reply(reply);
        if (outcome == NO_ANSWER)
            return false;
        end_child(worker);
        *strikes = outcome == DIED ? *strikes + 1 : STRIKES_OUT;
    }
    return false;
}

/* A child whose answer is not consistent is ended, and asked about this module no more. */
static void give_up_on(struct elf_worker *worker, const struct question *question) {
    end_child(worker);
    *strikes_of(worker, question) = STRIKES_OUT;
}

/* ---- questions about a module ---- */

/* False: no such module, or its file can't be had. In any case question_end() follows. */
static bool about_module(uint32_t module, enum elf_kind kind, struct question *question) {
    *question = (struct question){.kind = kind, .module = module, .fd = -1};
    question->path = module_copy_path(module);
    if (question->path != NULL)
        question->fd = module_open_file(module);
    return question->fd >= 0;
}

static void question_end(struct question *question) {
    if (question->fd >= 0)
        close(question->fd);
    free(question->path);
}

void *elf_worker_compile(struct elf_worker *worker, uint32_t module, enum table_kind kind,
                         size_t *bytes) {
    static const enum elf_kind asked[TABLE_KINDS] = {
        [TABLE_UNWIND] = ELF_TABLE, [TABLE_CALLS] = ELF_CALLS};
    struct question question;
    struct reply reply = {0};
    bool there = about_module(module, asked[kind], &question);
    pthread_mutex_lock(&worker->lock);
    if (there && ask(worker, &question, &reply) && !table_kinds[kind].check(reply.bytes, reply.n)) {
        give_up_on(worker, &question);
        drop_reply(&reply);
    }
    pthread_mutex_unlock(&worker->lock);
    question_end(&question);
    *bytes = reply.n;
    return reply.bytes;
}

static bool ask_symbols(struct elf_worker *worker, const struct question *question,
                        struct symbol *symbols) {
    struct reply reply = {0};
    pthread_mutex_lock(&worker->lock);
    bool ok = ask(worker, question, &reply);
    if (ok && !elf_get_symbols(reply.bytes, reply.n, symbols, question->n)) {
        give_up_on(worker, question);
        ok = false;
    }
    pthread_mutex_unlock(&worker->lock);
    drop_reply(&reply);
    return ok;
}

/* Names of last resort. When even for those there is no memory, the symbol has no lines. */
static void name_by_address(uint32_t module, const struct symbol_query *query, size_t n,
                            struct symbol *symbols) {
    char *path = module_copy_path(module);
    for (size_t i = 0; i < n; i++)
        symbol_last_resort(path != NULL ? path : "?", query[i].address, &symbols[i]);
    free(path);
}

static bool resolve(struct elf_worker *worker, uint32_t module, enum elf_kind kind,
                    const struct symbol_query *query, size_t n, struct symbol *symbols) {
    struct question question;
    struct elf_query sent[ELF_QUERIES_MAX];
    bool ok = about_module(module, kind, &question), all = true;
    question.query = sent;
    for (size_t done = 0; done < n; done += question.n) {
        question.n = n - done < ELF_QUERIES_MAX ? (uint32_t)(n - done) : ELF_QUERIES_MAX;
        for (uint32_t i = 0; i < question.n; i++)
            sent[i] = (struct elf_query){query[done + i].address, query[done + i].is_entry};
        if (!ok || !ask_symbols(worker, &question, symbols + done)) {
            name_by_address(module, query + done, question.n, symbols + done);
            all = false;
        }
    }
    question_end(&question);
    return all;
}

bool elf_worker_symbols(struct elf_worker *worker, uint32_t module,
                        const struct symbol_query *query, size_t n, struct symbol *symbols) {
    return resolve(worker, module, ELF_SYMBOLS, query, n, symbols);
}

bool elf_worker_names(struct elf_worker *worker, uint32_t module, const struct symbol_query *query,
                      size_t n, struct symbol *symbols) {
    return resolve(worker, module, ELF_NAMES, query, n, symbols);
}

/* ---- names ---- */

/* In so many bytes, as they are sent: how many of the names fit, in *text. */
static size_t put_names(const char *const *name, size_t n, char **text) {
    size_t bytes = 0, fit = 0;
    for (; fit < n && bytes + strlen(name[fit]) + 1 <= ELF_PATH_MAX; fit++)
        bytes += strlen(name[fit]) + 1;
    char *end = *text = malloc(bytes + 1);
    for (size_t i = 0; i < fit && end != NULL; i++) {
        end = stpcpy(end, name[i]);
        *end++ = '\n';
    }
    if (end != NULL)
        *end = '\0';
    return end != NULL ? fit : 0;
}

/* The child that dies of a name is replaced for the next ones. */
size_t elf_worker_demangle(struct elf_worker *worker, const char *const *name, size_t n,
                           struct symbol *symbols) {
    struct question question = {.kind = ELF_DEMANGLE, .fd = -1};
    struct reply reply = {0};
    size_t fit = put_names(name, n, &question.path);
    pthread_mutex_lock(&worker->lock);
    bool ok = fit > 0 && start_child(worker);
    if (ok && (ask_once(worker, &question, &reply) != ANSWERED ||
               !elf_get_symbols(reply.bytes, reply.n, symbols, fit))) {
        end_child(worker);
        ok = false;
    }
    pthread_mutex_unlock(&worker->lock);
    drop_reply(&reply);
    free(question.path);
    return ok ? fit : 0;
}

/* ---- walks ---- */

/* Has the child keep the module; where that can't be, the stack does without it. */
static void provide_module(struct elf_worker *worker, struct raw_stack *stack, uint32_t module) {
    struct code_range *ranges = raw_stack_ranges(stack);
    struct question question;
    struct reply reply = {0};
    bool kept = about_module(module, ELF_IMAGE, &question) && ask(worker, &question, &reply);
    for (uint32_t i = 0; i < stack->n_ranges && !kept; i++)
        if (ranges[i].module == module)
            ranges[i].module = 0;
    drop_reply(&reply);
    question_end(&question);
}

static bool has_module(const struct raw_stack *stack, uint32_t module) {
    const struct code_range *ranges = raw_stack_ranges(stack);
    for (uint32_t i = 0; i < stack->n_ranges; i++)
        if (ranges[i].module == module)
            return true;
    return false;
}

static bool is_walk(const struct raw_stack *stack, const struct reply *reply,
                    struct elf_walk_head *head) {
    if (reply->n < sizeof *head)
        return false;
    memcpy(head, reply->bytes, sizeof *head);
    if (head->missing != 0)
        return has_module(stack, head->missing);
    return head->n <= RAW_STACK_FRAMES_MAX && head->mark < RAW_STACK_MARKS_MAX &&
           (head->n > 0 || head->mark != 0) &&
           reply->n == sizeof *head + head->n * sizeof(struct unwound_frame);
}

static bool keep_walk(const struct elf_walk_head *head, struct reply *reply,
                      struct unwound_stack *walk) {
    *walk = (struct unwound_stack){.n = head->n, .mark = head->mark, .frames = reply->bytes};
    memmove(walk->frames, (const char *)reply->bytes + sizeof *head,
            head->n * sizeof *walk->frames);
    return true;
}

bool elf_worker_unwind(struct elf_worker *worker, struct raw_stack *stack,
                       struct unwound_stack *walk) {
    struct question question = {
        .kind = ELF_UNWIND,
        .fd = -1,
        .stack = stack,
        .stack_bytes = (uint32_t)raw_stack_bytes(stack),
    };
    bool done = false, failed = false;
    pthread_mutex_lock(&worker->lock);
    for (unsigned modules = 0; !done && !failed && modules < MODULES_OF_A_WALK; modules++) {
        struct reply reply = {0};
        struct elf_walk_head head;
        failed = !start_child(worker) || ask_once(worker, &question, &reply) != ANSWERED ||
                 !is_walk(stack, &reply, &head);
        done = !failed && head.missing == 0 && keep_walk(&head, &reply, walk);
        if (done)
            break;
        drop_reply(&reply);
        if (failed)
            end_child(worker);
        else
            provide_module(worker, stack, head.missing);
    }
    pthread_mutex_unlock(&worker->lock);
    return done;
}
