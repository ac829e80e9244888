/* SPDX-License-Identifier: LGPL-3.0-or-later */
// A program for symbolize_test: namespaces, templates, virtual calls, lambdas, inlined members.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace drawing {

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};

template <typename Number> struct Square final : Shape {
    explicit Square(Number side) : side_(side) {}
    __attribute__((noinline)) double area() const override {
        return square(side_);
    }
    static inline __attribute__((always_inline)) double square(Number x) {
        return static_cast<double>(x) * static_cast<double>(x);
    }

  private:
    Number side_;
};

namespace {
__attribute__((noinline)) double total(const std::vector<Shape *> &shapes) {
    double sum = 0;
    auto add = [&sum](const Shape &shape) __attribute__((noinline)) {
        sum += shape.area();
    };
    for (const Shape *shape : shapes)
        add(*shape);
    return sum;
}
} // namespace

__attribute__((noinline)) double operator+(const Square<int> &a, const Square<long> &b) {
    return a.area() + b.area();
}

} // namespace drawing

int main(int argc, char **) {
    drawing::Square<int> a(argc);
    drawing::Square<long> b(argc + 1);
    std::vector<drawing::Shape *> shapes{&a, &b};
    std::map<std::string, double> sizes;
    sizes["total"] = drawing::total(shapes);
    sizes["sum"] = a + b;
    for (const auto &size : sizes)
        std::printf("%s %g\n", size.first.c_str(), size.second);
    return 0;
}
