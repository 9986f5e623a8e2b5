#include "values.hpp"

#include "core/simplify/canonical/sum/sum.hpp"

namespace simplipy::canonical {
namespace {

std::optional<Rational> sine_of_twelfths(int a) {  // of pi
    const int sign = a % 24 < 12 ? 1 : -1;
    const int half = a % 12;
    if (half == 0) return Rational(0);
    if (half == 6) return Rational(sign);
    if (half == 2 || half == 10) return Rational::of(sign, 2);
    return std::nullopt;
}

std::optional<Rational> tangent_of_twelfths(int a) {
    const int half = a % 12;
    if (half == 0) return Rational(0);
    if (half == 3 || half == 9) return Rational(half == 3 ? 1 : -1);
    return std::nullopt;
}

// Sine, cosine and tangent of multiples of pi that are rational.
std::optional<Rational> value_at_angle(Context& c, Op op, TermId argument) {
    if (op != Op::sin && op != Op::cos && op != Op::tan) return std::nullopt;
    Rational turns(1);
    TermId angle = argument;
    if (c.terms[argument].is_multiple()) {
        const Entry& entry = c.terms.entries(argument)[0];
        if (entry.is_free()) return std::nullopt;
        turns = entry.ratio;
        angle = entry.term;
    }
    if (!c.terms[angle].is_symbol(Op::pi)) return std::nullopt;
    const Rational twelfths = turns * Rational(12);
    if (!twelfths.is_integer() || (op == Op::tan && turns.q == 2)) return std::nullopt;
    const int a = static_cast<int>((twelfths.p % 24 + 24) % 24);
    if (op == Op::tan) return tangent_of_twelfths(a);
    return sine_of_twelfths(op == Op::sin ? a : a + 6);
}

TermId value_at_infinity(Context& c, Op op, TermId infinity) {
    const TermNode& inner = c.terms[infinity];
    if (inner.op == Op::nan || !c.options.extend) return c.terms.symbol(Op::nan);
    const bool positive = inner.op == Op::inf;
    switch (op) {
        case Op::abs:
        case Op::cosh:
            return c.terms.symbol(Op::inf);
        case Op::sinh:
        case Op::asinh:
            return infinity;
        case Op::log:
        case Op::acosh:
            return positive ? infinity : c.terms.symbol(Op::nan);
        case Op::tanh:
        case Op::erf:
            return c.terms.number(positive ? 1 : -1);
        case Op::atan:
            return scaled(c, c.terms.symbol(Op::pi), Rational::of(positive ? 1 : -1, 2));
        default:
            return c.terms.symbol(Op::nan);
    }
}

// asin and acos
std::optional<TermId> inverse_at_number(Context& c, Op op, const Rational& value) {
    if (Rational(1) < value.absolute()) return c.terms.symbol(Op::nan);
    const TermId pi = c.terms.symbol(Op::pi);
    const auto half_pi = [&](int sign) { return scaled(c, pi, Rational::of(sign, 2)); };
    if (value.is_zero()) return op == Op::asin ? zero_term : half_pi(1);
    if (value.is_one()) return op == Op::asin ? half_pi(1) : zero_term;
    if (value == Rational(-1)) return op == Op::asin ? half_pi(-1) : pi;
    return std::nullopt;
}

TermId atanh_beyond(Context& c, const Rational& value) {
    if (!value.absolute().is_one() || !c.options.extend) return c.terms.symbol(Op::nan);
    return c.terms.symbol(value.sign() > 0 ? Op::inf : Op::neg_inf);
}

std::optional<TermId> value_at_number(Context& c, Op op, const Rational& value) {
    switch (op) {
        case Op::cos:
        case Op::cosh:
            return value.is_zero() ? std::optional(one_term) : std::nullopt;
        case Op::asin:
        case Op::acos:
            return inverse_at_number(c, op, value);
        case Op::atan:
            if (value.is_zero()) return zero_term;
            if (value.is_unit()) return scaled(c, c.terms.symbol(Op::pi), Rational::of(value.sign(), 4));
            return std::nullopt;
        case Op::acosh:
            if (value < Rational(1)) return c.terms.symbol(Op::nan);
            return value.is_one() ? std::optional(zero_term) : std::nullopt;
        case Op::atanh:
            if (value.is_zero()) return zero_term;
            return value.absolute() < Rational(1) ? std::nullopt : std::optional(atanh_beyond(c, value));
        case Op::log:
            if (value.sign() > 0) return std::nullopt;
            return c.terms.symbol(value.is_zero() && c.options.extend ? Op::neg_inf : Op::nan);
        default:  // an odd function is 0 at 0
            return info(op).parity == Parity::odd && value.is_zero() ? std::optional(zero_term) : std::nullopt;
    }
}

}  // namespace

std::optional<TermId> special_value(Context& c, Op op, TermId argument) {
    const TermNode& inner = c.terms[argument];
    if (inner.is_symbol(Op::nan) || inner.is_symbol(Op::inf) || inner.is_symbol(Op::neg_inf))
        return value_at_infinity(c, op, argument);
    if (const auto value = value_at_angle(c, op, argument)) return c.terms.number(*value);
    if (inner.kind != Kind::number) return std::nullopt;
    return value_at_number(c, op, inner.value);
}

}  // namespace simplipy::canonical
