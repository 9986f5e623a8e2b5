// Powers: what a factor becomes when it is multiplied into a product with an exponent.

#include <algorithm>

#include "canonical.hpp"
#include "core/simplify/spell/plan.hpp"

namespace simplipy {
namespace {

// Denominators that root tokens can write; x^(1/7) has no sign-aware root and stays a real power.
bool is_root_degree(Int128 q) {
    for (const int factor : {2, 3, 5})
        while (q % factor == 0) q /= factor;
    return q == 1;
}

bool is_exponential(const TermNode& base) { return base.kind == Kind::symbol && base.op == Op::e; }

}  // namespace

// Multiplies by term^exponent.
void Canonicalizer::multiply(Parts& parts, TermId id, const Rational& exponent) {
    const TermNode& node = arena_[id];
    const bool keeps_domain = !options_.extend && node.partial;
    if (exponent.is_zero()) {
        if (keeps_domain) parts.factors.push_back({id, no_term, exponent});
        return;
    }
    const bool infinite = node.low == 0.0 && node.high == 0.0 && exponent.sign() < 0 && node.kind != Kind::number;
    if (infinite || (node.high < 0.0 && !exponent.odd_denominator())) {
        note("defined nowhere");
        parts.factors.push_back({symbol(Op::nan), no_term, 1});
        return;
    }
    if (node.has_absolute && exponent.even_power() && node.kind != Kind::product)
        if (const TermId plain = magnitude(id); plain != id) {
            multiply(parts, plain, exponent);
            return;
        }
    const bool is_composite = (node.kind == Kind::product && (node.n_entries > 1 || arena_.entries(id)[0].is_free())) ||
                              (node.kind == Kind::sum && node.n_entries == 1);
    if (!is_composite || exponent.is_one() || exponent == Rational(-1) || shares_exponent(id, exponent)) {
        expand(parts, id, exponent);
        return;
    }
    Parts expanded;
    if (is_shorter_as_written(id, exponent, expanded)) {
        parts.factors.push_back({id, no_term, exponent});
        return;
    }
    parts.coefficient.multiply(expanded.coefficient);
    parts.content.multiply(expanded.content);
    parts.content_tokens += expanded.content_tokens;
    if (expanded.constant != no_term) multiply_constant(parts, expanded.constant, Rational(1));
    parts.factors.insert(parts.factors.end(), expanded.factors.begin(), expanded.factors.end());
}

// Whether the powers of the factors are written as the power of their product again: (x*y)^2.
bool Canonicalizer::shares_exponent(TermId id, const Rational& exponent) const {
    if (arena_[id].kind != Kind::product || !exponent.odd_denominator()) return false;
    const std::span<const Entry> factors = arena_.entries(id);
    return std::all_of(factors.begin(), factors.end(), [this](const Entry& factor) {
        return !factor.is_free() && factor.ratio.absolute().is_one() && !arena_[factor.term].has_absolute;
    });
}

// Whether the term that is written without expansion is taken; if not although it is shorter, that is noted.
bool Canonicalizer::prefer(TermId written, TermId expanded) {
    if (arena_[written].cost.plain >= arena_[expanded].cost.plain) return false;
    regrets_ = true;
    return options_.keep;
}

bool Canonicalizer::is_shorter_as_written(TermId id, const Rational& exponent, Parts& expanded) {
    try {
        expand(expanded, id, exponent);
    } catch (const Overflow&) {
        return true;
    }
    const TermId written = make_product({{id, no_term, exponent}});
    return prefer(written, close_product(expanded));
}

// The power of a term as a product of powers of what it is made of.
void Canonicalizer::expand(Parts& parts, TermId id, const Rational& exponent) {
    const TermNode& node = arena_[id];
    switch (node.kind) {
        case Kind::number:
            multiply_number(parts, id, exponent);
            return;
        case Kind::constant:
            multiply_constant(parts, id, exponent);
            return;
        case Kind::product:
            multiply_product(parts, id, exponent);
            return;
        case Kind::sum:
            if (node.n_entries == 1) {
                multiply_single(parts, id, exponent);
            } else {
                multiply_sum(parts, id, exponent);
            }
            return;
        case Kind::symbol:
            if ((node.op == Op::inf || node.op == Op::neg_inf) && exponent.sign() < 0) {
                if (options_.extend) {
                    parts.coefficient = Rational(0);
                } else {
                    parts.factors.push_back({symbol(Op::nan), no_term, 1});
                }
                return;
            }
            break;
        default:
            break;
    }
    parts.factors.push_back({id, no_term, exponent});
}

void Canonicalizer::multiply_number(Parts& parts, TermId id, const Rational& exponent) {
    const Rational value = arena_[id].value;
    if (value.is_one()) return;
    if (exponent.is_one()) {
        parts.coefficient.multiply(value);
        return;
    }
    if (value.is_zero()) {
        if (exponent.sign() > 0) {
            parts.coefficient = Rational(0);
        } else {  // 1/0 is an infinity that ground arithmetic carries on
            parts.factors.push_back({symbol(options_.extend ? Op::inf : Op::nan), no_term, 1});
        }
        return;
    }
    const int n = exponent.is_integer() ? exponent.small() : 0;
    if (exponent.is_integer()) {
        if (const auto power = integer_power(value, n); power && n != 0) {
            parts.coefficient.multiply(*power);
            return;
        }
    } else if (exponent.q < 1000 && exponent.p < 1000 && exponent.p > -1000) {
        if (value.sign() < 0 && !exponent.odd_denominator()) {
            parts.factors.push_back({symbol(Op::nan), no_term, 1});
            return;
        }
        if (const auto root = exact_root(value, static_cast<int>(exponent.q)))
            if (const auto power = integer_power(*root, static_cast<int>(exponent.p))) {
                parts.coefficient.multiply(*power);
                return;
            }
        if (value.sign() < 0) {
            if (!exponent.even_numerator()) parts.coefficient.turn();
            parts.factors.push_back({number(-value), no_term, exponent});
            return;
        }
    }
    parts.factors.push_back({id, no_term, exponent});
}

void Canonicalizer::multiply_constant(Parts& parts, TermId constant, const Rational& exponent) {
    if (parts.constant == no_term && (exponent.is_one() || !options_.track)) {
        parts.constant = constant;
        return;
    }
    if (!options_.track) return;
    std::vector<Node> definition = define_power(constant, exponent);
    if (parts.constant != no_term) {
        const std::vector<Node> other = definition_of(parts.constant);
        definition.insert(definition.end(), other.begin(), other.end());
        definition.push_back(Node::of(Op::mul));
    }
    parts.constant = new_constant(std::move(definition));
}

// Whether a power may come from an even power, (x^u)^2.
bool Canonicalizer::has_even_exponent(const Entry& power) const {
    const TermNode& exponent = arena_[power.other];
    if (exponent.kind != Kind::sum) return false;
    const std::span<const Entry> entries = arena_.entries(power.other);
    return std::all_of(entries.begin(), entries.end(),
                       [](const Entry& e) { return e.is_free() || e.ratio.even_numerator(); });
}

// base^exponent; x^(y - 1) as x^y and x^-1, which is as long and has a number less.
void Canonicalizer::push_power(Scratch<Entry>& list, TermId base, TermId exponent) {
    const std::span<const Entry> entries = arena_.entries(exponent);
    const bool is_split = arena_[base].kind == Kind::variable && arena_[exponent].kind == Kind::sum &&
                          entries.size() > 1 && entries[0].term == one_term && !entries[0].is_free() &&
                          entries[0].ratio.absolute().is_one();
    if (!is_split) {
        list.push_back({base, exponent, 0});
        return;
    }
    const Rational one = entries[0].ratio;
    const Scratch<Entry> rest(entries.begin() + 1, entries.end());
    list.push_back({base, make_sum(rest), 0});
    list.push_back({base, no_term, one});
}

// The constant that stands for c^exponent or |c|^exponent.
TermId Canonicalizer::constant_power(TermId constant, const Rational& exponent, bool absolute) {
    if (!options_.track) return constant;
    TermId base = constant;
    if (absolute) {
        std::vector<Node> definition = definition_of(constant);
        definition.push_back(Node::of(Op::abs));
        base = new_constant(std::move(definition));
    }
    return new_constant(define_power(base, exponent));
}

// 1 / base^u. Not base^(-u) where the base may be 0: 0^(-u) is defined for u < 0, 1/0^u is not.
Entry Canonicalizer::inverse_power(const Entry& power) {
    if (arena_[power.term].has_constant || arena_[power.term].has_absolute || power.term == zero_term)
        return {make_product({power}), no_term, Rational(-1)};
    return {power.term, scaled(power.other, Rational(-1)), 0};
}

// (k * T)^exponent and (c * T)^exponent
void Canonicalizer::multiply_single(Parts& parts, TermId id, const Rational& exponent) {
    const Entry entry = arena_.entries(id)[0];
    if (exponent.is_one()) {
        if (entry.is_free()) {
            multiply_constant(parts, entry.other, exponent);
        } else {
            parts.coefficient.multiply(entry.ratio);
        }
        multiply(parts, entry.term, exponent);
        return;
    }
    if (!exponent.odd_denominator()) {
        multiply_even_root(parts, id, exponent);
        return;
    }
    if (entry.is_free()) {
        multiply_constant(parts, entry.other, exponent);
        multiply(parts, entry.term, exponent);
        return;
    }
    Parts scaled_parts;
    multiply_number(scaled_parts, number(entry.ratio), exponent);
    if (scaled_parts.factors.empty()) {
        parts.coefficient.multiply(scaled_parts.coefficient);
        multiply(parts, entry.term, exponent);
        return;
    }
    if (arena_[entry.term].kind == Kind::product && arena_[entry.term].n_entries == 1) {
        const Entry power = arena_.entries(entry.term)[0];  // (16*x^4)^(1/5) is (2*x)^(4/5)
        const int n = power.is_free() ? 0 : power.ratio.small();
        const auto root = n > 1 ? exact_root(entry.ratio, n) : std::nullopt;
        if (root) {
            parts.factors.push_back({scaled(power.term, *root), no_term, power.ratio * exponent});
            return;
        }
    }
    // an irrational root of the coefficient stays inside: (2*x)^(1/3)
    if (entry.ratio.sign() < 0 && !exponent.even_numerator()) parts.coefficient.turn();
    parts.factors.push_back({scaled(entry.term, entry.ratio.absolute()), no_term, exponent});
}

void Canonicalizer::multiply_product(Parts& parts, TermId id, const Rational& exponent) {
    if (!exponent.odd_denominator()) {
        multiply_even_root(parts, id, exponent);
        return;
    }
    const Scratch<Entry> factors(arena_.entries(id).begin(), arena_.entries(id).end());
    if (exponent.is_one()) {
        parts.factors.insert(parts.factors.end(), factors.begin(), factors.end());
        return;
    }
    for (const Entry& factor : factors) {
        const TermNode& base = arena_[factor.term];
        if (factor.is_free() && exponent == Rational(-1)) {
            parts.factors.push_back(inverse_power(factor));
            continue;
        }
        if (factor.is_free() && base.kind == Kind::constant && options_.extend) {
            // (c^u)^2 is (c^2)^u at every u; c^(2*u) is not, for c < 0 and u = 1/2
            const Entry power{constant_power(factor.term, exponent.absolute(), false), factor.other, 0};
            parts.factors.push_back(exponent.sign() > 0 ? power : inverse_power(power));
            continue;
        }
        if (factor.is_free()) {
            // x^c with c = 1/2 is not defined for x < 0, x^(2*c) is
            const bool may_widen = !options_.extend && !(base.low >= 0.0) &&
                                   (is_ground(factor.other) || may_hold_integer(scaled(factor.other, exponent)));
            // (x^u)^2 is never negative, which x^(2*u) does not show
            const bool shows_sign = options_.keep && exponent.even_integer();
            if ((exponent.is_integer() && !may_widen && !shows_sign) || is_exponential(base)) {
                parts.factors.push_back({factor.term, scaled(factor.other, exponent), 0});
            } else {
                parts.factors.push_back({make_product({factor}), no_term, exponent});
            }
            continue;
        }
        if (exponent.sign() < 0) check_turn(factor);
        const Rational power = factor.ratio * exponent;
        const bool widens = !factor.ratio.odd_denominator() && power.odd_denominator() && !(base.low >= 0.0);
        if (widens && !options_.extend) {
            parts.factors.push_back({make_product({factor}), no_term, exponent});
        } else {
            multiply(parts, factor.term, power);
        }
    }
}

// An even root of a product or of k * T. Factors that cannot be negative come out, the others stay together: a root of
// each alone would be defined in fewer places.
void Canonicalizer::multiply_even_root(Parts& parts, TermId id, const Rational& exponent) {
    Parts whole;
    const TermNode& node = arena_[id];
    if (node.kind == Kind::sum) {
        multiply_single(whole, id, Rational(1));
    } else {
        whole.factors.assign(arena_.entries(id).begin(), arena_.entries(id).end());
    }
    Scratch<Entry> rest;
    Scratch<Entry> exponentials;
    for (const Entry& factor : whole.factors) {
        const TermNode& base = arena_[factor.term];
        if (factor.is_free()) {
            regrets_ |= has_even_exponent(factor);
            (is_exponential(base) ? exponentials : rest).push_back(factor);
        } else if (base.has_constant || base.has_absolute) {
            rest.push_back(factor);  // where it vanishes, the whole root is 0 whatever the sign of the others
        } else if (factor.ratio.even_power()) {
            const Rational power = factor.ratio * exponent;
            const bool plain = base.low >= 0.0 || power.even_power();
            multiply(parts, plain ? factor.term : absolute(factor.term), power);
        } else if (base.low >= 0.0 || !factor.ratio.odd_denominator()) {
            multiply(parts, factor.term, factor.ratio * exponent);
        } else {
            rest.push_back(factor);
        }
    }
    const bool all_even = whole.constant == no_term && whole.coefficient.value().sign() > 0 &&
                          std::all_of(rest.begin(), rest.end(), [](const Entry& factor) {
                              return !factor.is_free() && factor.ratio.even_power();
                          });
    if (all_even) {  // none of them can be negative
        for (const Entry& factor : rest) {
            const Rational power = factor.ratio * exponent;
            multiply(parts, power.even_power() ? factor.term : absolute(factor.term), power);
        }
        rest.clear();
    }
    for (const Entry& factor : exponentials) {  // sqrt(e^u * v) is shorter than e^(u/2) * sqrt(v)
        if (rest.empty()) {
            parts.factors.push_back({factor.term, scaled(factor.other, exponent), 0});
        } else {
            rest.push_back(factor);
        }
    }
    Rational inside = whole.coefficient.value();
    if (const auto root = exact_root(inside.absolute(), static_cast<int>(exponent.q)); root && exponent.q < 100)
        if (const auto power =
                integer_power(*root, exponent.p < 1000 && exponent.p > -1000 ? static_cast<int>(exponent.p) : 0);
            power && !exponent.is_zero()) {
            parts.coefficient.multiply(*power);
            inside = inside.sign();
        }
    if (rest.empty() && whole.constant == no_term) {
        if (!inside.is_one()) multiply_number(parts, number(inside), exponent);
        return;
    }
    const bool plain_inside = whole.constant == no_term && inside.is_one();
    if (plain_inside && rest.size() == 1 && rest[0].is_free() && options_.extend &&
        arena_[rest[0].term].kind == Kind::constant) {  // sqrt(c^u) is sqrt(|c|)^u
        const Entry power{constant_power(rest[0].term, exponent.absolute(), true), rest[0].other, 0};
        parts.factors.push_back(exponent.sign() > 0 ? power : inverse_power(power));
        return;
    }
    if (plain_inside && rest.size() == 1 && !rest[0].is_free()) {
        // an odd power has the sign of its base; an even one has none
        const Rational power = rest[0].ratio * exponent;
        const bool needs_bars = rest[0].ratio.even_power() && !power.even_power() && !is_nonnegative(rest[0].term);
        multiply(parts, needs_bars ? absolute(rest[0].term) : rest[0].term, power);
        return;
    }
    TermId base = make_product(rest);
    if (whole.constant != no_term) {
        base = base == one_term ? whole.constant : make_sum({{base, whole.constant, 1}});
        if (base == whole.constant) {
            multiply_constant(parts, base, exponent);
            return;
        }
        if (exponent.sign() < 0 && arena_[make_product(rest)].no_numerator) {  // 1/sqrt(c/u) is sqrt(d*u)
            Parts inverse;
            for (const Entry& factor : rest)
                inverse.factors.push_back(factor.is_free() ? inverse_power(factor)
                                                           : Entry{factor.term, no_term, -factor.ratio});
            multiply_constant(inverse, whole.constant, Rational(-1));
            parts.factors.push_back({close_product(std::move(inverse)), no_term, -exponent});
            return;
        }
    } else if (exponent.sign() < 0 && arena_[base].no_numerator && !inside.is_one()) {  // 1/sqrt(8/u) is sqrt(u/8)
        Parts inverse;
        expand(inverse, base, Rational(-1));
        inverse.coefficient.multiply(reciprocal(inside));
        parts.factors.push_back({close_product(std::move(inverse)), no_term, -exponent});
        return;
    } else {
        base = scaled(base, inside);
    }
    parts.factors.push_back({base, no_term, exponent});
}

void Canonicalizer::multiply_sum(Parts& parts, TermId id, const Rational& exponent) {
    Rational common = content(id);
    if (!exponent.odd_denominator()) {
        Parts outside;
        common = common.absolute();
        multiply_number(outside, number(common), exponent);
        const bool comes_out = !common.is_one() && outside.factors.empty();
        if (comes_out) parts.coefficient.multiply(outside.coefficient);
        parts.factors.push_back({comes_out ? scaled(id, reciprocal(common)) : id, no_term, exponent});
        return;
    }
    if (!common.absolute().is_one() && !exponent.is_one()) {
        Parts expanded;
        multiply_number(expanded, number(common.absolute()), exponent);
        expanded.factors.push_back({scaled(id, reciprocal(common)), no_term, exponent});
        if (prefer(make_product({{id, no_term, exponent}}), with_coefficient(expanded, make_product(expanded.factors))))
            common = common.sign();
    } else if (!common.absolute().is_one()) {
        const TermId primitive = scaled(id, reciprocal(common));
        const int more = arena_[id].cost.plain - arena_[primitive].cost.plain;
        if (more < scaling(common.absolute(), false).tokens) {
            parts.content.multiply(common.absolute());
            parts.content_tokens += more;
            if (options_.keep) common = common.sign();
        }
    }
    if (common.is_one()) {
        parts.factors.push_back({id, no_term, exponent});
        return;
    }
    Parts outside;
    multiply_number(outside, number(common), exponent);
    if (!outside.factors.empty()) {  // an irrational root: only the sign comes out
        const bool negative = common.sign() < 0;
        if (negative && !exponent.even_numerator()) parts.coefficient.turn();
        parts.factors.push_back({negative ? scaled(id, Rational(-1)) : id, no_term, exponent});
        return;
    }
    parts.coefficient.multiply(outside.coefficient);
    parts.factors.push_back({scaled(id, reciprocal(common)), no_term, exponent});
}

// base ^ exponent for any exponent
void Canonicalizer::multiply_symbolic(Parts& parts, TermId base, TermId exponent) {
    const TermNode& power = arena_[exponent];
    const TermNode& node = arena_[base];
    if (power.kind == Kind::number) {
        const bool real_power = !power.value.is_integer() && power.value.odd_denominator();
        const bool widens = real_power && !(node.low >= 0.0) && !options_.extend;
        if (is_root_degree(power.value.q) && !widens) {
            multiply(parts, base, Rational(power.value));
            return;
        }
    }
    if (power.kind == Kind::symbol && (power.op == Op::nan || (is_infinite(exponent) && !options_.extend))) {
        parts.factors.push_back({symbol(Op::nan), no_term, 1});
        return;
    }
    if (is_infinite(exponent) && options_.extend && node.low >= 0.0 && (node.low > 1.0 || node.high < 1.0)) {
        if ((node.low > 1.0) == (power.op == Op::inf)) {
            parts.factors.push_back({symbol(Op::inf), no_term, 1});
        } else {
            parts.coefficient = Rational(0);
        }
        return;
    }
    if (base == one_term && (options_.extend || !power.partial)) return;
    if (is_ground(base) && is_ground(exponent) && (node.has_constant || power.has_constant)) {
        std::vector<Node> definition = definition_of(base);
        const std::vector<Node> other = definition_of(exponent);
        definition.insert(definition.end(), other.begin(), other.end());
        definition.push_back(Node::of(Op::pow));
        multiply_constant(parts, new_constant(std::move(definition)), Rational(1));
        return;
    }
    if (base == zero_term && !options_.extend) {
        if (power.high < 0.0) {
            parts.factors.push_back({symbol(Op::nan), no_term, 1});
            return;
        }
        throw_overflow();  // 0^u vanishes on a whole half-line, where 1/(1/0^u) must stay undefined
    }
    if (base == zero_term) {
        if (power.low > 0.0) {
            parts.coefficient = Rational(0);
        } else if (power.high < 0.0) {
            parts.factors.push_back({symbol(Op::inf), no_term, 1});
        } else {
            parts.factors.push_back({base, sign_of_exponent(exponent), 0});
        }
        return;
    }
    if (is_exponential(node)) {
        multiply_exponential(parts, exponent);
        return;
    }
    if (node.kind == Kind::product && node.n_entries == 1) {
        const Entry factor = arena_.entries(base)[0];
        if (factor.is_free() && is_exponential(arena_[factor.term])) {  // (e^u)^v
            Parts both;
            multiply(both, factor.other, Rational(1));
            multiply(both, exponent, Rational(1));
            multiply_exponential(parts, close_product(std::move(both)));
            return;
        }
    }
    // (1/u)^c is u^-c, (u^3)^c is u^(3*c), sqrt(u)^c is u^(c/2); not (u^2)^c, which is defined for u < 0
    if (options_.extend && power.kind == Kind::constant && node.kind == Kind::product) {
        const Entry factor = arena_.entries(base)[0];
        const bool odd = factor.ratio.is_integer() && !factor.ratio.even_numerator();
        if (node.n_entries == 1 && !factor.is_free() && (odd || !factor.ratio.odd_denominator())) {
            parts.factors.push_back({factor.term, scaled_constant(exponent, factor.ratio), 0});
            return;
        }
        if (node.no_numerator) {
            Parts inverse;
            multiply_product(inverse, base, Rational(-1));
            parts.factors.push_back({close_product(std::move(inverse)), scaled_constant(exponent, Rational(-1)), 0});
            return;
        }
    }
    // c^(3*u) is d^u, for odd numbers over odd numbers: an even power would be defined for c < 0 as well
    if (node.kind == Kind::constant && power.kind == Kind::sum && power.n_entries == 1) {
        const Entry only = arena_.entries(exponent)[0];
        const Rational size = only.ratio.absolute();
        if (!only.is_free() && !size.is_one() && size.odd_denominator() && !size.even_numerator() &&
            is_root_degree(size.q)) {
            note("number out of an exponent");
            const TermId sign = scaled(only.term, Rational(only.ratio.sign()));
            parts.factors.push_back({constant_power(base, size, false), sign, 0});
            return;
        }
    }
    // c^(u + d) is d * c^u; not with preserve: 0^(u + d) is defined for u + d > 0 only
    if (options_.extend && node.kind == Kind::constant && power.kind == Kind::sum && power.n_entries > 1) {
        const Entry first = arena_.entries(exponent)[0];
        if (first.term == one_term && first.is_free()) {
            Scratch<Entry> rest(arena_.entries(exponent).begin() + 1, arena_.entries(exponent).end());
            const TermId new_base = options_.track ? new_constant(define_base(base, first.other)) : base;
            multiply_constant(parts, new_constant(define_shifted_power(base, first.other)), Rational(1));
            parts.factors.push_back({new_base, make_sum(rest), 0});
            return;
        }
    }
    push_power(parts.factors, base, exponent);
}

// A simpler term of the same sign: 0^u depends on nothing else.
TermId Canonicalizer::sign_of_exponent(TermId exponent) {
    const TermNode& node = arena_[exponent];
    if (node.kind == Kind::sum && node.n_entries == 1) {
        const Entry only = arena_.entries(exponent)[0];
        if (!only.is_free() && only.ratio.sign() > 0) return sign_of_exponent(only.term);
        if (!only.is_free() && only.ratio.sign() < 0) return scaled(sign_of_exponent(only.term), Rational(-1));
    }
    const bool keeps_sign =
        node.kind == Kind::function && (node.op == Op::asin || node.op == Op::atan || node.op == Op::sinh ||
                                        node.op == Op::tanh || node.op == Op::asinh || node.op == Op::atanh);
    if (keeps_sign) return sign_of_exponent(node.argument);
    if (node.kind == Kind::product && node.n_entries == 1) {
        const Entry only = arena_.entries(exponent)[0];
        if (!only.is_free() && only.ratio.sign() > 0 && (!only.ratio.even_numerator() || !only.ratio.odd_denominator()))
            return sign_of_exponent(only.term);
    }
    return exponent;
}

// e ^ exponent: constants and logarithms in the exponent come out as factors.
void Canonicalizer::multiply_exponential(Parts& parts, TermId exponent) {
    const TermNode& power = arena_[exponent];
    if (power.kind == Kind::constant) {
        std::vector<Node> definition = definition_of(exponent);
        definition.push_back(Node::of(Op::exp));
        multiply_constant(parts, new_constant(std::move(definition)), Rational(1));
        return;
    }
    if (power.kind == Kind::symbol && power.op == Op::nan) {
        parts.factors.push_back({exponent, no_term, 1});
        return;
    }
    if (power.kind == Kind::symbol && power.op == Op::neg_inf && options_.extend) {
        parts.coefficient = Rational(0);
        return;
    }
    if (power.kind == Kind::symbol && power.op == Op::inf && options_.extend) {
        parts.factors.push_back({exponent, no_term, 1});
        return;
    }
    Scratch<Entry> list;
    add(list, exponent, Rational(1));
    Scratch<Entry> rest;
    for (const Entry& entry : list) {
        const TermNode& term = arena_[entry.term];
        const bool is_log = term.kind == Kind::function && term.op == Op::log;
        if (entry.term == one_term && entry.is_free()) {
            note("constant out of an exponent");
            multiply_exponential(parts, entry.other);
        } else if (entry.term == one_term && entry.ratio.is_integer()) {
            parts.factors.push_back({symbol(Op::e), no_term, entry.ratio});
        } else if (is_log && (options_.extend || !term.partial) &&
                   !(options_.keep && !entry.is_free() && !entry.ratio.is_one()) &&
                   (entry.is_free() || is_root_degree(entry.ratio.q))) {
            note("exponential of a logarithm");
            took_logarithm_ |= !is_nonnegative(term.argument);
            if (entry.is_free()) {
                multiply_symbolic(parts, term.argument, entry.other);
            } else {
                multiply(parts, term.argument, Rational(entry.ratio));
            }
        } else {
            rest.push_back(entry);
        }
    }
    if (rest.empty()) return;
    regrets_ |= rest.size() > 1 && std::all_of(rest.begin(), rest.end(), [](const Entry& e) { return e.is_free(); });
    if (rest.size() == 1 && rest[0].is_free()) {  // e^(c*u) is d^u
        std::vector<Node> definition = definition_of(rest[0].other);
        definition.push_back(Node::of(Op::exp));
        parts.factors.push_back({new_constant(std::move(definition)), rest[0].term, 0});
        return;
    }
    if (rest.size() == 1 && options_.extend && arena_[rest[0].term].kind == Kind::product) {  // e^(v * log u) is u^v
        Scratch<Entry> factors(arena_.entries(rest[0].term).begin(), arena_.entries(rest[0].term).end());
        for (std::size_t i = 0; i < factors.size(); ++i) {
            const TermNode& base = arena_[factors[i].term];
            if (factors[i].is_free() || !factors[i].ratio.is_one() || base.kind != Kind::function || base.op != Op::log)
                continue;
            const TermId argument = base.argument;
            factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(i));
            multiply_symbolic(parts, argument, scaled(make_product(factors), rest[0].ratio));
            return;
        }
    }
    parts.factors.push_back({symbol(Op::e), make_sum(rest), 0});
}

}  // namespace simplipy
