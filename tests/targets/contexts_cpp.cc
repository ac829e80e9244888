/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * contexts_cpp.cc - as contexts.c, in C++: functions that throw and catch at random, and ask in
 * which context they are in between, in handlers of exceptions and in destructors while an
 * exception passes.
 *
 *   contexts_cpp [TIMES]
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>

#include "preload/labels/hcct.h"

#define OWN_FRAME __attribute__((noinline, noclone))

namespace {

struct record {
    std::map<std::string, uint64_t> number;
    std::string path;
    unsigned long asked = 0, none = 0, wrong = 0;
    uint64_t random = 1;
};

thread_local record *own;
volatile int sink;

unsigned draw(unsigned n) {
    own->random = own->random * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<unsigned>(own->random >> 33) % n;
}

std::string step(const char *function, int line) {
    return (own->path.empty() ? "" : own->path + ";") + function + ":" + std::to_string(line);
}

/* A call that is open, until it returns or is left by an exception. */
class open_call {
  public:
    open_call(const char *function, int line) : before_(own->path) {
        own->path = step(function, line);
    }
    ~open_call() {
        own->path = before_;
    }

  private:
    std::string before_;
};

void note(const std::string &path, uint64_t number) {
    own->asked++;
    uint64_t &known = own->number[path];
    if (number == 0)
        own->none++;
    else if (known == 0)
        known = number;
    else if (known != number)
        own->wrong++;
}

#define ASK() note(step(__func__, __LINE__), hcct_context())
#define CALL(call)                                                                                 \
    do {                                                                                           \
        open_call open(__func__, __LINE__);                                                        \
        call;                                                                                      \
        sink = sink + 1;                                                                           \
    } while (0)

/* Its destructor asks, which is where the exception passes: who has called it is no call of the
 * program's, and not the same for an exception. */
class asker {
  public:
    OWN_FRAME void ask() {
        ASK();
        sink = sink + 1;
    }
    ~asker() {
        open_call open(std::uncaught_exceptions() > 0 ? "~asker!" : "~asker", __LINE__ + 1);
        ask();
        sink = sink + 1;
    }
};

OWN_FRAME void thrower(int depth);

OWN_FRAME void passer(int depth) {
    asker asks;
    ASK();
    if (depth < 8)
        CALL(thrower(depth + 1));
    ASK();
}

OWN_FRAME void catcher(int depth) {
    for (int i = 0; i < 2 && depth < 8; i++)
        try {
            CALL(passer(depth + 1));
        } catch (const std::runtime_error &) {
            ASK();
            if (draw(3) == 0)
                throw;
        }
    ASK();
}

void thrower(int depth) {
    ASK();
    if (draw(3) == 0)
        throw std::runtime_error("thrown");
    if (draw(2) == 0)
        CALL(catcher(depth));
    else
        CALL(passer(depth));
    ASK();
}

OWN_FRAME void run(int times) {
    for (int i = 0; i < times; i++)
        try {
            CALL(catcher(0));
        } catch (const std::runtime_error &) {
            ASK();
        }
}

void print(uint64_t number, const std::string &path) {
    std::printf("0x%016lx ", static_cast<unsigned long>(number));
    for (char c : path)
        if (c != '!')
            std::putchar(c);
    std::putchar('\n');
}

OWN_FRAME void work(record *it, int times) {
    own = it;
    CALL(run(times));
    for (const auto &one : it->number)
        if (one.second != 0)
            print(one.second, one.first);
    std::printf("asked %lu none %lu wrong %lu\n", it->asked, it->none, it->wrong);
}

} // namespace

int main(int argc, char **argv) {
    int times = argc > 1 ? std::atoi(argv[1]) : 1000;
    record first;
    own = &first;
    CALL(work(&first, times));
    return 0;
}
