/* SPDX-License-Identifier: LGPL-3.0-or-later */
// recursive.cc - a program to profile that computes in recursion: expressions as trees of objects,
// evaluated and differentiated by virtual functions, some ten to some hundred calls deep.
//
// Nothing but arithmetic on the way: each frame does a little work, and contexts are many.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

using Values = std::vector<double>;

class Expression {
  public:
    virtual ~Expression() = default;
    virtual double value(const Values &at) const = 0;
    virtual double slope(const Values &at, unsigned variable) const = 0;
    virtual unsigned depth() const = 0;
};

using Tree = std::unique_ptr<Expression>;

class Constant final : public Expression {
  public:
    explicit Constant(double number) : number(number) {}
    double value(const Values &) const override {
        return number;
    }
    double slope(const Values &, unsigned) const override {
        return 0;
    }
    unsigned depth() const override {
        return 1;
    }

  private:
    double number;
};

class Variable final : public Expression {
  public:
    explicit Variable(unsigned name) : name(name) {}
    double value(const Values &at) const override {
        return at[name];
    }
    double slope(const Values &, unsigned variable) const override {
        return variable == name;
    }
    unsigned depth() const override {
        return 1;
    }

  private:
    unsigned name;
};

class Pair : public Expression {
  public:
    Pair(Tree a, Tree b) : a(std::move(a)), b(std::move(b)) {}
    unsigned depth() const override {
        unsigned left = a->depth(), right = b->depth();
        return 1 + (left > right ? left : right);
    }

  protected:
    Tree a, b;
};

class Sum final : public Pair {
  public:
    using Pair::Pair;
    double value(const Values &at) const override {
        return (a->value(at) + b->value(at)) / 2;
    }
    double slope(const Values &at, unsigned variable) const override {
        return (a->slope(at, variable) + b->slope(at, variable)) / 2;
    }
};

class Product final : public Pair {
  public:
    using Pair::Pair;
    double value(const Values &at) const override {
        return a->value(at) * b->value(at);
    }
    double slope(const Values &at, unsigned variable) const override {
        double left = a->slope(at, variable), right = b->slope(at, variable);
        return left + right - left * right;
    }
};

// One of two, as the values will have it: a branch that goes either way.
class Choice final : public Pair {
  public:
    Choice(Tree a, Tree b, unsigned name) : Pair(std::move(a), std::move(b)), name(name) {}
    double value(const Values &at) const override {
        return 1 - (at[name] < 0.5 ? a : b)->value(at);
    }
    double slope(const Values &at, unsigned variable) const override {
        return -(at[name] < 0.5 ? a : b)->slope(at, variable);
    }

  private:
    unsigned name;
};

// Numbers that are the same everywhere.
class Dice {
  public:
    unsigned below(unsigned n) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<unsigned>((state >> 33) % n);
    }
    double fraction() {
        return below(1000) / 1000.0;
    }

  private:
    uint64_t state = 1;
};

constexpr unsigned variables = 8;

// A tree of `size` leaves. Splits are uneven, which makes it deep: some ten levels at most leaves,
// some hundred at others.
Tree grow(Dice &dice, unsigned size) {
    if (size == 1) {
        if (dice.below(4) == 0)
            return std::make_unique<Constant>(dice.fraction());
        return std::make_unique<Variable>(dice.below(variables));
    }
    unsigned small = 1 + dice.below(size < 12 ? size - 1 : size / 12);
    Tree a = grow(dice, small), b = grow(dice, size - small);
    unsigned kind = dice.below(40);
    if (kind == 0)
        return std::make_unique<Choice>(std::move(a), std::move(b), dice.below(variables));
    if (kind < 15)
        return std::make_unique<Product>(std::move(a), std::move(b));
    return std::make_unique<Sum>(std::move(a), std::move(b));
}

} // namespace

int main(int argc, char **argv) {
    unsigned rounds = argc > 1 ? static_cast<unsigned>(strtoul(argv[1], nullptr, 10)) : 12500;
    Dice dice;
    Tree tree = grow(dice, 6000);
    double sum = 0;
    for (unsigned i = 0; i < rounds; i++) {
        Values at(variables);
        for (double &x : at)
            x = dice.fraction();
        sum += tree->value(at) + tree->slope(at, i % variables);
    }
    printf("%u levels, %.6f\n", tree->depth(), sum);
    return 0;
}
