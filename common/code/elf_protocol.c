/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * elf_protocol.c - what daemon and worker child say to each other.
 */
#include "common/code/elf_protocol.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/code/demangle.h"
#include "common/code/symbol.h"

/* A symbol is its number of lines, and for each line this, then its three strings. */
struct line_head {
    uint32_t line, start_line;
    uint32_t name_bytes, system_name_bytes, file_bytes;
};

#define STRING_MAX DEMANGLE_NAME_MAX
#define NO_STRING  UINT32_MAX /* the bytes of a string that is NULL */

/* ---- transfer ---- */

int64_t elf_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static enum elf_transfer wait_for(int socket, short events, int64_t deadline) {
    for (;;) {
        struct pollfd wanted = {.fd = socket, .events = events};
        int timeout_ms = -1;
        if (deadline != ELF_NO_DEADLINE) {
            int64_t left = deadline - elf_now();
            if (left <= 0)
                return ELF_LATE;
            timeout_ms = (int)(left / 1000000) + 1;
        }
        int n = poll(&wanted, 1, timeout_ms);
        if (n > 0)
            return ELF_TRANSFERRED;
        if (n < 0 && errno != EINTR)
            return ELF_GONE;
    }
}

static bool is_transient(int error) {
    return error == EINTR || error == EAGAIN || error == EWOULDBLOCK;
}

enum elf_transfer elf_send(int socket, const void *bytes, size_t n, int64_t deadline) {
    const char *at = bytes;
    while (n > 0) {
        enum elf_transfer ready = wait_for(socket, POLLOUT, deadline);
        if (ready != ELF_TRANSFERRED)
            return ready;
        ssize_t sent = send(socket, at, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && !is_transient(errno))
            return ELF_GONE;
        if (sent > 0) {
            at += sent;
            n -= (size_t)sent;
        }
    }
    return ELF_TRANSFERRED;
}

enum elf_transfer elf_receive(int socket, void *bytes, size_t n, int64_t deadline) {
    char *at = bytes;
    while (n > 0) {
        enum elf_transfer ready = wait_for(socket, POLLIN, deadline);
        if (ready != ELF_TRANSFERRED)
            return ready;
        ssize_t got = recv(socket, at, n, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && !is_transient(errno)))
            return ELF_GONE;
        if (got > 0) {
            at += got;
            n -= (size_t)got;
        }
    }
    return ELF_TRANSFERRED;
}

union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

enum elf_transfer elf_send_head(int socket, const struct elf_request *head, int fd,
                                int64_t deadline) {
    union control control;
    memset(&control, 0, sizeof control);
    struct iovec part = {.iov_base = (void *)(uintptr_t)head, .iov_len = sizeof *head};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
    }
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    for (;;) {
        enum elf_transfer ready = wait_for(socket, POLLOUT, deadline);
        if (ready != ELF_TRANSFERRED)
            return ready;
        ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) /* the descriptor went with the first byte */
            return elf_send(socket, (const char *)head + sent, sizeof *head - (size_t)sent,
                            deadline);
        if (!is_transient(errno))
            return ELF_GONE;
    }
}

enum elf_transfer elf_receive_head(int socket, struct elf_request *head, int *fd) {
    union control control;
    struct iovec part = {.iov_base = head, .iov_len = sizeof *head};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    ssize_t got;
    *fd = -1;
    do
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return ELF_GONE;
    const struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    if (first != NULL && first->cmsg_type == SCM_RIGHTS && first->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(fd, CMSG_DATA(first), sizeof *fd);
    return elf_receive(socket, (char *)head + got, sizeof *head - (size_t)got, ELF_NO_DEADLINE);
}

/* ---- symbols to bytes ---- */

static void put_bytes(struct elf_bytes *into, const void *bytes, size_t n) {
    if (into->failed || n == 0)
        return;
    if (n > into->room - into->n) {
        size_t room = 2 * into->room + n;
        char *grown = realloc(into->bytes, room);
        if (grown == NULL) {
            into->failed = true;
            return;
        }
        into->bytes = grown;
        into->room = room;
    }
    memcpy(into->bytes + into->n, bytes, n);
    into->n += n;
}

static uint32_t string_bytes(const char *string) {
    return string == NULL ? NO_STRING : (uint32_t)strnlen(string, STRING_MAX);
}

static void put_string(struct elf_bytes *into, const char *string) {
    if (string != NULL)
        put_bytes(into, string, string_bytes(string));
}

void elf_put_symbol(struct elf_bytes *into, const struct symbol *symbol) {
    put_bytes(into, &symbol->n_lines, sizeof symbol->n_lines);
    for (uint32_t i = 0; i < symbol->n_lines; i++) {
        const struct symbol_line *line = &symbol->lines[i];
        struct line_head head = {
            .line = line->line,
            .start_line = line->start_line,
            .name_bytes = string_bytes(line->name),
            .system_name_bytes = string_bytes(line->system_name),
            .file_bytes = string_bytes(line->file),
        };
        put_bytes(into, &head, sizeof head);
        put_string(into, line->name);
        put_string(into, line->system_name);
        put_string(into, line->file);
    }
}

/* ---- bytes to symbols ---- */

struct cursor {
    const char *at, *end;
};

static bool get_bytes(struct cursor *from, void *into, size_t n) {
    if ((size_t)(from->end - from->at) < n)
        return false;
    memcpy(into, from->at, n);
    from->at += n;
    return true;
}

/* A string, NULL when there is none. False: the bytes end, or no memory. */
static bool get_string(struct cursor *from, uint32_t n, char **string) {
    if (n == NO_STRING)
        return true;
    if (n > STRING_MAX || (size_t)(from->end - from->at) < n)
        return false;
    char *copy = malloc((size_t)n + 1);
    if (copy == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)from->at[i];
        copy[i] = (char)(c < ' ' || c == 0x7f ? '?' : c);
    }
    copy[n] = '\0';
    from->at += n;
    *string = copy;
    return true;
}

static bool get_line(struct cursor *from, struct symbol_line *line) {
    struct line_head head;
    if (!get_bytes(from, &head, sizeof head))
        return false;
    line->line = head.line;
    line->start_line = head.start_line;
    return get_string(from, head.name_bytes, &line->name) &&
           get_string(from, head.system_name_bytes, &line->system_name) &&
           get_string(from, head.file_bytes, &line->file) && line->name != NULL &&
           line->system_name != NULL;
}

static bool get_symbol(struct cursor *from, struct symbol *symbol) {
    uint32_t n;
    if (!get_bytes(from, &n, sizeof n) || n == 0 || n > SYMBOL_LINES_MAX)
        return false;
    symbol->lines = calloc(n, sizeof *symbol->lines);
    if (symbol->lines == NULL)
        return false;
    symbol->n_lines = n;
    for (uint32_t i = 0; i < n; i++)
        if (!get_line(from, &symbol->lines[i]))
            return false;
    return true;
}

bool elf_get_symbols(const void *bytes, size_t n_bytes, struct symbol *symbols, size_t n) {
    struct cursor from = {.at = bytes, .end = (const char *)bytes + n_bytes};
    memset(symbols, 0, n * sizeof *symbols);
    size_t done = 0;
    while (done < n && get_symbol(&from, &symbols[done]))
        done++;
    if (done == n && from.at == from.end)
        return true;
    for (size_t i = 0; i < n; i++)
        symbol_clear(&symbols[i]);
    return false;
}
