// Intervals: which values a function or a power takes on an interval, rounded outwards.
//
// A bound that is pi or pi/2 is written as the nearest double and means the number itself.
#pragma once

#include "core/base/rational.hpp"
#include "core/expression/ops.hpp"

namespace simplipy {

struct Bounds {
    double low;
    double high;
};

// Values of a function where its argument lies in the interval and the function is defined.
Bounds image(Op function, Bounds argument);

// Values of base ^ exponent for a base that is not negative.
Bounds power_image(Bounds base, const Rational& exponent);
Bounds power_image(Bounds base, Bounds exponent);

// Product of intervals of numbers that are not negative.
Bounds times(Bounds a, Bounds b);

// Whether the function has no result on the interval.
bool is_undefined_on(Op function, Bounds argument);

}  // namespace simplipy
