#include "root.hpp"

#include <algorithm>

#include "core/simplify/canonical/function/absolute.hpp"
#include "core/simplify/canonical/sum/sum.hpp"
#include "core/simplify/canonical/terms/analysis.hpp"
#include "power.hpp"
#include "product.hpp"

namespace simplipy::canonical {
namespace {

// One root: what is still inside, and the product that takes what comes out.
struct EvenRoot {
    Context& c;
    Parts& outside;
    const Rational& exponent;
    TermId constant = no_term;
    Rational number = 1;
    Scratch<Entry> rest = {};
    Scratch<Entry> exponentials = {};

    // The factors of the term: out or into the rest.
    void open(TermId id) {
        Parts whole;
        const TermNode& node = c.terms[id];
        if (node.kind == Kind::product) {
            whole.factors = c.terms.copied_entries(id);
        } else {
            expand(c, whole, id, Rational(1));
        }
        constant = whole.constant;
        number = whole.coefficient.value();
        for (const Entry& factor : whole.factors) place(factor);
    }

    void place(const Entry& factor) {
        const TermNode& base = c.terms[factor.term];
        if (factor.is_free()) {
            if (has_even_exponent(c, factor)) c.memory.regret();
            (is_euler(base) ? exponentials : rest).push_back(factor);
        } else if (base.has_constant || base.has_absolute) {
            rest.push_back(factor);  // where it vanishes, the whole root is 0 whatever the sign of the others
        } else if (factor.ratio.even_power()) {
            take_out_even_power(factor);
        } else if (base.low >= 0.0 || !factor.ratio.odd_denominator()) {
            multiply(c, outside, factor.term, factor.ratio * exponent);
        } else {
            rest.push_back(factor);
        }
    }

    void take_out_even_power(const Entry& factor) {
        const Rational power = factor.ratio * exponent;
        const bool plain = power.even_power() || c.terms.is_nonnegative(factor.term);
        multiply(c, outside, plain ? factor.term : absolute(c, factor.term), power);
    }

    // Takes the rest out where none of it can be negative.
    void take_out_even_powers() {
        const bool all_even =
            constant == no_term && number.sign() > 0 && std::all_of(rest.begin(), rest.end(), [](const Entry& factor) {
                return !factor.is_free() && factor.ratio.even_power();
            });
        if (!all_even) return;
        for (const Entry& factor : rest) take_out_even_power(factor);
        rest.clear();
    }

    // sqrt(e^u * v) is shorter than e^(u/2) * sqrt(v).
    void place_exponentials() {
        for (const Entry& factor : exponentials) {
            if (rest.empty()) {
                outside.push_power(factor.term, scaled(c, factor.other, exponent));
            } else {
                rest.push_back(factor);
            }
        }
    }

    // Takes the number out where it has an exact root; its sign stays.
    void take_out_number() {
        if (exponent.q >= 100 || exponent.p >= 1000 || exponent.p <= -1000) return;
        const auto root = exact_root(number.absolute(), static_cast<int>(exponent.q));
        const auto power = root ? integer_power(*root, static_cast<int>(exponent.p)) : std::nullopt;
        if (!power) return;
        outside.coefficient.multiply(*power);
        number = number.sign();
    }

    // A root of one power and nothing else; whether it is one.
    bool close_single() {
        if (constant != no_term || !number.is_one() || rest.size() != 1) return false;
        const Entry& only = rest[0];
        if (!only.is_free()) {
            // an odd power has the sign of its base; an even one has none
            const Rational power = only.ratio * exponent;
            const bool needs_bars =
                only.ratio.even_power() && !power.even_power() && !c.terms.is_nonnegative(only.term);
            multiply(c, outside, needs_bars ? absolute(c, only.term) : only.term, power);
            return true;
        }
        if (!c.options.extend || c.terms[only.term].kind != Kind::constant) return false;
        // sqrt(c^u) is sqrt(|c|)^u
        const Entry power{c.constants.absolute_raised(only.term, exponent.absolute()), only.other, 0};
        outside.factors.push_back(exponent.sign() > 0 ? power : inverse_power(c, power));
        return true;
    }

    // The root of 1/inside as the root of `inverse` turned over: 1/sqrt(8/u) is sqrt(u/8).
    void close_turned(Parts inverse) { outside.push(close_product(c, std::move(inverse)), -exponent); }

    void close_with_constant() {
        const TermId base = c.terms.product(rest);
        if (base == one_term) {
            multiply_constant(c, outside, constant, exponent);
        } else if (exponent.sign() < 0 && c.terms[base].no_numerator) {  // 1/sqrt(c/u) is sqrt(d*u)
            Parts inverse;
            for (const Entry& factor : rest)
                inverse.factors.push_back(factor.is_free() ? inverse_power(c, factor)
                                                           : Entry{factor.term, no_term, -factor.ratio});
            multiply_constant(c, inverse, constant, Rational(-1));
            close_turned(std::move(inverse));
        } else {
            outside.push(c.terms.sum({{base, constant, 1}}), exponent);
        }
    }

    void close() {
        if (constant == no_term && rest.empty()) {
            multiply_number(c, outside, number, exponent);
        } else if (close_single()) {
            return;
        } else if (constant != no_term) {
            close_with_constant();
        } else if (const TermId base = c.terms.product(rest);
                   exponent.sign() < 0 && c.terms[base].no_numerator && !number.is_one()) {
            Parts inverse;
            expand(c, inverse, base, Rational(-1));
            inverse.coefficient.multiply(reciprocal(number));
            close_turned(std::move(inverse));
        } else {
            outside.push(scaled(c, base, number), exponent);
        }
    }
};

}  // namespace

void multiply_even_root(Context& c, Parts& parts, TermId id, const Rational& exponent) {
    EvenRoot root{c, parts, exponent};
    root.open(id);
    root.take_out_even_powers();
    root.place_exponentials();
    root.take_out_number();
    root.close();
}

bool has_even_exponent(const Context& c, const Entry& power) {
    if (c.terms[power.other].kind != Kind::sum) return false;
    const std::span<const Entry> entries = c.terms.entries(power.other);
    return std::all_of(entries.begin(), entries.end(),
                       [](const Entry& e) { return e.is_free() || e.ratio.even_numerator(); });
}

}  // namespace simplipy::canonical
