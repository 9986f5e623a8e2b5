// Brackets of sums: entries that share a number, 2*a - 2*b as 2*(a - b), 4*a + 4*b/5 as 4*(a + b/5).
//
// Every entry stands in one bracket, alone or with others. A bracket of several saves tokens.
#pragma once

#include <span>

#include "core/base/scratch.hpp"
#include "spell.hpp"

namespace simplipy::spelling {

struct Bracket {
    Scratch<std::uint32_t> members;  // indices of entries
    Rational scale = 1;
};

// In order of their first members.
Scratch<Bracket> coefficient_brackets(const Speller& speller, std::span<const Entry> entries);

// The entries inside a bracket.
Scratch<Entry> bracketed(std::span<const Entry> entries, const Bracket& bracket);

// The entries divided by a number, but for free coefficients.
Scratch<Entry> divided(std::span<const Entry> entries, const Rational& content);

// Whether all coefficients are 1, -1 or free.
bool all_units(std::span<const Entry> entries);

// Whether at most one coefficient is none of these: then nothing can be bracketed.
bool is_plain_sum(std::span<const Entry> entries);

}  // namespace simplipy::spelling
