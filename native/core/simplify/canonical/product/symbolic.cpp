#include "symbolic.hpp"

#include <algorithm>

#include "core/simplify/canonical/sum/sum.hpp"
#include "core/simplify/canonical/terms/analysis.hpp"
#include "power.hpp"
#include "product.hpp"

namespace simplipy::canonical {
namespace {

// Denominators that root tokens can write; x^(1/7) has no sign-aware root and stays a real power.
bool is_root_degree(Int128 q) {
    for (const int factor : {2, 3, 5})
        while (q % factor == 0) q /= factor;
    return q == 1;
}

// base^exponent; x^(y - 1) as x^y and x^-1, which is as long and has a number less.
void push_power(Context& c, Parts& parts, TermId base, TermId exponent) {
    const std::span<const Entry> entries = c.terms.entries(exponent);
    const bool is_split = c.terms[base].kind == Kind::variable && c.terms[exponent].kind == Kind::sum &&
                          entries.size() > 1 && entries[0].term == one_term && !entries[0].is_free() &&
                          entries[0].ratio.absolute().is_one();
    if (!is_split) {
        parts.push_power(base, exponent);
        return;
    }
    const Rational one = entries[0].ratio;
    const Scratch<Entry> rest(entries.begin() + 1, entries.end());
    parts.push_power(base, c.terms.sum(rest));
    parts.push(base, one);
}

// A simpler term of the same sign: 0^u depends on nothing else.
TermId sign_of_exponent(Context& c, TermId exponent) {
    const TermNode& node = c.terms[exponent];
    if (node.is_multiple()) {
        const Entry only = c.terms.entries(exponent)[0];
        if (!only.is_free() && only.ratio.sign() > 0) return sign_of_exponent(c, only.term);
        if (!only.is_free() && only.ratio.sign() < 0) return scaled(c, sign_of_exponent(c, only.term), Rational(-1));
    }
    const bool is_wave = info(node.op).has(role::wave);  // every other odd function rises
    const bool keeps_sign = node.kind == Kind::function && info(node.op).parity == Parity::odd && !is_wave;
    if (keeps_sign) return sign_of_exponent(c, node.argument);
    if (node.kind == Kind::product && node.n_entries == 1) {
        const Entry only = c.terms.entries(exponent)[0];
        if (!only.is_free() && only.ratio.sign() > 0 && (!only.ratio.even_numerator() || !only.ratio.odd_denominator()))
            return sign_of_exponent(c, only.term);
    }
    return exponent;
}

void multiply_power_of_zero(Context& c, Parts& parts, TermId exponent) {
    const TermNode& power = c.terms[exponent];
    if (!c.options.extend) {
        if (!(power.high < 0.0)) throw_overflow();  // 0^u vanishes on a half-line, where 1/(1/0^u) must stay undefined
        parts.push(c.terms.symbol(Op::nan), 1);
    } else if (power.low > 0.0) {
        parts.coefficient = Rational(0);
    } else if (power.high < 0.0) {
        parts.push(c.terms.symbol(Op::inf), 1);
    } else {
        parts.push_power(zero_term, sign_of_exponent(c, exponent));
    }
}

// Each of the steps below does its part for base^exponent where it applies, and returns whether it does.

bool multiply_rational(Context& c, Parts& parts, TermId base, TermId exponent) {
    const TermNode& power = c.terms[exponent];
    if (power.kind != Kind::number) return false;
    const bool real_power = !power.value.is_integer() && power.value.odd_denominator();
    const bool widens = real_power && !c.terms.is_nonnegative(base) && !c.options.extend;
    if (!is_root_degree(power.value.q) || widens) return false;
    multiply(c, parts, base, power.value);
    return true;
}

bool multiply_limit(Context& c, Parts& parts, TermId base, TermId exponent) {
    const TermNode& power = c.terms[exponent];
    if (power.is_symbol(Op::nan) || (c.terms.is_infinite(exponent) && !c.options.extend)) {
        parts.push(c.terms.symbol(Op::nan), 1);
        return true;
    }
    if (!c.terms.is_infinite(exponent)) return false;
    const TermNode& node = c.terms[base];
    if (!(node.low >= 0.0 && (node.low > 1.0 || node.high < 1.0))) return false;
    if ((node.low > 1.0) == (power.op == Op::inf)) {
        parts.push(c.terms.symbol(Op::inf), 1);
    } else {
        parts.coefficient = Rational(0);
    }
    return true;
}

bool multiply_ground(Context& c, Parts& parts, TermId base, TermId exponent) {
    if (!c.terms.is_ground(base) || !c.terms.is_ground(exponent)) return false;
    if (!c.terms[base].has_constant && !c.terms[exponent].has_constant) return false;
    multiply_constant(c, parts, c.constants.raised(base, exponent), Rational(1));
    return true;
}

// (e^u)^v
bool multiply_power_of_exponential(Context& c, Parts& parts, TermId base, TermId exponent) {
    if (c.terms[base].kind != Kind::product || c.terms[base].n_entries != 1) return false;
    const Entry factor = c.terms.entries(base)[0];
    if (!factor.is_free() || !is_euler(c.terms[factor.term])) return false;
    Parts both;
    multiply(c, both, factor.other, Rational(1));
    multiply(c, both, exponent, Rational(1));
    multiply_exponential(c, parts, close_product(c, std::move(both)));
    return true;
}

// (1/u)^c is u^-c, (u^3)^c is u^(3*c), sqrt(u)^c is u^(c/2); not (u^2)^c, which is defined for u < 0.
bool multiply_free_power_of_product(Context& c, Parts& parts, TermId base, TermId exponent) {
    const TermNode& node = c.terms[base];
    if (!c.options.extend || c.terms[exponent].kind != Kind::constant || node.kind != Kind::product) return false;
    const Entry factor = c.terms.entries(base)[0];
    const bool odd = factor.ratio.is_integer() && !factor.ratio.even_numerator();
    if (node.n_entries == 1 && !factor.is_free() && (odd || !factor.ratio.odd_denominator())) {
        parts.push_power(factor.term, c.constants.scaled(exponent, factor.ratio));
        return true;
    }
    if (!node.no_numerator) return false;
    Parts inverse;
    multiply_product(c, inverse, base, Rational(-1));
    const TermId inverted = close_product(c, std::move(inverse));
    parts.push_power(inverted, c.constants.scaled(exponent, Rational(-1)));
    return true;
}

// c^(3*u) is d^u, for odd numbers over odd numbers: an even power would be defined for c < 0 as well.
bool take_number_out_of_exponent(Context& c, Parts& parts, TermId base, TermId exponent) {
    if (c.terms[base].kind != Kind::constant || !c.terms[exponent].is_multiple()) return false;
    const Entry only = c.terms.entries(exponent)[0];
    const Rational size = only.ratio.absolute();
    if (only.is_free() || size.is_one() || !size.odd_denominator() || size.even_numerator() || !is_root_degree(size.q))
        return false;
    c.note("number out of an exponent");
    const TermId rest = scaled(c, only.term, Rational(only.ratio.sign()));
    parts.push_power(c.constants.raised(base, size), rest);
    return true;
}

// c^(u + d) is d * c^u; not with preserve: 0^(u + d) is defined for u + d > 0 only.
bool take_constant_out_of_exponent(Context& c, Parts& parts, TermId base, TermId exponent) {
    const TermNode& power = c.terms[exponent];
    if (!c.options.extend || c.terms[base].kind != Kind::constant || power.kind != Kind::sum || power.n_entries < 2)
        return false;
    const Entry first = c.terms.entries(exponent)[0];
    if (first.term != one_term || !first.is_free()) return false;
    Scratch<Entry> rest = c.terms.copied_entries(exponent);
    rest.erase(rest.begin());
    const TermId shift = first.other;
    const TermId new_base = c.constants.shifted_base(base, shift);
    multiply_constant(c, parts, c.constants.shifted_power(base, shift), Rational(1));
    parts.push_power(new_base, c.terms.sum(rest));
    return true;
}

// e^exponent for constants and limits.
bool multiply_exponential_of_leaf(Context& c, Parts& parts, TermId exponent) {
    const TermNode& power = c.terms[exponent];
    if (power.kind == Kind::constant) {
        multiply_constant(c, parts, c.constants.applied(Op::exp, exponent), Rational(1));
    } else if (power.is_symbol(Op::nan) || (power.is_symbol(Op::inf) && c.options.extend)) {
        parts.push(exponent, 1);
    } else if (power.is_symbol(Op::neg_inf) && c.options.extend) {
        parts.coefficient = Rational(0);
    } else {
        return false;
    }
    return true;
}

// e^(one term of a sum), where that is simpler as a factor.
bool take_out_of_exponential(Context& c, Parts& parts, const Entry& entry) {
    if (entry.term == one_term && entry.is_free()) {
        c.note("constant out of an exponent");
        multiply_exponential(c, parts, entry.other);
        return true;
    }
    if (entry.term == one_term && entry.ratio.is_integer()) {
        parts.push(c.terms.symbol(Op::e), entry.ratio);
        return true;
    }
    const TermNode& term = c.terms[entry.term];
    if (!term.is_function(Op::log) || (!c.options.extend && term.partial)) return false;
    const bool stays_written = c.options.keep && !entry.is_free() && !entry.ratio.is_one();
    if (stays_written || !(entry.is_free() || is_root_degree(entry.ratio.q))) return false;
    c.note("exponential of a logarithm");
    if (!c.terms.is_nonnegative(term.argument)) c.memory.take_logarithm();
    if (entry.is_free()) {
        multiply_symbolic(c, parts, term.argument, entry.other);
    } else {
        multiply(c, parts, term.argument, entry.ratio);
    }
    return true;
}

// e^(k * v * log(u)) is u^(k*v).
bool multiply_exponential_of_logarithm(Context& c, Parts& parts, const Entry& entry) {
    if (!c.options.extend || c.terms[entry.term].kind != Kind::product) return false;
    Scratch<Entry> factors = c.terms.copied_entries(entry.term);
    Entry* const logarithm = std::find_if(factors.begin(), factors.end(), [&c](const Entry& factor) {
        return !factor.is_free() && factor.ratio.is_one() && c.terms[factor.term].is_function(Op::log);
    });
    if (logarithm == factors.end()) return false;
    const TermId argument = c.terms[logarithm->term].argument;
    factors.erase(logarithm);
    multiply_symbolic(c, parts, argument, scaled(c, c.terms.product(factors), entry.ratio));
    return true;
}

}  // namespace

void multiply_symbolic(Context& c, Parts& parts, TermId base, TermId exponent) {
    if (multiply_rational(c, parts, base, exponent) || multiply_limit(c, parts, base, exponent)) return;
    if (base == one_term && (c.options.extend || !c.terms[exponent].partial)) return;
    if (multiply_ground(c, parts, base, exponent)) return;
    if (base == zero_term) {
        multiply_power_of_zero(c, parts, exponent);
    } else if (is_euler(c.terms[base])) {
        multiply_exponential(c, parts, exponent);
    } else if (!multiply_power_of_exponential(c, parts, base, exponent) &&
               !multiply_free_power_of_product(c, parts, base, exponent) &&
               !take_number_out_of_exponent(c, parts, base, exponent) &&
               !take_constant_out_of_exponent(c, parts, base, exponent)) {
        push_power(c, parts, base, exponent);
    }
}

void multiply_exponential(Context& c, Parts& parts, TermId exponent) {
    if (multiply_exponential_of_leaf(c, parts, exponent)) return;
    Scratch<Entry> list;
    add(c, list, exponent, Rational(1));
    Scratch<Entry> rest;
    for (const Entry& entry : list)
        if (!take_out_of_exponential(c, parts, entry)) rest.push_back(entry);
    if (rest.empty()) return;
    if (rest.size() > 1 && std::all_of(rest.begin(), rest.end(), [](const Entry& e) { return e.is_free(); }))
        c.memory.regret();
    if (rest.size() == 1 && rest[0].is_free()) {  // e^(c*u) is d^u
        parts.push_power(c.constants.applied(Op::exp, rest[0].other), rest[0].term);
    } else if (rest.size() > 1 || !multiply_exponential_of_logarithm(c, parts, rest[0])) {
        parts.push_power(c.terms.symbol(Op::e), c.terms.sum(rest));
    }
}

}  // namespace simplipy::canonical
