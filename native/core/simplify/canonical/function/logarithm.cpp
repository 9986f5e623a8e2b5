#include "logarithm.hpp"

#include <optional>

#include "core/simplify/canonical/product/power.hpp"
#include "core/simplify/canonical/product/product.hpp"
#include "core/simplify/canonical/rules/rewrite.hpp"
#include "core/simplify/canonical/sum/sum.hpp"
#include "core/simplify/canonical/terms/analysis.hpp"

namespace simplipy::canonical {
namespace {

// log(1/u) is -log(u).
TermId negative_of_inverse(Context& c, TermId argument) {
    Parts inverse;
    multiply(c, inverse, argument, Rational(-1));
    return scaled(c, c.terms.function(Op::log, close_product(c, std::move(inverse))), Rational(-1));
}

// log(k/u) is -log(u/k), log(-u^5) is 5*log(-u).
std::optional<TermId> logarithm_of_multiple(Context& c, TermId argument) {
    if (!c.terms[argument].is_multiple()) return std::nullopt;
    const Entry entry = c.terms.entries(argument)[0];
    const TermNode& term = c.terms[entry.term];
    if (term.kind != Kind::product) return std::nullopt;
    const Entry factor = c.terms.entries(entry.term)[0];
    if (term.n_entries == 1 && !factor.is_free() && !entry.is_free() && factor.ratio.is_integer() &&
        !factor.ratio.even_numerator())
        if (const auto root = exact_root(entry.ratio, factor.ratio.absolute().small())) {
            const Rational scale = factor.ratio.sign() > 0 ? *root : reciprocal(*root);
            return scaled(c, logarithm(c, scaled(c, factor.term, scale)), factor.ratio);
        }
    if (!term.no_numerator || entry.is_free()) return std::nullopt;
    return negative_of_inverse(c, argument);
}

// log(e^u * v) is u + log v.
std::optional<TermId> logarithm_of_exponential(Context& c, const Scratch<Entry>& factors) {
    Scratch<Entry> sum;
    Scratch<Entry> rest;
    for (const Entry& factor : factors) {
        if (is_euler(c.terms[factor.term])) {
            add(c, sum, factor.is_free() ? factor.other : c.terms.number(factor.ratio), Rational(1));
        } else {
            rest.push_back(factor);
        }
    }
    if (sum.empty()) return std::nullopt;
    c.note("logarithm of an exponential");
    if (!rest.empty()) add(c, sum, logarithm(c, c.terms.product(rest)), Rational(1));
    return close_sum(c, std::move(sum));
}

// log(c^u) is d*u, and the logarithm of an odd power a multiple: that is positive where its base is.
std::optional<TermId> logarithm_of_power(Context& c, const Entry& power) {
    if (!power.is_free())
        return power.ratio.even_power() ? std::nullopt
                                        : std::optional(scaled(c, logarithm(c, power.term), power.ratio));
    if (c.terms[power.term].kind != Kind::constant) return std::nullopt;
    Parts parts;
    parts.constant = c.constants.applied(Op::log, power.term);
    multiply(c, parts, power.other, Rational(1));
    return close_product(c, std::move(parts));
}

}  // namespace

TermId logarithm(Context& c, TermId argument) {
    const TermNode& inner = c.terms[argument];
    if (argument == one_term) return zero_term;
    if (is_euler(inner)) return one_term;
    if (const auto term = logarithm_of_multiple(c, argument)) return *term;
    if (inner.kind != Kind::product) return c.terms.function(Op::log, argument);
    if (const auto term = apply_function_rules(c, Op::log, argument)) return *term;
    const Scratch<Entry> factors = c.terms.copied_entries(argument);
    if (const auto term = logarithm_of_exponential(c, factors)) return *term;
    if (factors.size() == 1)
        if (const auto term = logarithm_of_power(c, factors[0])) return *term;
    if (!factors[0].is_free() && factors[0].ratio.sign() < 0) return negative_of_inverse(c, argument);
    return c.terms.function(Op::log, argument);
}

}  // namespace simplipy::canonical
