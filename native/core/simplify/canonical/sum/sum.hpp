// Sums: open ones are lists of entries, closed ones terms.
//
// A closed sum is sorted and merged: no term twice, no 0, one constant for all that is ground. Rules were applied, and
// it was factored or multiplied out where that is shorter. What a term of it looks like inside is left to product.hpp
// and function.hpp.
#pragma once

#include "core/simplify/canonical/context.hpp"

namespace simplipy::canonical {

// Appends ratio * term, a sum entry by entry.
void add(Context& c, Scratch<Entry>& list, TermId id, const Rational& ratio);

// Sorts, adds up equal terms, drops zeros.
void merge_terms(Context& c, Scratch<Entry>& list);

TermId close_sum(Context& c, Scratch<Entry> list);

// ratio * term, for a term that is closed.
TermId scaled(Context& c, TermId id, const Rational& ratio);

}  // namespace simplipy::canonical
