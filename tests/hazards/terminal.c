/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * terminal.c - reads that have their time from the terminal (VMIN of 0): each ends when that is
 * over, not before, and not never; what is read at the other end has no such time. A byte that
 * comes meanwhile begins a read with a time of its own.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "busy.h"

#define TENTH_MS 100
#define EARLY_MS 15 /* ticks of the kernel that its own timeout may lack */
#define BYTES    12

static int master, slave;

static void set_time(int tenths) {
    struct termios t;
    tcgetattr(slave, &t);
    cfmakeraw(&t);
    t.c_cc[VMIN] = 0;
    t.c_cc[VTIME] = (cc_t)tenths;
    tcsetattr(slave, TCSANOW, &t);
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static ssize_t by_read(void *to) {
    return read(slave, to, 1);
}

static ssize_t by_readv(void *to) {
    struct iovec part = {to, 1};
    return readv(slave, &part, 1);
}

static ssize_t by_number(void *to) {
    return syscall(SYS_read, slave, to, 1);
}

static void nothing_comes(ssize_t (*read_one)(void *), int tenths) {
    char byte;
    set_time(tenths);
    int64_t began = now_ms();
    ssize_t n = read_one(&byte);
    printf("%zd %s\n", n, now_ms() - began >= tenths * TENTH_MS - EARLY_MS ? "in time" : "early");
}

static void *write_slowly(void *fd) {
    for (int i = 0; i < BYTES; i++) {
        usleep(150000);
        if (write((int)(intptr_t)fd, "x", 1) != 1)
            return NULL;
    }
    return NULL;
}

/* Reads at one place until all bytes have come. */
static void bytes_come(void) {
    pthread_t writer;
    int had = 0, early = 0;
    char byte;
    set_time(2);
    pthread_create(&writer, NULL, write_slowly, (void *)(intptr_t)master);
    while (had < BYTES) {
        int64_t began = now_ms();
        ssize_t n = by_read(&byte);
        had += n > 0;
        early += n <= 0 && now_ms() - began < 2 * TENTH_MS - EARLY_MS;
    }
    pthread_join(writer, NULL);
    printf("%d bytes, %d reads ended early\n", had, early);
}

static void other_end(void) {
    pthread_t writer;
    int had = 0, nothing = 0;
    char byte;
    set_time(1);
    pthread_create(&writer, NULL, write_slowly, (void *)(intptr_t)slave);
    while (had < BYTES) {
        ssize_t n = read(master, &byte, 1);
        had += n > 0;
        nothing += n <= 0;
    }
    pthread_join(writer, NULL);
    printf("%d bytes at the other end, %d reads without one\n", had, nothing);
}

int main(void) {
    master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 ||
        (slave = open(ptsname(master), O_RDWR | O_NOCTTY)) < 0)
        return 1;
    busy_ms(20);
    nothing_comes(by_read, 30);
    nothing_comes(by_readv, 5);
    nothing_comes(by_number, 5);
    nothing_comes(by_read, 0);
    bytes_come();
    other_end();
    return 0;
}
