// What costs and emission of spellings share: the plans, so that what is written is what was counted.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "spell.hpp"

namespace simplipy {

inline constexpr int impossible = 1 << 28;

// How |k| * T is written around the spelling of T.
struct Scaling {
    enum class Kind : std::uint8_t { chain, literal, ratio };
    Kind kind = Kind::chain;
    int tokens = 0;           // besides those of T
    bool takes_sign = false;  // the literal carries a minus sign
};

// Fewest tokens among multk (or divk, powk, pow1_k) whose integers multiply to n; impossible when n has other factors.
int chain_tokens(Int128 n);
void emit_chain_tokens(Int128 n, Op two, std::vector<Node>& out);

Scaling scaling(const Rational& k, bool no_numerator);

// The power m = p/q > 0 around its base: roots first, then powers.
int power_tokens(const Rational& m);
void emit_power(const Rational& m, std::vector<Node>& out);

// A number: one literal, or a quotient of two.
int number_tokens(const Rational& value);
void emit_number(const Rational& value, std::vector<Node>& out);

// Entries that share a factor, bracketed: 2*a - 2*b is 2*(a - b), 4*a + 4*b/5 is 4*(a + b/5).
struct Bracket {
    Scratch<std::uint32_t> members;  // indices of entries
    Rational scale = 1;
};

// Whether all coefficients are 1, -1 or free.
bool all_units(std::span<const Entry> entries);

// Whether at most one coefficient is none of these: then nothing can be bracketed.
bool is_plain_sum(std::span<const Entry> entries);

Scratch<Entry> divided(std::span<const Entry> entries, const Rational& content);

// The entries inside a bracket.
Scratch<Entry> bracketed(std::span<const Entry> entries, const Bracket& bracket);

// A coefficient that is cheaper inside a product than in front of it: 8*x^3 is (2*x)^3, (2*a - b)/2 is a - b/2.
struct Speller::Absorption {
    static constexpr std::uint32_t nowhere = 0xffffffffU;
    std::uint32_t entry = nowhere;  // of the product
    Rational factor = 1;            // of its base, sign included where the base is a sum
    bool into_sum = false;
    Rational rest = 1;  // of the coefficient, in front
    int saved = 0;      // tokens, against the coefficient in front

    bool any() const { return entry != nowhere; }
};

// One factor of the written product: a base with exponent 1, a symbolic power, or bases that share an exponent.
struct Speller::Item {
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
};

inline constexpr std::uint32_t no_group = 0xffffffffU;

// Entries of a product with the same |exponent|, and the group that they are written inside of.
struct Speller::Group {
    Rational exponent;
    Scratch<std::uint32_t> members;
    std::uint32_t host = no_group;
};

struct Speller::ProductPlan {
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

}  // namespace simplipy
