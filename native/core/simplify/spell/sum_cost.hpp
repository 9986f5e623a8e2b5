// Tokens of sums and their entries, as they are and turned to their negatives.
//
// Each entry of a sum is added or subtracted as it is cheaper, but the first must stand as it is; a sum of negatives
// only has one minus sign in front of the whole.
#pragma once

#include <span>

#include "brackets.hpp"
#include "core/base/scratch.hpp"
#include "spell.hpp"

namespace simplipy::spelling {

struct Scale {
    int plain;
    int negative;

    static Scale of(const Cost& cost) { return {cost.plain, cost.negative}; }
    int least() const { return plain < negative ? plain : negative; }
    Scale turned(bool turns) const { return turns ? Scale{negative, plain} : *this; }
};

Scale entry_cost(const Speller& speller, const Entry& entry);

// A sum of any entries.
Scale sum_cost(const Speller& speller, std::span<const Entry> entries);

// A sum whose entries are written one by one.
Scale plain_sum_cost(const Speller& speller, std::span<const Entry> entries);

// One item a bracket.
Scratch<Scale> bracket_costs(const Speller& speller, std::span<const Entry> entries, const Scratch<Bracket>& brackets);

// A multiple of a logarithm as the logarithm of a power: 2*log(|u|) is log(u^2), log(u^4)/2 too.
struct LogOfPower {
    TermId base = no_term;  // none: not written so
    Rational scale = 1;     // of the base
    Rational exponent = 1;  // > 0
    int tokens = 0;

    bool any() const { return base != no_term; }
};

LogOfPower log_of_power(const Speller& speller, const Entry& entry);

}  // namespace simplipy::spelling
