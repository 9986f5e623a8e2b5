// Common factors of sums: a*x + a*y is a*(x + y).
//
// A factor is taken out only where the sum becomes shorter. It tries the bases that most terms share, and leaves the
// sums inside and outside of the bracket to sum.hpp.
#pragma once

#include "core/simplify/canonical/context.hpp"

namespace simplipy::canonical {

// Takes one base out of the terms that share it, if the sum becomes shorter by that.
bool factor_once(Context& c, Scratch<Entry>& list);

}  // namespace simplipy::canonical
