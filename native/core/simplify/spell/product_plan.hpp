// How a product is written: its factors above and below the line, and those that share an exponent in one power.
//
// An item's sign is turned where that is cheaper; the parity of the turned ones decides whether a minus sign is left.
// Most products need no plan: in a simple one at most one factor has another exponent than 1 and -1.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <span>

#include "core/base/scratch.hpp"
#include "spell.hpp"
#include "sum_cost.hpp"
#include "tokens.hpp"

namespace simplipy::spelling {

// One factor of the written product: a base with exponent 1, a symbolic power, or bases that share an exponent.
struct Item {
    bool denominator = false;
    int plain = 0;
    int negative = impossible;
    Rational exponent = 1;
    bool merged_absolute = false;       // |a| * |b| as |a * b|
    Scratch<std::uint32_t> numerators;  // indices of entries
    Scratch<std::uint32_t> denominators;
    Scratch<Item> units;  // of a shared exponent: the items inside
    Rational scale = 1;   // number that multiplies them: sqrt(2*x), never sqrt(2)*sqrt(x)

    bool cheaper_turned() const { return negative < plain; }
    Scratch<std::uint32_t>& side(bool below) { return below ? denominators : numerators; }
};

struct ProductPlan {
    Scratch<Item> items;
    int n_numerators = 0;
    int n_denominators = 0;
    int total = 0;          // tokens of all items, each at its cheaper sign
    int parity = 0;         // of the items that are cheaper turned
    int turn = impossible;  // cheapest change of parity

    int plain() const { return total + (parity ? turn : 0); }
    int negative() const { return std::min(total + (parity ? 0 : turn), plain() + 1); }
    int joints() const { return n_numerators + n_denominators - 1; }

    void append(Item item) {
        (item.denominator ? n_denominators : n_numerators)++;
        total += std::min(item.plain, item.negative);
        if (item.cheaper_turned()) parity ^= 1;
        turn = std::min(turn, std::abs(item.negative - item.plain));
        items.push_back(std::move(item));
    }
};

ProductPlan plan_product(const Speller& speller, std::span<const Entry> factors);

bool is_simple(const Speller& speller, std::span<const Entry> factors);

// Tokens of a factor of a simple product above or below the line, and of its negative.
Scale factor_cost(const Speller& speller, const Entry& factor);

// Whether the product is a power whose reciprocal has the negative exponent.
bool turns_exponent(const Speller& speller, std::span<const Entry> factors);

// Sets cost and no_numerator of a product.
void set_product_cost(const Speller& speller, TermNode& node, std::span<const Entry> factors);

}  // namespace simplipy::spelling
