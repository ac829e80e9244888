/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_thrown.cc - signal handlers that throw exceptions.
 *
 *   usage: calls_thrown KIND
 *
 *   steps    out of a call and its report, at one instruction of them after the other (SIGTRAP)
 *   timer    out of calls that are made all the time (SIGALRM)
 *   faults   out of an access to memory that is not there (SIGSEGV)
 *
 * After each one three calls of after() are made, and each handler calls handled(). Prints how
 * often: "caught N after N handled N".
 */
#include <csignal>
#include <cstdio>
#include <cstring>

#include "calls_thrown.h"

#define NOT_REPORTED __attribute__((no_instrument_function))
#define TIMES        300

namespace {

struct Left {};

volatile unsigned caught;
volatile int *volatile nowhere;

NOT_REPORTED void on_step(int) {
    thrown.steps = thrown.steps + 1;
    thrown.left_after = thrown.left_after - 1;
    if (thrown.left_after != 0)
        return;
    handled();
    throw Left();
}

NOT_REPORTED void on_other(int) {
    handled();
    throw Left();
}

NOT_REPORTED void handle(int number, void (*handler)(int)) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_NODEFER;
    sigaction(number, &action, nullptr);
}

/* False: it has not so many instructions. */
NOT_REPORTED bool leave_after(unsigned instructions) {
    thrown.left_after = instructions;
    try {
        thrown_step();
        return false;
    } catch (const Left &) {
        caught = caught + 1;
        return true;
    }
}

NOT_REPORTED void steps() {
    for (unsigned n = 1; leave_after(n); n++)
        thrown_go_on();
}

NOT_REPORTED void leave_in_time(long us) {
    try {
        thrown_spin(us);
    } catch (const Left &) {
        caught = caught + 1;
    }
}

NOT_REPORTED void timer() {
    for (int i = 0; i < TIMES; i++) {
        leave_in_time(200 + 7 * i);
        thrown_go_on();
    }
}

__attribute__((noinline)) int look(const volatile int *where) {
    return *where;
}

__attribute__((noinline)) int look_in_vain() {
    try {
        return look(nowhere);
    } catch (const Left &) {
        caught = caught + 1;
    }
    try {
        return *nowhere;
    } catch (const Left &) {
        caught = caught + 1;
    }
    return 0;
}

NOT_REPORTED void faults() {
    for (int i = 0; i < TIMES; i++) {
        look_in_vain();
        thrown_go_on();
    }
}

} // namespace

NOT_REPORTED int main(int argc, char **argv) {
    const struct {
        const char *name;
        void (*run)();
    } kind[] = {{"steps", steps}, {"timer", timer}, {"faults", faults}};
    handle(SIGTRAP, on_step);
    handle(SIGALRM, on_other);
    handle(SIGSEGV, on_other);
    thrown_go_on();
    for (const auto &k : kind)
        if (argc == 2 && strcmp(argv[1], k.name) == 0)
            k.run();
    thrown_go_on();
    std::printf("caught %u after %u handled %u\n", caught, thrown.after, thrown.handled);
    return 0;
}
