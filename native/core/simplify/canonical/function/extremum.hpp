// The least and the greatest of some operands: nested ones are one, of equal operands one stays, and an operand goes
// that another one reaches by their bounds.
//
// Operands are closed and in canonical order. max(-a, -b) is -min(a, b): the form with fewer minus signs stands.
#pragma once

#include "core/simplify/canonical/context.hpp"

namespace simplipy::canonical {

TermId extremum(Context& c, Op op, TermId a, TermId b);

}  // namespace simplipy::canonical
