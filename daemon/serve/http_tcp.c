/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * http_tcp.c - addresses, /proc/net/tcp, Host.
 *
 * A line of /proc/net/tcp is a socket: its address, its peer's, its state, its owner. The asker's
 * socket is the one whose address is our peer's and whose peer is our address. IPv4 connections of
 * an IPv6 socket stand in tcp6, with mapped addresses. A socket that its process has closed (inode
 * 0) says that root owns it: it is ignored.
 */
#include "daemon/serve/http_tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 64

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* ---- listening ---- */

static bool parse_port(const char *text, in_port_t *port) {
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    *port = htons((uint16_t)n);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && n <= UINT16_MAX;
}

static bool parse(const char *text, union address *address, socklen_t *length) {
    static const char v4[] = "127.0.0.1:", v6[] = "[::1]:";
    memset(address, 0, sizeof *address);
    if (strncmp(text, v4, sizeof v4 - 1) == 0) {
        address->v4.sin_family = AF_INET;
        address->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        *length = sizeof address->v4;
        return parse_port(text + sizeof v4 - 1, &address->v4.sin_port);
    }
    if (strncmp(text, v6, sizeof v6 - 1) == 0) {
        address->v6.sin6_family = AF_INET6;
        address->v6.sin6_addr = in6addr_loopback;
        *length = sizeof address->v6;
        return parse_port(text + sizeof v6 - 1, &address->v6.sin6_port);
    }
    return false;
}

bool http_tcp_is_address(const char *text) {
    union address address;
    socklen_t length;
    return parse(text, &address, &length);
}

int http_tcp_open(const char *text, char *error, size_t bytes) {
    union address address;
    socklen_t length = 0;
    int yes = 1, fd = -1;
    if (parse(text, &address, &length))
        fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        if (address.any.sa_family == AF_INET6)
            setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
        if (bind(fd, &address.any, length) == 0 && listen(fd, BACKLOG) == 0)
            return fd;
    }
    snprintf(error, bytes, "can't listen on %s: %s; choose another port with --listen", text,
             strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

bool http_tcp_is_v6(int fd) {
    union address address = {0};
    socklen_t length = sizeof address;
    return getsockname(fd, &address.any, &length) == 0 && address.any.sa_family == AF_INET6;
}

void http_tcp_url(int fd, char *url, size_t bytes) {
    union address address = {0};
    socklen_t length = sizeof address;
    getsockname(fd, &address.any, &length);
    if (address.any.sa_family == AF_INET6)
        snprintf(url, bytes, "http://[::1]:%u", ntohs(address.v6.sin6_port));
    else
        snprintf(url, bytes, "http://127.0.0.1:%u", ntohs(address.v4.sin_port));
}

/* ---- the asker ---- */

/* An address as the lists have it: words of the machine's order in hex, a colon, the port. */
struct listed {
    char v4[16], v6[48]; /* v4 is empty for an IPv6 address */
};

static void hex_words(char *text, const void *bytes, unsigned words, unsigned port) {
    uint32_t word[4];
    memcpy(word, bytes, words * sizeof word[0]);
    for (unsigned i = 0; i < words; i++)
        text += sprintf(text, "%08X", word[i]);
    sprintf(text, ":%04X", port);
}

static void list(struct listed *l, const union address *a) {
    l->v4[0] = '\0';
    if (a->any.sa_family == AF_INET6) {
        hex_words(l->v6, &a->v6.sin6_addr, 4, ntohs(a->v6.sin6_port));
        return;
    }
    struct in6_addr mapped = {.s6_addr = {[10] = 0xff, [11] = 0xff}};
    memcpy(&mapped.s6_addr[12], &a->v4.sin_addr, 4);
    hex_words(l->v4, &a->v4.sin_addr, 1, ntohs(a->v4.sin_port));
    hex_words(l->v6, &mapped, 4, ntohs(a->v4.sin_port));
}

static bool look_up(const char *path, const char *local, const char *remote, uid_t *uid) {
    char line[512], from[48], to[48];
    FILE *f = fopen(path, "re");
    bool found = false;
    if (f == NULL)
        return false;
    while (!found && fgets(line, sizeof line, f) != NULL) {
        unsigned owner;
        unsigned long inode;
        found = sscanf(line, " %*u: %47s %47s %*s %*s %*s %*s %u %*u %lu", from, to, &owner,
                       &inode) == 4 &&
                inode != 0 && strcmp(from, local) == 0 && strcmp(to, remote) == 0;
        if (found)
            *uid = owner;
    }
    fclose(f);
    return found;
}

bool http_tcp_asker(int fd, uid_t *uid) {
    union address here = {0}, there = {0};
    socklen_t here_bytes = sizeof here, there_bytes = sizeof there;
    struct listed local, remote;
    if (getsockname(fd, &here.any, &here_bytes) != 0 ||
        getpeername(fd, &there.any, &there_bytes) != 0 || here.any.sa_family != there.any.sa_family)
        return false;
    list(&remote, &here);
    list(&local, &there);
    if (local.v4[0] != '\0' && look_up("/proc/net/tcp", local.v4, remote.v4, uid))
        return true;
    return look_up("/proc/net/tcp6", local.v6, remote.v6, uid);
}

/* ---- Host ---- */

bool http_tcp_host_is_local(const char *host) {
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; host != NULL && i < sizeof names / sizeof names[0]; i++) {
        size_t length = strlen(names[i]);
        in_port_t port;
        if (strncasecmp(host, names[i], length) == 0 &&
            (host[length] == '\0' || (host[length] == ':' && parse_port(host + length + 1, &port))))
            return true;
    }
    return false;
}
