#include "power.hpp"

#include <algorithm>
#include <optional>

#include "core/simplify/canonical/function/absolute.hpp"
#include "core/simplify/canonical/sum/sum.hpp"
#include "core/simplify/canonical/terms/analysis.hpp"
#include "core/simplify/spell/tokens.hpp"
#include "product.hpp"
#include "root.hpp"

namespace simplipy::canonical {
namespace {

// Whether the powers of the factors are written as the power of their product again: (x*y)^2.
bool shares_exponent(const Context& c, TermId id, const Rational& exponent) {
    if (c.terms[id].kind != Kind::product || !exponent.odd_denominator()) return false;
    const std::span<const Entry> factors = c.terms.entries(id);
    return std::all_of(factors.begin(), factors.end(), [&c](const Entry& factor) {
        return !factor.is_free() && factor.ratio.absolute().is_one() && !c.terms[factor.term].has_absolute;
    });
}

bool is_shorter_as_written(Context& c, TermId id, const Rational& exponent, Parts& expanded) {
    try {
        expand(c, expanded, id, exponent);
    } catch (const Overflow&) {
        return true;
    }
    const TermId written = c.terms.product({{id, no_term, exponent}});
    return c.memory.prefers_written(written, close_product(c, expanded));
}

void append(Context& c, Parts& parts, const Parts& more) {
    parts.coefficient.multiply(more.coefficient);
    parts.content.multiply(more.content);
    parts.content_tokens += more.content_tokens;
    if (more.constant != no_term) multiply_constant(c, parts, more.constant, Rational(1));
    parts.factors.insert(parts.factors.end(), more.factors.begin(), more.factors.end());
}

// Whether roots of numbers are looked for with this exponent.
bool is_root(const Rational& exponent) {
    return !exponent.is_integer() && exponent.q < 1000 && exponent.p < 1000 && exponent.p > -1000;
}

// The number to the power, or nothing where that is irrational or beyond exact arithmetic.
std::optional<Rational> exact_power(const Rational& value, const Rational& exponent) {
    if (exponent.is_integer()) {
        const int n = exponent.small();
        return n != 0 ? integer_power(value, n) : std::nullopt;
    }
    if (!is_root(exponent)) return std::nullopt;
    const auto root = exact_root(value, static_cast<int>(exponent.q));
    return root ? integer_power(*root, static_cast<int>(exponent.p)) : std::nullopt;
}

// (k * T)^exponent and (c * T)^exponent
void multiply_multiple(Context& c, Parts& parts, TermId id, const Rational& exponent) {
    const Entry entry = c.terms.entries(id)[0];
    if (!exponent.odd_denominator()) {
        multiply_even_root(c, parts, id, exponent);
        return;
    }
    if (entry.is_free()) {
        multiply_constant(c, parts, entry.other, exponent);
        multiply(c, parts, entry.term, exponent);
        return;
    }
    if (exponent.is_one()) {
        parts.coefficient.multiply(entry.ratio);
        multiply(c, parts, entry.term, exponent);
        return;
    }
    Parts number;
    multiply_number(c, number, entry.ratio, exponent);
    if (number.factors.empty()) {
        parts.coefficient.multiply(number.coefficient);
        multiply(c, parts, entry.term, exponent);
        return;
    }
    const TermNode& term = c.terms[entry.term];
    if (term.kind == Kind::product && term.n_entries == 1) {
        const Entry power = c.terms.entries(entry.term)[0];  // (16*x^4)^(1/5) is (2*x)^(4/5)
        const int n = power.is_free() ? 0 : power.ratio.small();
        const auto root = n > 1 ? exact_root(entry.ratio, n) : std::nullopt;
        if (root) {
            parts.push(scaled(c, power.term, *root), power.ratio * exponent);
            return;
        }
    }
    // an irrational root of the coefficient stays inside: (2*x)^(1/3)
    if (entry.ratio.sign() < 0 && !exponent.even_numerator()) parts.coefficient.turn();
    parts.push(scaled(c, entry.term, entry.ratio.absolute()), exponent);
}

// (base^u)^exponent
void multiply_symbolic_power(Context& c, Parts& parts, const Entry& factor, const Rational& exponent) {
    const TermNode& base = c.terms[factor.term];
    if (exponent == Rational(-1)) {
        parts.factors.push_back(inverse_power(c, factor));
        return;
    }
    if (base.kind == Kind::constant && c.options.extend) {
        // (c^u)^2 is (c^2)^u at every u; c^(2*u) is not, for c < 0 and u = 1/2
        const Entry power{c.constants.raised(factor.term, exponent.absolute()), factor.other, 0};
        parts.factors.push_back(exponent.sign() > 0 ? power : inverse_power(c, power));
        return;
    }
    // x^c with c = 1/2 is not defined for x < 0, x^(2*c) is
    const bool may_widen =
        !c.options.extend && !(base.low >= 0.0) &&
        (c.terms.is_ground(factor.other) || may_hold_integer(c.terms.arena(), scaled(c, factor.other, exponent)));
    // (x^u)^2 is never negative, which x^(2*u) does not show
    const bool shows_sign = c.options.keep && exponent.even_integer();
    if ((exponent.is_integer() && !may_widen && !shows_sign) || is_euler(base)) {
        parts.push_power(factor.term, scaled(c, factor.other, exponent));
    } else {
        parts.push(c.terms.product({factor}), exponent);
    }
}

// An even root of a sum: its content comes out where that is an exact root.
void multiply_even_root_of_sum(Context& c, Parts& parts, TermId id, const Rational& exponent) {
    const Rational common = content(c.terms.arena(), id).absolute();
    Parts outside;
    multiply_number(c, outside, common, exponent);
    const bool comes_out = !common.is_one() && outside.factors.empty();
    if (comes_out) parts.coefficient.multiply(outside.coefficient);
    parts.push(comes_out ? scaled(c, id, reciprocal(common)) : id, exponent);
}

// The factor that is taken out of a sum before it is raised to the exponent: its content, or the sign of that.
Rational content_taken_out(Context& c, Parts& parts, TermId id, const Rational& exponent) {
    const Rational common = content(c.terms.arena(), id);
    if (common.is_unit()) return common;
    const Rational size = common.absolute();
    if (!exponent.is_one()) {
        Parts expanded;
        multiply_number(c, expanded, size, exponent);
        expanded.push(scaled(c, id, reciprocal(common)), exponent);
        const TermId written = c.terms.product({{id, no_term, exponent}});
        return c.memory.prefers_written(written, closed_as_merged(c, expanded)) ? Rational(common.sign()) : common;
    }
    const TermId primitive = scaled(c, id, reciprocal(common));
    const int more = c.terms[id].cost.plain - c.terms[primitive].cost.plain;
    if (more >= scaling(size, false).tokens) return common;
    parts.content.multiply(size);
    parts.content_tokens += more;
    return c.options.keep ? Rational(common.sign()) : common;
}

void multiply_sum(Context& c, Parts& parts, TermId id, const Rational& exponent) {
    if (!exponent.odd_denominator()) {
        multiply_even_root_of_sum(c, parts, id, exponent);
        return;
    }
    const Rational common = content_taken_out(c, parts, id, exponent);
    if (common.is_one()) {
        parts.push(id, exponent);
        return;
    }
    Parts outside;
    multiply_number(c, outside, common, exponent);
    if (!outside.factors.empty()) {  // an irrational root: only the sign comes out
        const bool negative = common.sign() < 0;
        if (negative && !exponent.even_numerator()) parts.coefficient.turn();
        parts.push(negative ? scaled(c, id, Rational(-1)) : id, exponent);
        return;
    }
    parts.coefficient.multiply(outside.coefficient);
    parts.push(scaled(c, id, reciprocal(common)), exponent);
}

}  // namespace

void multiply(Context& c, Parts& parts, TermId id, const Rational& exponent) {
    const TermNode& node = c.terms[id];
    const bool keeps_domain = !c.options.extend && node.partial;
    if (exponent.is_zero()) {
        if (keeps_domain) parts.push(id, exponent);
        return;
    }
    const bool infinite = node.low == 0.0 && node.high == 0.0 && exponent.sign() < 0 && node.kind != Kind::number;
    if (infinite || (node.high < 0.0 && !exponent.odd_denominator())) {
        c.note("defined nowhere");
        parts.push(c.terms.symbol(Op::nan), 1);
        return;
    }
    if (node.has_absolute && exponent.even_power() && node.kind != Kind::product)
        if (const TermId plain = magnitude(c, id); plain != id) {
            multiply(c, parts, plain, exponent);
            return;
        }
    const bool is_composite =
        (node.kind == Kind::product && (node.n_entries > 1 || c.terms.entries(id)[0].is_free())) || node.is_multiple();
    if (!is_composite || exponent.is_one() || exponent == Rational(-1) || shares_exponent(c, id, exponent)) {
        expand(c, parts, id, exponent);
        return;
    }
    Parts expanded;
    if (is_shorter_as_written(c, id, exponent, expanded)) {
        parts.push(id, exponent);
    } else {
        append(c, parts, expanded);
    }
}

void expand(Context& c, Parts& parts, TermId id, const Rational& exponent) {
    const TermNode& node = c.terms[id];
    if (node.kind == Kind::number) {
        multiply_number(c, parts, node.value, exponent);
    } else if (node.kind == Kind::constant) {
        multiply_constant(c, parts, id, exponent);
    } else if (node.kind == Kind::product) {
        multiply_product(c, parts, id, exponent);
    } else if (node.is_multiple()) {
        multiply_multiple(c, parts, id, exponent);
    } else if (node.kind == Kind::sum) {
        multiply_sum(c, parts, id, exponent);
    } else if (exponent.sign() < 0 && (node.is_symbol(Op::inf) || node.is_symbol(Op::neg_inf))) {
        if (c.options.extend) {
            parts.coefficient = Rational(0);
        } else {
            parts.push(c.terms.symbol(Op::nan), 1);
        }
    } else {
        parts.push(id, exponent);
    }
}

void multiply_number(Context& c, Parts& parts, const Rational& value, const Rational& exponent) {
    if (value.is_one()) return;
    if (exponent.is_one()) {
        parts.coefficient.multiply(value);
    } else if (value.is_zero()) {
        if (exponent.sign() > 0) {
            parts.coefficient = Rational(0);
        } else {  // 1/0 is an infinity that ground arithmetic carries on
            parts.push(c.terms.symbol(c.options.extend ? Op::inf : Op::nan), 1);
        }
    } else if (value.sign() < 0 && is_root(exponent) && !exponent.odd_denominator()) {
        parts.push(c.terms.symbol(Op::nan), 1);
    } else if (const auto power = exact_power(value, exponent)) {
        parts.coefficient.multiply(*power);
    } else if (value.sign() < 0 && is_root(exponent)) {
        if (!exponent.even_numerator()) parts.coefficient.turn();
        parts.push(c.terms.number(-value), exponent);
    } else {
        parts.push(c.terms.number(value), exponent);
    }
}

void multiply_product(Context& c, Parts& parts, TermId id, const Rational& exponent) {
    if (!exponent.odd_denominator()) {
        multiply_even_root(c, parts, id, exponent);
        return;
    }
    const Scratch<Entry> factors = c.terms.copied_entries(id);
    if (exponent.is_one()) {
        parts.factors.insert(parts.factors.end(), factors.begin(), factors.end());
        return;
    }
    for (const Entry& factor : factors) {
        if (factor.is_free()) {
            multiply_symbolic_power(c, parts, factor, exponent);
            continue;
        }
        if (exponent.sign() < 0) check_turn(c, factor);
        const Rational power = factor.ratio * exponent;
        const bool widens =
            !factor.ratio.odd_denominator() && power.odd_denominator() && !c.terms.is_nonnegative(factor.term);
        if (widens && !c.options.extend) {
            parts.push(c.terms.product({factor}), exponent);
        } else {
            multiply(c, parts, factor.term, power);
        }
    }
}

// Not base^(-u) where the base may be 0: 0^(-u) is defined for u < 0, 1/0^u is not.
Entry inverse_power(Context& c, const Entry& power) {
    const TermNode& base = c.terms[power.term];
    if (base.has_constant || base.has_absolute || power.term == zero_term)
        return {c.terms.product({power}), no_term, Rational(-1)};
    return {power.term, scaled(c, power.other, Rational(-1)), 0};
}

void check_turn(const Context& c, const Entry& factor) {
    if (!c.options.extend && !factor.is_free() && factor.ratio.sign() < 0 && c.terms[factor.term].has_absolute)
        throw_overflow();
}

}  // namespace simplipy::canonical
