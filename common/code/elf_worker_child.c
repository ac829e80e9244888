/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * elf_worker_child.c - the child's side: reads a request, answers it, until the daemon closes.
 *
 * It answers or dies: whatever a file makes the parsers do, the daemon sees a closed socket.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/confine.h"
#include "common/code/call_sites_compile.h"
#include "common/code/demangle.h"
#include "common/code/elf_protocol.h"
#include "common/code/elf_worker.h"
#include "common/code/elf_worker_limits.h"
#include "common/code/remote_unwind.h"
#include "common/code/symbolize.h"
#include "common/code/unwind_compile.h"

#define SYMBOLIZERS_MAX 32 /* kept from request to request */

/* CPU time of one request, below the time that the daemon waits for it. */
static const unsigned cpu_seconds[ELF_KINDS] = {
    [ELF_TABLE] = 25, [ELF_CALLS] = 50, [ELF_SYMBOLS] = 50, [ELF_NAMES] = 8,
    [ELF_IMAGE] = 8,  [ELF_UNWIND] = 1, [ELF_DEMANGLE] = 8};

struct kept {
    uint32_t module;
    enum elf_kind kind; /* ELF_SYMBOLS or ELF_NAMES */
    uint64_t used;      /* number of the request that used it last */
    struct symbolizer *symbolizer;
};

struct child {
    int socket;
    uint64_t requests;
    struct kept kept[SYMBOLIZERS_MAX];
    char path[ELF_PATH_MAX + 1];
    struct elf_query query[ELF_QUERIES_MAX];
    struct remote_unwinder *unwinder; /* made on first use, as the two below */
    struct raw_stack *stack;          /* room for ELF_STACK_MAX */
    struct walk_answer *walk;
};

struct walk_answer {
    struct elf_walk_head head;
    struct unwound_frame frames[RAW_STACK_FRAMES_MAX];
};

static bool answer(const struct child *child, bool ok, const void *bytes, size_t n) {
    struct elf_answer head = {.magic = ELF_ANSWER_MAGIC, .ok = ok, .bytes = ok ? n : 0};
    return elf_send(child->socket, &head, sizeof head, ELF_NO_DEADLINE) == ELF_TRANSFERRED &&
           elf_send(child->socket, bytes, head.bytes, ELF_NO_DEADLINE) == ELF_TRANSFERRED;
}

/* Each of the serve functions takes fd over, and returns false when the daemon is gone. */
static bool serve_table(struct child *child, const struct elf_request *request, int fd) {
    size_t bytes = 0;
    void *table = NULL;
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf != NULL)
        table = request->kind == ELF_CALLS ? call_sites_compile(elf, &bytes)
                                           : unwind_compile(elf, &bytes, NULL);
    bool sent = answer(child, table != NULL, table, bytes);
    free(table);
    elf_end(elf);
    close(fd);
    return sent;
}

/* The symbolizer of a module: kept from an earlier request, or in the place of the one that was not
 * used for longest. NULL: no memory. */
static struct symbolizer *symbolizer_for(struct child *child, const struct elf_request *request,
                                         int fd) {
    struct kept *oldest = &child->kept[0];
    for (size_t i = 0; i < SYMBOLIZERS_MAX; i++) {
        struct kept *kept = &child->kept[i];
        if (kept->symbolizer != NULL && kept->module == request->module &&
            kept->kind == request->kind) {
            close(fd);
            kept->used = child->requests;
            return kept->symbolizer;
        }
        if (kept->used < oldest->used)
            oldest = kept;
    }
    symbolizer_free(oldest->symbolizer);
    *oldest = (struct kept){.module = request->module,
                            .kind = request->kind,
                            .used = child->requests,
                            .symbolizer = request->kind == ELF_NAMES
                                              ? symbolizer_new_names(fd, child->path)
                                              : symbolizer_new(fd, child->path)};
    return oldest->symbolizer;
}

static bool serve_symbols(struct child *child, const struct elf_request *request, int fd) {
    struct elf_bytes bytes = {0};
    struct symbolizer *symbolizer = symbolizer_for(child, request, fd);
    for (uint32_t i = 0; symbolizer != NULL && i < request->queries; i++) {
        struct symbol_query query = {child->query[i].address, child->query[i].is_entry != 0};
        struct symbol symbol;
        if (!symbolizer_resolve(symbolizer, &query, &symbol)) {
            bytes.failed = true;
            break;
        }
        elf_put_symbol(&bytes, &symbol);
        symbol_clear(&symbol);
    }
    bool sent = answer(child, symbolizer != NULL && !bytes.failed, bytes.bytes, bytes.n);
    free(bytes.bytes);
    return sent;
}

