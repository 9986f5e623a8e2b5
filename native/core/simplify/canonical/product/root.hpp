// Even roots of products and of k * T: factors that cannot be negative come out, the others stay together, as a root of
// each alone would be defined in fewer places.
//
// The sign of what comes out is kept by bars: sqrt(x^2) is |x|. Powers of the factors that come out are left to
// power.hpp.
#pragma once

#include "core/simplify/canonical/context.hpp"
#include "parts.hpp"

namespace simplipy::canonical {

// Multiplies by the power of a product or of k * T, whose exponent has an even denominator.
void multiply_even_root(Context& c, Parts& parts, TermId id, const Rational& exponent);

// Whether a power with a symbolic exponent may come from an even power, (x^u)^2.
bool has_even_exponent(const Context& c, const Entry& power);

}  // namespace simplipy::canonical
