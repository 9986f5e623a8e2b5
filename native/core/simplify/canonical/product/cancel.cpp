#include "cancel.hpp"

#include <algorithm>

#include "core/simplify/canonical/sum/sum.hpp"
#include "from_polynomial.hpp"
#include "merge.hpp"
#include "power.hpp"
#include "product.hpp"

namespace simplipy::canonical {
namespace {

int degree(const Polynomial& polynomial) {
    int largest = 0;
    for (const Monomial& monomial : polynomial) {
        int sum = 0;
        for (const auto& [base, power] : monomial.powers) sum += power;
        largest = std::max(largest, sum);
    }
    return largest;
}

// Multiplies by the denominator; returns its reciprocal.
Monomial clear_denominator(Polynomial& polynomial) {
    Monomial smallest = denominator(polynomial);
    if (!smallest.powers.empty())
        for (Monomial& monomial : polynomial) monomial = times(monomial, smallest, -1);
    return smallest;
}

// Divides the sum that factor i is a power of by that of factor j.
bool cancel_sums(Context& c, Parts& parts, std::size_t i, std::size_t j) {
    auto above = to_polynomial(c.terms.arena(), parts.factors[i].term, max_polynomial_terms);
    auto below = to_polynomial(c.terms.arena(), parts.factors[j].term, max_polynomial_terms);
    if (!above || !below || !may_disappear(c, *above) || !may_disappear(c, *below)) return false;
    // x + y over 1/x + 1/y is x*y times (x + y)/(x + y)
    const Monomial outside = times(clear_denominator(*above), clear_denominator(*below), -1);
    const int difference = degree(*above) - degree(*below);
    if (difference < 0 || (difference == 0 && outside.powers.empty())) return false;
    const auto result = quotient(*above, *below, max_polynomial_terms);
    if (!result) return false;
    Scratch<Entry> sum;
    for (const Monomial& monomial : *result) add(c, sum, from_monomial(c, monomial), Rational(1));
    Parts shorter = parts;
    shorter.factors[i].ratio = shorter.factors[i].ratio - Rational(1);
    shorter.factors[j].ratio = shorter.factors[j].ratio + Rational(1);
    multiply(c, shorter, close_sum(c, std::move(sum)), Rational(1));
    for (const auto& [base, power] : outside.powers) multiply(c, shorter, base, Rational(power));
    merge_all_factors(c, shorter);
    const TermId before = closed_as_merged(c, parts);
    const TermId after = closed_as_merged(c, shorter);
    if (c.terms[after].cost.plain >= c.terms[before].cost.plain) return false;
    c.note("polynomial factor cancelled");
    parts = std::move(shorter);
    return true;
}

}  // namespace

bool cancel_polynomials(Context& c, Parts& parts) {
    const auto has_sum = [&c](const Entry& factor, int sign) {
        return !factor.is_free() && factor.ratio.is_integer() && factor.ratio.sign() == sign &&
               is_polynomial_sum(c.terms[factor.term]);
    };
    for (std::size_t i = 0; i < parts.factors.size(); ++i) {
        if (!has_sum(parts.factors[i], 1)) continue;
        for (std::size_t j = 0; j < parts.factors.size(); ++j) {
            if (!has_sum(parts.factors[j], -1)) continue;
            if (attempt([&] { return cancel_sums(c, parts, i, j); })) return true;
        }
    }
    return false;
}

}  // namespace simplipy::canonical
