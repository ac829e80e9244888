/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * oracle.cc - C++ code of the usual kinds, always the same, for two profilers to sample: templates,
 * virtual calls, std::sort with a comparison that has a frame, std::map, exceptions.
 *
 * The phases of a round are long against a sampling period, as in oracle.c.
 *
 *   usage: oracle_cxx ROUNDS
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#define OWN_FRAME __attribute__((noinline))

namespace {

uint64_t state = 88172645463325252u;

OWN_FRAME uint64_t next_random() {
    for (int i = 0; i < 4; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

// ---- templates ----

struct Crc {
    static uint64_t mix(uint64_t h, uint64_t x) {
        for (int i = 0; i < 16; i++)
            h = (h >> 1) ^ ((h ^ x >> i) & 1 ? 0xc96c5795d7870f42u : 0);
        return h;
    }
};

struct Multiply {
    static uint64_t mix(uint64_t h, uint64_t x) {
        return (h ^ x) * 0x100000001b3u;
    }
};

template <typename Policy, int Passes>
OWN_FRAME uint64_t digest(const std::vector<uint64_t> &data) {
    uint64_t h = 14695981039346656037u;
    for (int pass = 0; pass < Passes; pass++)
        for (uint64_t x : data)
            h = Policy::mix(h, x);
    return h;
}

OWN_FRAME uint64_t digesting(const std::vector<uint64_t> &data) {
    return digest<Crc, 3>(data) + digest<Multiply, 100>(data);
}

// ---- virtual calls, recursive ones ----

class Shape {
  public:
    virtual ~Shape() {}
    virtual double area() const = 0;
};

class Polygon : public Shape {
  public:
    explicit Polygon(unsigned corners) : corners_(corners) {}
    OWN_FRAME double area() const override {
        double sum = 0;
        for (unsigned i = 1; i <= corners_; i++)
            sum += 1.0 / (i * i);
        return sum;
    }

  private:
    unsigned corners_;
};

class Group : public Shape {
  public:
    explicit Group(unsigned depth) {
        for (unsigned i = 0; i < 4; i++)
            if (depth == 0)
                parts_.push_back(std::make_unique<Polygon>(20 + i));
            else
                parts_.push_back(std::make_unique<Group>(depth - 1));
    }
    OWN_FRAME double area() const override {
        double sum = 0;
        for (const auto &part : parts_)
            sum += part->area();
        return sum;
    }

  private:
    std::vector<std::unique_ptr<Shape>> parts_;
};

OWN_FRAME double drawing(const Shape &shape) {
    double sum = 0;
    for (int i = 0; i < 120; i++)
        sum += shape.area();
    return sum;
}

// ---- the standard library ----

OWN_FRAME bool by_low_bits(uint64_t a, uint64_t b) {
    return (a & 0xffffffffu) < (b & 0xffffffffu);
}

OWN_FRAME uint64_t sorting(std::vector<uint64_t> data) {
    std::sort(data.begin(), data.end(), by_low_bits);
    return data[data.size() / 2];
}

OWN_FRAME uint64_t counting() {
    std::map<std::string, unsigned> counts;
    for (int i = 0; i < 200000; i++)
        counts["key " + std::to_string(next_random() % 5000)]++;
    return counts.size();
}

// ---- exceptions ----

OWN_FRAME unsigned parse(unsigned depth, uint64_t x) {
    if (depth > 0)
        return parse(depth - 1, x) + 1;
    if (x % 2)
        throw std::runtime_error("odd");
    return 1;
}

OWN_FRAME uint64_t parsing() {
    uint64_t good = 0;
    for (int i = 0; i < 40000; i++)
        try {
            good += parse(3, next_random());
        } catch (const std::runtime_error &) {
            good++;
        }
    return good;
}

} // namespace

int main(int argc, char **argv) {
    int rounds = argc == 2 ? std::atoi(argv[1]) : 0;
    if (rounds < 1) {
        std::fprintf(stderr, "usage: oracle_cxx ROUNDS\n");
        return 2;
    }
    std::vector<uint64_t> data;
    for (int i = 0; i < 300000; i++)
        data.push_back(next_random());
    Group group(6);
    uint64_t sum = 0;
    for (int i = 0; i < rounds; i++)
        sum = sum * 31 + digesting(data) + static_cast<uint64_t>(drawing(group)) + sorting(data) +
              counting() + parsing();
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
    return 0;
}
