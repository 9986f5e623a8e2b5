// Powers with any exponent, and exponentials: base^u and e^u.
//
// Rational exponents that the tokens can write go to power.hpp. Constants and logarithms in an exponent come out as
// factors, powers of powers are merged where that keeps the domain. 0^u and limits of u follow the ground arithmetic of
// the mode: with extend 1/0 is inf, with preserve it is nan.
#pragma once

#include "core/simplify/canonical/context.hpp"
#include "parts.hpp"

namespace simplipy::canonical {

// Multiplies by base^exponent.
void multiply_symbolic(Context& c, Parts& parts, TermId base, TermId exponent);

// Multiplies by e^exponent.
void multiply_exponential(Context& c, Parts& parts, TermId exponent);

}  // namespace simplipy::canonical
