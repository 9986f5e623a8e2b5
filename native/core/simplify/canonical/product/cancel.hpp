// Polynomial factors that cancel: (x^2 - y^2)/(x - y) is x + y.
//
// Done only where the product becomes shorter. With preserve, what cancels is defined nearly everywhere. The polynomial
// arithmetic is that of core/simplify/polynomial.hpp.
#pragma once

#include "core/simplify/canonical/context.hpp"
#include "parts.hpp"

namespace simplipy::canonical {

// One exact division of a sum in the numerator by one in the denominator, if the product becomes shorter.
bool cancel_polynomials(Context& c, Parts& parts);

}  // namespace simplipy::canonical
