/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * labels_cpp.cc - hcct.h in C++: labels that go with their scope, also by an exception. It is linked
 * at a fixed address.
 */
#include <ctime>
#include <stdexcept>
#include <string>

#include "preload/labels/hcct.h"

namespace {

volatile unsigned long sink;

void work(unsigned ms) {
    const std::clock_t end = std::clock() + static_cast<std::clock_t>(ms) * (CLOCKS_PER_SEC / 1000);
    while (std::clock() < end)
        for (unsigned i = 0; i < 400; i++)
            sink = sink + i;
}

class label {
  public:
    label(const char *key, const std::string &value) : key_(key) {
        hcct_label_set(key, value.c_str());
    }
    ~label() { hcct_label_clear(key_); }
    label(const label &) = delete;
    label &operator=(const label &) = delete;

  private:
    const char *key_;
};

void serve(const std::string &route, const std::string &tenant) {
    label of_route("route", route);
    work(100);
    label of_tenant("tenant", tenant);
    work(100);
    throw std::runtime_error("no such page");
}

} // namespace

int main() {
    for (int i = 0; i < 4; i++) {
        try {
            serve(i % 2 == 0 ? "/pay" : "/list", "b");
        } catch (const std::runtime_error &) {
            work(100);
        }
    }
    return 0;
}
