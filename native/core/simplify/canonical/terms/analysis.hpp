// Facts about a term that follow from its parts: variables, bounds, where it may be undefined or constant; and
// questions whose answers it is too costly to store.
//
// Reads the arena alone, and never makes a term. Bounds are rounded outwards and hold wherever the term is defined.
#pragma once

#include <cstdint>
#include <map>

#include "core/simplify/canonical/options.hpp"
#include "core/simplify/term.hpp"

namespace simplipy::canonical {

// Fills in what is derived of a new node of the arena, but for its cost. `ranges`: of variables, or nullptr.
void analyse(const Arena& arena, TermNode& node, const std::map<std::int64_t, Range>* ranges);

// Whether the term may be 0 on a set of positive measure, as x + |x|.
bool may_vanish(const Arena& arena, TermId id);

// Whether the term may be an integer on a set of positive measure, as x/|x| and, where preserve keeps it, 2 + 0*log(x).
// A power with such an exponent is defined for negative bases there.
bool may_hold_integer(const Arena& arena, TermId id);

// -1 for negative numbers and sums whose first number is negative, else 1.
int leading_sign(const Arena& arena, TermId id);

// The rational that a sum is divided by to become primitive: its coefficients are integers without common factor, or
// decimals where these would be long; the first one is positive. Free coefficients follow any scaling.
Rational content(const Arena& arena, TermId sum);

inline bool is_euler(const TermNode& node) { return node.is_symbol(Op::e); }

}  // namespace simplipy::canonical
