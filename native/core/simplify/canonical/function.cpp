#include <algorithm>

#include "canonical.hpp"
#include "core/simplify/bounds.hpp"

namespace simplipy {

TermId Canonicalizer::make_function(Op op, TermId argument) {
    TermNode node;
    node.kind = Kind::function;
    node.op = op;
    node.argument = argument;
    return intern(node, {});
}

TermId Canonicalizer::function(Op op, TermId argument) {
    if (may_recall()) {
        TermNode node;
        node.kind = Kind::function;
        node.op = op;
        node.argument = argument;
        if (const TermId known = recalled(arena_.find(node, {})); known != no_term) return known;
    }
    const OwnRegrets own(regrets_);
    const TermId id = new_function(op, argument);
    const TermNode& node = arena_[id];
    if (node.kind == Kind::function && node.op == op && node.argument == argument && !regrets_) settle(id);
    return id;
}

TermId Canonicalizer::new_function(Op op, TermId argument) {
    const TermNode& inner = arena_[argument];
    if (inner.kind == Kind::constant) {
        note("function of a constant");
        std::vector<Node> definition = definition_of(argument);
        definition.push_back(Node::of(op));
        return new_constant(std::move(definition));  // without bounds: it may absorb numbers that change them
    }
    if (const auto value = special_value(op, argument)) return *value;
    const bool below_one = op == Op::acosh && inner.kind == Kind::function && inner.op == Op::tanh;
    if (below_one || is_undefined_on(op, {inner.low, inner.high})) {
        note("defined nowhere");
        return symbol(Op::nan);
    }
    if (op == Op::abs) return absolute(argument);
    if (op == Op::log) return logarithm(argument);
    if (const auto term = shifted_angle(op, argument)) return *term;
    const Parity parity = info(op).parity;
    if (parity == Parity::even)
        if (const TermId plain = magnitude(argument); plain != argument) return function(op, plain);
    if (parity != Parity::none && leading_sign(argument) < 0) {
        // (x + c)^2 - (x + c)^2 leads with a minus both ways round: terms that look alike stand in order of their signs
        if (const TermId opposite = scaled(argument, Rational(-1)); leading_sign(opposite) > 0) {
            note("parity");
            const TermId turned = function(op, opposite);
            return parity == Parity::odd ? scaled(turned, Rational(-1)) : turned;
        }
    }
    if (const auto term = apply_function_rules(op, argument)) return *term;
    return make_function(op, argument);
}

// A term of the same absolute value without the bars that do not matter to it: |sin(|u|)| is |sin(u)|.
TermId Canonicalizer::magnitude(TermId id) {
    const TermNode& node = arena_[id];
    if (!node.has_absolute) return id;
    if (node.kind == Kind::function) {
        if (node.op == Op::abs) return magnitude(node.argument);
        if (info(node.op).parity != Parity::odd) return id;
        const TermId inner = magnitude(node.argument);
        return inner == node.argument ? id : function(node.op, inner);
    }
    if (node.kind != Kind::product && !(node.kind == Kind::sum && node.n_entries == 1)) return id;
    Parts whole;
    multiply(whole, id, Rational(1));
    Parts plain;
    plain.coefficient = whole.coefficient;
    plain.constant = whole.constant;
    for (const Entry& factor : whole.factors) {
        if (!factor.is_free() && factor.ratio.odd_denominator()) {
            multiply(plain, magnitude(factor.term), factor.ratio);
        } else {
            plain.factors.push_back(factor);
        }
    }
    return close_product(std::move(plain));
}

// |a*b| is |a|*|b|; what cannot be negative needs no bars, a free coefficient absorbs its own.
TermId Canonicalizer::absolute(TermId argument) {
    const TermNode& inner = arena_[argument];
    if (inner.low >= 0.0) return argument;
    if (inner.high <= 0.0) return scaled(argument, Rational(-1));
    if (const TermId plain = magnitude(argument); plain != argument) return absolute(plain);
    if (inner.kind == Kind::product || (inner.kind == Kind::sum && inner.n_entries == 1)) {
        note("absolute value of a product");
        Parts whole;
        multiply(whole, argument, Rational(1));
        Parts parts;
        parts.coefficient = whole.coefficient.value().absolute();
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
            } else if (factor.is_free() && base.kind == Kind::constant && options_.extend) {  // |c^u| is |c|^u
                parts.factors.push_back({constant_power(factor.term, Rational(1), true), factor.other, 0});
            } else if (factor.is_free()) {
                regrets_ |= has_even_exponent(factor);
                parts.factors.push_back({make_function(Op::abs, make_product({factor})), no_term, 1});
            } else {
                multiply(parts, absolute(factor.term), factor.ratio);
            }
        }
        regrets_ |= took_logarithm_;
        const TermId product = close_product(std::move(parts));
        const TermId written =
            make_function(Op::abs, leading_sign(argument) < 0 ? scaled(argument, Rational(-1)) : argument);
        return prefer(written, product) ? written : product;
    }
    if (leading_sign(argument) < 0)
        if (const TermId opposite = scaled(argument, Rational(-1)); leading_sign(opposite) > 0)
            return absolute(opposite);
    const TermId written = make_function(Op::abs, argument);
    if (inner.kind != Kind::sum) return written;
    Rational common = content(argument);
    if (common.sign() < 0) common = -common;  // |-k*u| is k*|u|
    if (common.is_one()) return written;
    const TermId expanded = scaled(make_function(Op::abs, scaled(argument, reciprocal(common))), common);
    return prefer(written, expanded) ? written : expanded;
}