/* The names stand in the place of the path, each up to its newline. */
static bool serve_demangle(struct child *child, const struct elf_request *request, int fd) {
    struct elf_bytes bytes = {0};
    (void)request, (void)fd;
    for (char *at = child->path, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        struct symbol_line line = {.system_name = at};
        *end = '\0';
        line.name = demangle(at);
        if (line.name == NULL) {
            bytes.failed = true;
            break;
        }
        elf_put_symbol(&bytes, &(struct symbol){.n_lines = 1, .lines = &line});
        free(line.name);
    }
    bool sent = answer(child, !bytes.failed, bytes.bytes, bytes.n);
    free(bytes.bytes);
    return sent;
}

static bool serve_image(struct child *child, const struct elf_request *request, int fd) {
    struct unwind_image *image = unwind_image_open(fd);
    struct elf_image_head head = {0};
    if (image != NULL) {
        head.entries = unwind_image_entries(image);
        remote_unwinder_keep(child->unwinder, request->module, image);
    }
    return answer(child, image != NULL, &head, sizeof head);
}

static bool is_stack(const struct raw_stack *stack, uint32_t bytes) {
    return bytes >= sizeof *stack && stack->n_ranges <= RAW_STACK_RANGES_MAX &&
           stack->n_inner <= RAW_STACK_INNER_MAX && stack->n_registers <= RAW_STACK_REGISTERS_MAX &&
           stack->n_words <= RAW_STACK_WORDS_MAX && bytes == raw_stack_bytes(stack);
}

static bool serve_unwind(struct child *child, const struct elf_request *request, int fd) {
    struct walk_answer *walk = child->walk;
    struct unwound_stack found = {0};
    (void)fd;
    if (!is_stack(child->stack, request->stack_bytes))
        return false;
    uint32_t missing = remote_unwind(child->unwinder, child->stack, walk->frames, &found);
    walk->head = (struct elf_walk_head){.n = found.n, .mark = found.mark, .missing = missing};
    return answer(child, true, walk,
                  sizeof walk->head + (missing == 0 ? found.n * sizeof walk->frames[0] : 0));
}

/* What serve_image and serve_unwind need. */
static bool prepare_for_stacks(struct child *child) {
    if (child->unwinder == NULL)
        child->unwinder = remote_unwinder_new();
    if (child->stack == NULL)
        child->stack = malloc(ELF_STACK_MAX);
    if (child->walk == NULL)
        child->walk = malloc(sizeof *child->walk);
    return child->unwinder != NULL && child->stack != NULL && child->walk != NULL;
}

/* The rest of a request. False: the daemon is gone, or this is no request. */
static bool receive_rest(struct child *child, const struct elf_request *request, int fd) {
    if (request->magic != ELF_REQUEST_MAGIC || request->kind >= ELF_KINDS ||
        request->path_bytes > ELF_PATH_MAX || request->queries > ELF_QUERIES_MAX ||
        request->stack_bytes > ELF_STACK_MAX || (fd < 0) != (request->kind >= ELF_UNWIND))
        return false;
    if ((request->kind == ELF_IMAGE || request->kind == ELF_UNWIND) && !prepare_for_stacks(child))
        return false;
    child->path[request->path_bytes] = '\0';
    return elf_receive(child->socket, child->path, request->path_bytes, ELF_NO_DEADLINE) ==
               ELF_TRANSFERRED &&
           elf_receive(child->socket, child->query, request->queries * sizeof child->query[0],
                       ELF_NO_DEADLINE) == ELF_TRANSFERRED &&
           elf_receive(child->socket, child->stack, request->stack_bytes, ELF_NO_DEADLINE) ==
               ELF_TRANSFERRED;
}

static bool serve(struct child *child) {
    static bool (*const servers[ELF_KINDS])(struct child *, const struct elf_request *, int) = {
        [ELF_TABLE] = serve_table,       [ELF_CALLS] = serve_table, [ELF_SYMBOLS] = serve_symbols,
        [ELF_NAMES] = serve_symbols,     [ELF_IMAGE] = serve_image, [ELF_UNWIND] = serve_unwind,
        [ELF_DEMANGLE] = serve_demangle,
    };
    struct elf_request request;
    int fd;
    if (elf_receive_head(child->socket, &request, &fd) != ELF_TRANSFERRED ||
        !receive_rest(child, &request, fd)) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    child->requests++;
    confine_cpu(cpu_seconds[request.kind]);
    return servers[request.kind](child, &request, fd);
}

int elf_worker_main(int fd) {
    struct child *child = calloc(1, sizeof *child);
    if (child == NULL)
        return EXIT_FAILURE;
    elf_worker_limit_self();
    elf_version(EV_CURRENT);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    child->socket = fd;
    while (serve(child))
        ;
    for (size_t i = 0; i < SYMBOLIZERS_MAX; i++)
        symbolizer_free(child->kept[i].symbolizer);
    remote_unwinder_free(child->unwinder);
    free(child->stack);
    free(child->walk);
    free(child);
    return EXIT_SUCCESS;
}
