/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * throw.cc - two threads throw through many frames while a third loads and unloads libraries: the
 * unwinder of exceptions takes the loader's lock, over and over.
 */
#include <atomic>
#include <cstdio>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <thread>

static std::atomic<long> caught;
static std::atomic<bool> stop;

static int thrower(int depth) {
    std::string held(static_cast<size_t>(depth) + 20, 'x');
    if (depth == 0)
        throw std::runtime_error(held);
    return thrower(depth - 1) + static_cast<int>(held.size());
}

static void throw_many() {
    for (int i = 0; i < 4000; i++) {
        try {
            thrower(i % 24);
        } catch (const std::exception &error) {
            caught += error.what()[0] == 'x';
        }
    }
}

static void load_many() {
    while (!stop) {
        void *library = dlopen("libz.so.1", RTLD_NOW);
        if (library != nullptr)
            dlclose(library);
    }
}

int main() {
    std::thread loader(load_many), a(throw_many), b(throw_many);
    a.join();
    b.join();
    stop = true;
    loader.join();
    std::printf("%ld\n", caught.load());
}