TermId Canonicalizer::logarithm(TermId argument) {
    const TermNode& inner = arena_[argument];
    if (argument == one_term) return zero_term;
    if (inner.kind == Kind::symbol && inner.op == Op::e) return one_term;
    if (const auto term = logarithm_of_multiple(argument)) return *term;
    if (inner.kind != Kind::product) return make_function(Op::log, argument);
    if (const auto term = apply_function_rules(Op::log, argument)) return *term;
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

// log(k/u) is -log(u/k), log(-u^5) is 5*log(-u).
std::optional<TermId> Canonicalizer::logarithm_of_multiple(TermId argument) {
    const TermNode& inner = arena_[argument];
    if (inner.kind != Kind::sum || inner.n_entries != 1) return std::nullopt;
    const Entry entry = arena_.entries(argument)[0];
    const TermNode& term = arena_[entry.term];
    if (term.kind != Kind::product) return std::nullopt;
    const Entry factor = arena_.entries(entry.term)[0];
    if (term.n_entries == 1 && !factor.is_free() && !entry.is_free() && factor.ratio.is_integer() &&
        !factor.ratio.even_numerator())
        if (const auto root = exact_root(entry.ratio, factor.ratio.absolute().small())) {
            const Rational scale = factor.ratio.sign() > 0 ? *root : reciprocal(*root);
            return scaled(logarithm(scaled(factor.term, scale)), factor.ratio);
        }
    if (!term.no_numerator || entry.is_free()) return std::nullopt;
    Parts inverse;
    multiply(inverse, argument, Rational(-1));
    return scaled(make_function(Op::log, close_product(std::move(inverse))), Rational(-1));
}

// sin(u + k*pi/2) and cos(u + k*pi/2) are sines or cosines of u; the tangent has the period pi.
std::optional<TermId> Canonicalizer::shifted_angle(Op op, TermId argument) {
    const TermNode& inner = arena_[argument];
    if ((op != Op::sin && op != Op::cos && op != Op::tan) || inner.kind != Kind::sum || inner.n_entries < 2)
        return std::nullopt;
    Scratch<Entry> rest(arena_.entries(argument).begin(), arena_.entries(argument).end());
    const auto shift = std::find_if(rest.begin(), rest.end(), [this](const Entry& entry) {
        return !entry.is_free() && arena_[entry.term].kind == Kind::symbol && arena_[entry.term].op == Op::pi;
    });
    if (shift == rest.end()) return std::nullopt;
    const Rational quarters = shift->ratio * Rational(2);
    if (!quarters.is_integer()) return std::nullopt;
    const auto turn = static_cast<int>((quarters.p % 4 + 4) % 4);
    if (op == Op::tan && turn % 2 == 1) return std::nullopt;
    rest.erase(shift);
    note("shift by a multiple of pi");
    const TermId angle = make_sum(rest);
    if (op == Op::tan) return function(op, angle);
    const bool is_sine = (op == Op::sin) == (turn % 2 == 0);
    const bool negative = op == Op::sin ? turn >= 2 : turn == 1 || turn == 2;
    const TermId plain = function(is_sine ? Op::sin : Op::cos, angle);
    return negative ? scaled(plain, Rational(-1)) : plain;
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
