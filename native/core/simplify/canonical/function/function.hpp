// Functions of one argument: parity, shifts by the period, rules.
//
// The argument is closed. Values at numbers are left to values.hpp, |u| to absolute.hpp, log to logarithm.hpp; e^u is a
// power, and no function here.
#pragma once

#include "core/simplify/canonical/context.hpp"

namespace simplipy::canonical {

TermId function(Context& c, Op op, TermId argument);

}  // namespace simplipy::canonical
