// Absolute values: |a*b| is |a|*|b|, what cannot be negative has no bars, and bars that do not matter go.
//
// |u| is equal to what it becomes wherever u is defined, in both modes.
#pragma once

#include "core/simplify/canonical/context.hpp"

namespace simplipy::canonical {

TermId absolute(Context& c, TermId argument);

// A term of the same absolute value without the bars that do not matter to it: |sin(|u|)| is |sin(u)|.
TermId magnitude(Context& c, TermId id);

}  // namespace simplipy::canonical
