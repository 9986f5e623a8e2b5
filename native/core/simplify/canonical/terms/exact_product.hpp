// A product of rationals that does not depend on their order: numbers that do not fit wait for others to cancel them.
#pragma once

#include "core/base/rational.hpp"
#include "core/base/scratch.hpp"

namespace simplipy::canonical {

class ExactProduct {
  public:
    ExactProduct(const Rational& value = 1) : value_(value) {}

    // Of the numbers that fit; of all of them after gather().
    const Rational& value() const { return value_; }
    bool is_whole() const { return waiting_.empty(); }
    const Scratch<Rational>& waiting() const { return waiting_; }

    void multiply(const Rational& number) {
        if (value_.is_one() && waiting_.empty()) {
            value_ = number;
        } else if (const auto both = product_that_fits(value_, number)) {
            value_ = *both;
        } else {
            waiting_.push_back(number);
        }
    }
    void multiply(const ExactProduct& other) {
        multiply(other.value_);
        for (const Rational& number : other.waiting_) multiply(number);
    }
    void turn() { value_ = -value_; }
    ExactProduct inverse() const;  // of numbers that are not 0

    // Multiplies everything together. Throws Overflow where the product does not fit.
    void gather();

  private:
    Rational value_;
    Scratch<Rational> waiting_;
};

// The sum of rationals, in an order of its own: whether it overflows does not depend on theirs.
Rational exact_sum(Scratch<Rational> numbers);

}  // namespace simplipy::canonical
