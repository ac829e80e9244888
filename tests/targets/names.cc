/* SPDX-License-Identifier: LGPL-3.0-or-later */
// A program whose functions have names that are hard to carry, each with CPU time of its own.
#include <ctime>
#include <map>
#include <string>
#include <utility>
#include <vector>

static double now() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// In its caller, so that the caller is where the time goes.
[[gnu::always_inline]] static inline unsigned long spin() {
    unsigned long value = 1;
    for (double end = now() + 0.15; now() < end;)
        for (int i = 0; i < 100000; i++)
            asm volatile("" : "+r"(value));
    return value;
}

template <typename T> struct table {
    [[gnu::noinline]] unsigned long operator[](const T &) {
        return spin();
    }
    [[gnu::noinline]] unsigned long operator()(T) const {
        return spin() + 1;
    }
    [[gnu::noinline]] bool operator<(const table &) const {
        return spin() != 0;
    }
};

namespace {
template <typename... T> [[gnu::noinline]] unsigned long variadic(T &&...) {
    return spin() + 2;
}
} // namespace

[[gnu::noinline]] static unsigned long recursive(int depth) {
    unsigned long value = depth > 0 ? recursive(depth - 1) : spin() + 3;
    asm volatile("" : "+r"(value));
    return value;
}

int main() {
    table<std::map<std::string, std::vector<std::pair<int, double>>>> maps;
    table<int (*)(const char *, ...)> functions;
    auto lambda = [&](int n) __attribute__((noinline)) {
        return spin() + static_cast<unsigned>(n);
    };
    unsigned long value = maps[{}] + functions(nullptr) + (functions < functions) +
                          variadic(maps, 1, "text") + lambda(3) + recursive(30);
    return value == 0;
}
