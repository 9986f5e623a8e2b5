// Values of functions that are exact: at numbers, at multiples of pi, at infinities.
//
// Infinities follow the mode: with preserve a function of one is nan. Where the function is undefined the value is nan.
#pragma once

#include <optional>

#include "core/simplify/canonical/context.hpp"

namespace simplipy::canonical {

std::optional<TermId> special_value(Context& c, Op op, TermId argument);

}  // namespace simplipy::canonical
