// Powers with rational exponents: what a factor becomes when it is multiplied into an open product.
//
// A power of a product, a sum or a number is taken apart where the result is as wide in its domain as the mode asks
// for, and, with `keep`, not longer than as written. Even roots are left to root.hpp, other exponents to symbolic.hpp;
// nothing is merged with what the product has already, which merge.hpp does.
#pragma once

#include "core/simplify/canonical/context.hpp"
#include "parts.hpp"

namespace simplipy::canonical {

// Multiplies by term^exponent.
void multiply(Context& c, Parts& parts, TermId id, const Rational& exponent);

// The same, never as written.
void expand(Context& c, Parts& parts, TermId id, const Rational& exponent);

void multiply_number(Context& c, Parts& parts, const Rational& value, const Rational& exponent);

// Multiplies by the power of a term of kind product.
void multiply_product(Context& c, Parts& parts, TermId id, const Rational& exponent);

// 1 / base^u, for a power with a symbolic exponent.
Entry inverse_power(Context& c, const Entry& power);

// Refuses to turn the exponent of a factor that may vanish on more than a null set: 1/(1/u) is u but there.
void check_turn(const Context& c, const Entry& factor);

}  // namespace simplipy::canonical
