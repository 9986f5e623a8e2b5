// Free constants: each is a term of its own, and stands for what it absorbed.
//
// When tracking, the definition of each constant in terms of the input's is kept. Otherwise nothing is known of them
// but that they are free: one constant may then go on to stand for its multiples and powers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store.hpp"

namespace simplipy::canonical {

// Postfix; variable k stands for the k-th constant of the input.
using Definition = std::vector<Node>;

class Constants {
  public:
    Constants(TermStore& terms, bool tracked) : terms_(terms), tracked_(tracked) {}

    const Definition& definition(std::int64_t constant) const {
        return definitions_[static_cast<std::size_t>(constant)];
    }

    // The next constant of the input.
    TermId of_input();

    // A new constant for op(ground), op(a, b), base^exponent and a * b, where these hold constants and no variables.
    TermId applied(Op op, TermId ground);
    TermId applied(Op op, TermId a, TermId b);
    TermId raised(TermId base, TermId exponent) { return applied(Op::pow, base, exponent); }
    TermId times(TermId a, TermId b) { return applied(Op::mul, a, b); }

    // The constant for ratio * constant, constant^exponent, |constant|^exponent.
    TermId scaled(TermId constant, const Rational& ratio);
    TermId raised(TermId constant, const Rational& exponent);
    TermId absolute_raised(TermId constant, const Rational& exponent);

    // The constant for product * constant^exponent; `product` may be no_term.
    TermId times_power(TermId product, TermId constant, const Rational& exponent);

    // The constant for the product of all these.
    TermId times_all(TermId constant, std::span<const Rational> numbers);
    TermId times_all(TermId constant, std::span<const Entry> powers, const Rational& number);

    // The constant for a sum of ground terms, of which one has the free coefficient.
    TermId sum(std::span<const Entry> entries, TermId coefficient);

    // base^(u + shift) is c * d^u: the constants d and c.
    TermId shifted_base(TermId base, TermId shift);
    TermId shifted_power(TermId base, TermId shift);

  private:
    TermId make(Definition definition);
    Definition define(TermId ground);
    Definition define_power(TermId base, const Rational& exponent);
    Definition define_is_zero(TermId constant);
    Definition define_moves_zero(TermId base, TermId shift);
    Definition define_shifted_base(TermId base, TermId shift);

    TermStore& terms_;
    bool tracked_;
    std::int64_t n_constants_ = 0;
    std::int64_t n_of_input_ = 0;
    std::vector<Definition> definitions_;
};

// Appends "times ratio".
void multiply_definition(Definition& definition, const Rational& ratio);

}  // namespace simplipy::canonical
