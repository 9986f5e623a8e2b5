// From polynomials in terms back to terms, for those who divide and multiply them.
#pragma once

#include "core/simplify/canonical/context.hpp"
#include "core/simplify/polynomial.hpp"

namespace simplipy::canonical {

inline constexpr std::size_t max_polynomial_terms = 10;  // of sums that are divided or multiplied

inline bool is_polynomial_sum(const TermNode& node) { return node.kind == Kind::sum && node.n_entries > 1; }

// Whether monomials of it may cancel. With preserve, a term that may disappear must be defined nearly everywhere, and
// so must its reciprocal.
bool may_disappear(const Context& c, const Polynomial& polynomial);

TermId from_monomial(Context& c, const Monomial& monomial);

}  // namespace simplipy::canonical
