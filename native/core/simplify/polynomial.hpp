// Polynomials with rational coefficients whose indeterminates are terms; exponents are integers, also negative ones.
#pragma once

#include <optional>
#include <utility>

#include "core/base/scratch.hpp"
#include "term.hpp"

namespace simplipy {

struct Monomial {
    Rational coefficient = 1;
    Scratch<std::pair<TermId, int>> powers;  // sorted by id, exponents not 0
};

using Polynomial = Scratch<Monomial>;

// a * b^sign.
Monomial times(const Monomial& a, const Monomial& b, int sign);

// Adds monomials up where their powers agree, dropping zeros. Returns how many met another.
int collect(Polynomial& polynomial);

// The product, not collected; nothing where it has more terms than allowed.
std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b, std::size_t max_terms);

// The monomial of smallest exponents, each at most 0: divided by it, a polynomial has no negative exponents.
Monomial denominator(const Polynomial& polynomial);

// Exact quotient of polynomials without negative exponents; nothing where there is none within max_terms terms.
std::optional<Polynomial> quotient(Polynomial dividend, const Polynomial& divisor, std::size_t max_terms);

// Entry of a sum as a monomial in its bases; nothing for free coefficients and other exponents.
std::optional<Monomial> to_monomial(const Arena& arena, const Entry& entry);

// A sum as a polynomial; nothing where one of its entries is no monomial, or where there are more than allowed.
std::optional<Polynomial> to_polynomial(const Arena& arena, TermId sum, std::size_t max_terms);

// Whether a term that has variables may have one value on a set of positive measure, as x/|x|. False only where it
// cannot: without absolute values, or when with |u| as u no term of a polynomial meets another.
bool may_be_constant(const Arena& arena, TermId id);

}  // namespace simplipy
