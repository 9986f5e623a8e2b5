#include "tokens.hpp"

#include <algorithm>

namespace simplipy {

int chain_tokens(Int128 number) {
    // fewest factors 2, 3, 4, 5 of 1 to 16; 0 where there are others
    static constexpr std::int8_t small[17] = {0, 0, 1, 1, 1, 1, 2, 0, 2, 2, 2, 0, 2, 0, 0, 2, 2};
    if (number == 1) return 0;
    if (number > 1 && number <= 16) return small[number] == 0 ? impossible : small[number];
    if (number <= 0 || number > INT64_MAX) return impossible;  // 128-bit division is slow
    auto n = static_cast<std::uint64_t>(number);
    int twos = 0;
    int tokens = 0;
    for (; n % 2 == 0; n /= 2) ++twos;
    for (; n % 3 == 0; n /= 3) ++tokens;
    for (; n % 5 == 0; n /= 5) ++tokens;
    return n == 1 ? tokens + (twos + 1) / 2 : impossible;
}

void emit_chain_tokens(Int128 number, Op two, std::vector<Node>& out) {
    if (chain_tokens(number) >= impossible) throw_overflow();
    auto n = static_cast<std::uint64_t>(number);
    const auto write = [&](int k) { out.push_back(Node::of(*sibling(two, k))); };
    for (; n % 5 == 0; n /= 5) write(5);
    for (; n % 3 == 0; n /= 3) write(3);
    for (; n % 4 == 0; n /= 4) write(4);
    if (n % 2 == 0) write(2);
}

Scaling scaling(const Rational& k, bool no_numerator) {
    if (k.is_zero()) return {Scaling::Kind::literal, no_numerator ? 1 : 2, true};
    const int p_chain = chain_tokens(k.p);
    const int q_chain = chain_tokens(k.q);
    Scaling best;
    best.tokens = std::min(p_chain + q_chain, impossible);
    if (best.tokens <= 1) return best;
    const int literal = no_numerator ? 1 : 2;  // 7*(1/x) is 7/x
    if (literal < best.tokens && to_decimal(k)) best = {Scaling::Kind::literal, literal, true};
    const bool p_is_one = k.p == 1;
    const int ratio = (p_is_one ? 0 : literal) + std::min(q_chain, 2);
    if (ratio < best.tokens) best = {Scaling::Kind::ratio, ratio, !p_is_one};
    return best;
}

int power_tokens(const Rational& m) {
    if (m.is_zero()) return 2;
    const int p_chain = chain_tokens(m.p);
    const int chain = std::min(p_chain, 2) + chain_tokens(m.q);
    return chain > 2 && m.q % 2 == 0 && to_decimal(m) ? 2 : chain;
}

void emit_power(const Rational& m, std::vector<Node>& out) {
    if (m.is_zero()) {  // 1 where the base is defined
        emit_number(m, out);
        out.push_back(Node::of(Op::pow));
        return;
    }
    const int p_chain = chain_tokens(m.p);
    const int chain = std::min(p_chain, 2) + chain_tokens(m.q);
    const auto decimal = to_decimal(m);
    if (chain > 2 && m.q % 2 == 0 && decimal) {  // a real power: needs a base >= 0, as the even root does
        out.push_back(Node::number(*decimal));
        out.push_back(Node::of(Op::pow));
        return;
    }
    emit_chain_tokens(m.q, Op::root2, out);
    if (p_chain <= 2) {
        emit_chain_tokens(m.p, Op::pow2, out);
    } else {
        emit_number(Rational::reduced(m.p, 1), out);
        out.push_back(Node::of(Op::pow));
    }
}

int number_tokens(const Rational& value) {
    if (to_decimal(value)) return 1;
    return 1 + std::min(chain_tokens(value.q), 2);
}

namespace {

// An integer of more than 17 digits as a sum of literals: definitions of constants need it, results refuse it as longer
// than what was counted.
void emit_integer(Int128 value, std::vector<Node>& out) {
    if (const auto decimal = to_decimal(Rational::reduced(value, 1))) {
        out.push_back(Node::number(*decimal));
        return;
    }
    constexpr std::int64_t limb = 10000000000000000;
    emit_integer(value / limb, out);
    out.push_back(Node::number({1, 16}));
    out.push_back(Node::of(Op::mul));
    emit_integer(value % limb, out);
    out.push_back(Node::of(Op::add));
}

}  // namespace

void emit_number(const Rational& value, std::vector<Node>& out) {
    if (const auto decimal = to_decimal(value)) {
        out.push_back(Node::number(*decimal));
        return;
    }
    emit_integer(value.p, out);
    if (chain_tokens(value.q) <= 2) {
        emit_chain_tokens(value.q, Op::div2, out);
    } else {
        emit_integer(value.q, out);
        out.push_back(Node::of(Op::div));
    }
}

}  // namespace simplipy
