#include <algorithm>

#include "canonical.hpp"

namespace simplipy {

namespace {

// Whether no value between these bounds has a result.
bool is_undefined_on(Op op, double low, double high) {
    switch (op) {
        case Op::log:
            return high < 0.0;
        case Op::acosh:
            return high < 1.0;
        case Op::asin:
        case Op::acos:
        case Op::atanh:
            return low > 1.0 || high < -1.0;
        default:
            return false;
    }
}

}  // namespace

TermId Canonicalizer::make_function(Op op, TermId argument) {
    TermNode node;
    node.kind = Kind::function;
    node.op = op;
    node.argument = argument;
    return intern(node, {});
}

TermId Canonicalizer::function(Op op, TermId argument) {
    const TermNode& inner = arena_[argument];
    if (inner.kind == Kind::constant) {
        note("function of a constant");
        std::vector<Node> definition = definition_of(argument);
        definition.push_back(Node::of(op));
        return new_constant(std::move(definition));
    }
    if (const auto value = special_value(op, argument)) return *value;
    if (is_undefined_on(op, inner.low, inner.high)) {
        note("defined nowhere");
        return symbol(Op::nan);
    }
    if (op == Op::abs) return absolute(argument);
    if (op == Op::log) return logarithm(argument);
    const Parity parity = info(op).parity;
    if (parity == Parity::even && inner.kind == Kind::function && inner.op == Op::abs)
        return function(op, inner.argument);
    if (parity != Parity::none && leading_sign(argument) < 0) {
        note("parity");
        const TermId turned = function(op, scaled(argument, Rational(-1)));
        return parity == Parity::odd ? scaled(turned, Rational(-1)) : turned;
    }
    if (const auto term = apply_function_rules(op, argument)) return *term;
    return make_function(op, argument);
}

// |a*b| is |a|*|b|; what cannot be negative needs no bars, a free coefficient absorbs its own.
TermId Canonicalizer::absolute(TermId argument) {
    const TermNode& inner = arena_[argument];
    if (inner.low >= 0.0) return argument;
    if (inner.high <= 0.0) return scaled(argument, Rational(-1));
    if (inner.kind == Kind::product || (inner.kind == Kind::sum && inner.n_entries == 1)) {
        note("absolute value of a product");
        Parts whole;
        multiply(whole, argument, Rational(1));
        Parts parts;
        parts.coefficient = whole.coefficient.absolute();
        if (whole.constant != no_term) {
            std::vector<Node> definition = definition_of(whole.constant);
            definition.push_back(Node::of(Op::abs));
            parts.constant = new_constant(std::move(definition));
        }
        for (const Entry& factor : whole.factors) {
            const TermNode& base = arena_[factor.term];
            const bool nonnegative =
                base.low >= 0.0 ||
                (!factor.is_free() && (factor.ratio.even_power() || !factor.ratio.odd_denominator()));
            if (nonnegative) {
                parts.factors.push_back(factor);
            } else if (factor.is_free()) {
                parts.factors.push_back({make_function(Op::abs, make_product({factor})), no_term, 1});
            } else {
                multiply(parts, absolute(factor.term), factor.ratio);
            }
        }
        return close_product(std::move(parts));
    }
    if (leading_sign(argument) < 0) return absolute(scaled(argument, Rational(-1)));
    return make_function(Op::abs, argument);
}

TermId Canonicalizer::logarithm(TermId argument) {
    const TermNode& inner = arena_[argument];
    if (argument == one_term) return zero_term;
    if (inner.kind == Kind::symbol && inner.op == Op::e) return one_term;
    if (inner.kind != Kind::product) return make_function(Op::log, argument);
    const Scratch<Entry> factors(arena_.entries(argument).begin(), arena_.entries(argument).end());
    Scratch<Entry> sum;
    Scratch<Entry> rest;
    for (const Entry& factor : factors) {  // log(e^u * v) is u + log v
        const TermNode& base = arena_[factor.term];
        if (base.kind == Kind::symbol && base.op == Op::e) {
            add(sum, factor.is_free() ? factor.other : number(factor.ratio), Rational(1));
        } else {
            rest.push_back(factor);
        }
    }
    if (!sum.empty()) {
        note("logarithm of an exponential");
        if (!rest.empty()) add(sum, logarithm(make_product(rest)), Rational(1));
        return close_sum(std::move(sum));
    }
    if (factors.size() == 1 && factors[0].is_free() &&
        arena_[factors[0].term].kind == Kind::constant) {  // log(c^u) is d*u
        std::vector<Node> definition = definition_of(factors[0].term);
        definition.push_back(Node::of(Op::log));
        Parts parts;
        parts.constant = new_constant(std::move(definition));
        multiply(parts, factors[0].other, Rational(1));
        return close_product(std::move(parts));
    }
    if (factors.size() == 1 && !factors[0].is_free() && !factors[0].ratio.even_power()) {
        // an odd power is positive where its base is
        return scaled(logarithm(factors[0].term), factors[0].ratio);
    }
    if (!factors[0].is_free() && factors[0].ratio.sign() < 0) {  // log(1/u) is -log(u)
        Parts inverse;
        multiply(inverse, argument, Rational(-1));
        return scaled(make_function(Op::log, close_product(std::move(inverse))), Rational(-1));
    }
    return make_function(Op::log, argument);
}

// Sine, cosine and tangent of multiples of pi that are rational.
std::optional<TermId> Canonicalizer::value_at_angle(Op op, TermId argument) {
    if (op != Op::sin && op != Op::cos && op != Op::tan) return std::nullopt;
    const TermNode& inner = arena_[argument];
    const auto is_pi = [this](TermId id) { return arena_[id].kind == Kind::symbol && arena_[id].op == Op::pi; };
    Rational turns(1);
    if (inner.kind == Kind::sum && inner.n_entries == 1 && !arena_.entries(argument)[0].is_free() &&
        is_pi(arena_.entries(argument)[0].term)) {
        turns = arena_.entries(argument)[0].ratio;
    } else if (!is_pi(argument)) {
        return std::nullopt;
    }
    const Rational twelfths = turns * Rational(12);
    if (!twelfths.is_integer() || (op == Op::tan && turns.q == 2)) return std::nullopt;
    const int angle = static_cast<int>((twelfths.p % 24 + 24) % 24);  // in twelfths of pi
    const auto sine = [](int a) -> std::optional<Rational> {
        const int sign = a % 24 < 12 ? 1 : -1;
        const int half = a % 12;
        if (half == 0) return Rational(0);
        if (half == 6) return Rational(sign);
        if (half == 2 || half == 10) return Rational::of(sign, 2);
        return std::nullopt;
    };
    if (op == Op::tan) {
        const int half = angle % 12;
        if (half == 0) return zero_term;
        if (half == 3 || half == 9) return number(half == 3 ? 1 : -1);
        return std::nullopt;
    }
    const auto value = sine(op == Op::sin ? angle : angle + 6);
    return value ? std::optional(number(*value)) : std::nullopt;
}

std::optional<TermId> Canonicalizer::special_value(Op op, TermId argument) {
    const TermNode& inner = arena_[argument];
    if (inner.kind == Kind::symbol && (inner.op == Op::nan || inner.op == Op::inf || inner.op == Op::neg_inf)) {
        if (inner.op == Op::nan || !options_.extend) return symbol(Op::nan);
        const bool positive = inner.op == Op::inf;
        const TermId infinite = symbol(inner.op);
        switch (op) {
            case Op::abs:
            case Op::cosh:
                return symbol(Op::inf);
            case Op::sinh:
            case Op::asinh:
                return infinite;
            case Op::log:
            case Op::acosh:
                return positive ? infinite : symbol(Op::nan);
            case Op::tanh:
                return number(positive ? 1 : -1);
            case Op::atan:
                return scaled(symbol(Op::pi), Rational::of(positive ? 1 : -1, 2));
            default:
                return symbol(Op::nan);
        }
    }
    if (const auto value = value_at_angle(op, argument)) return value;
    if (inner.kind != Kind::number) return std::nullopt;
    const Rational value = inner.value;
    const bool outside = value.absolute() == Rational(1) ? false : Rational(1) < value.absolute();
    switch (op) {
        case Op::sin:
        case Op::tan:
        case Op::sinh:
        case Op::tanh:
        case Op::asinh:
            if (value.is_zero()) return zero_term;
            break;
        case Op::cos:
        case Op::cosh:
            if (value.is_zero()) return one_term;
            break;
        case Op::asin:
        case Op::acos: {
            if (outside) return symbol(Op::nan);
            const TermId half_pi = scaled(symbol(Op::pi), Rational::of(1, 2));
            if (value.is_zero()) return op == Op::asin ? zero_term : half_pi;
            if (value.is_one()) return op == Op::asin ? half_pi : zero_term;
            if (value == Rational(-1)) return op == Op::asin ? scaled(half_pi, Rational(-1)) : symbol(Op::pi);
            break;
        }
        case Op::atan:
            if (value.is_zero()) return zero_term;
            if (value.absolute().is_one()) return scaled(symbol(Op::pi), Rational::of(value.sign(), 4));
            break;
        case Op::acosh:
            if (value < Rational(1)) return symbol(Op::nan);
            if (value.is_one()) return zero_term;
            break;
        case Op::atanh:
            if (value.is_zero()) return zero_term;
            if (outside) return symbol(Op::nan);
            if (value.absolute().is_one())
                return symbol(!options_.extend ? Op::nan : (value.sign() > 0 ? Op::inf : Op::neg_inf));
            break;
        case Op::log:
            if (value.sign() < 0) return symbol(Op::nan);
            if (value.is_zero()) return symbol(options_.extend ? Op::neg_inf : Op::nan);
            break;
        default:
            break;
    }
    return std::nullopt;
}

}  // namespace simplipy
