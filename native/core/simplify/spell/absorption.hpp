// Coefficients that are cheaper inside a product than in front of it: 8*x^3 is (2*x)^3, (2*a - b)/2 is a - b/2.
//
// The sign of the coefficient stays outside, and the sign that is cheaper for the product stays the same.
#pragma once

#include "spell.hpp"

namespace simplipy::spelling {

struct Absorption {
    static constexpr std::uint32_t nowhere = 0xffffffffU;
    std::uint32_t entry = nowhere;  // of the product
    Rational factor = 1;            // of its base, sign included where the base is a sum
    bool into_sum = false;
    Rational rest = 1;  // of the coefficient, in front
    int saved = 0;      // tokens, against the coefficient in front

    bool any() const { return entry != nowhere; }
};

// Where the coefficient of an entry of a sum goes.
Absorption absorption(const Speller& speller, const Entry& entry);

}  // namespace simplipy::spelling
