// Logarithms: exponentials, odd powers and reciprocals come out of them.
//
// log(u^2) stays, as 2*log(u) would be defined in fewer places. Sums of logarithms are left to sum.hpp.
#pragma once

#include "core/simplify/canonical/context.hpp"

namespace simplipy::canonical {

TermId logarithm(Context& c, TermId argument);

}  // namespace simplipy::canonical
