// How numbers, multiples and powers are written in the paper's tokens: multk, divk, powk and pow1_k for k to 5 in
// chains, literals elsewhere.
//
// The counts agree with the output: for each count there is a function that writes as many tokens.
#pragma once

#include <vector>

#include "core/base/rational.hpp"
#include "core/expression/tree.hpp"

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

// `no_numerator`: T is 1/..., which takes a literal for its numerator.
Scaling scaling(const Rational& k, bool no_numerator);

// The power m = p/q > 0 around its base: roots first, then powers.
int power_tokens(const Rational& m);
void emit_power(const Rational& m, std::vector<Node>& out);

// A number: one literal, or a quotient of two.
int number_tokens(const Rational& value);
void emit_number(const Rational& value, std::vector<Node>& out);

}  // namespace simplipy
