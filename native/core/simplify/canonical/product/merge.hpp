// Like powers: exponents of equal bases are added up, x^2 * x^y is x^(y + 2).
//
// With preserve, powers stay apart where their sum would be defined in more places: sqrt(x) * sqrt(x) is sqrt(x)^2. In
// both modes they stay apart where it would be defined in fewer, or would be longer. Merged powers that may be more
// than a power are multiplied in anew, by power.hpp.
#pragma once

#include "core/simplify/canonical/context.hpp"
#include "parts.hpp"

namespace simplipy::canonical {

// Sorts and merges the factors, and gathers the numbers.
void merge_all_factors(Context& c, Parts& parts);

}  // namespace simplipy::canonical
