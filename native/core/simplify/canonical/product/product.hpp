// Products: open ones are Parts, closed ones terms.
//
// A closed product has no base twice but where merging would change its domain, one number and one free constant in
// front, which takes in all that is ground. Rules were applied, and polynomial factors cancelled where that is shorter.
// The module power.hpp says how a factor enters, and merge.hpp joins powers.
#pragma once

#include "core/simplify/canonical/context.hpp"
#include "parts.hpp"

namespace simplipy::canonical {

TermId close_product(Context& c, Parts parts);

// The coefficient and constant times the term.
TermId with_coefficient(Context& c, const Parts& parts, TermId term);

// The product of the parts as they are: merged already, and nothing is rewritten.
TermId closed_as_merged(Context& c, const Parts& parts);

// One coefficient. A free constant takes in the numbers that do not fit together.
void gather_numbers(Context& c, Parts& parts);

void multiply_constant(Context& c, Parts& parts, TermId constant, const Rational& exponent);

}  // namespace simplipy::canonical
