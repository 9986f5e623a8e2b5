// Intervals: which values an operator takes on intervals of its operands, and whether it is defined there.
//
// An interval holds two things, by induction over the operators: the real number that a term is worth wherever it is
// defined, and the double that the evaluator computes for it. A bound is infinite where either may lie beyond the
// doubles. An overflow that doubles carry on to the right value is none: 1/(1 + exp(800)) is 0; one that leaves no
// value, as inf - inf does, takes the definedness away.
#pragma once

#include <cstdint>

#include "core/expression/tree.hpp"

namespace simplipy {

// Whether a term is defined at the points of a box, and has a value in doubles; "maybe" also means "at some".
enum class Defined : std::uint8_t { nowhere, maybe, everywhere };

struct Interval {
    double low;
    double high;
    Defined defined = Defined::everywhere;

    bool holds(double x) const { return low <= x && x <= high; }
    bool is_point() const { return low == high; }
    bool is_bounded() const;
};

// A leaf that is no variable; a free constant may be any number.
Interval leaf_interval(const Node& node);

Interval apply(Op op, const Interval& a);
Interval apply(Op op, const Interval& a, const Interval& b);

// On which of its branches, between two poles, the tangent of these numbers is; NaN where there may be a pole.
double tangent_branch(const Interval& a);

}  // namespace simplipy
