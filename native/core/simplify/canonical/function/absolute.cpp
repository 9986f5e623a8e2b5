#include "absolute.hpp"

#include "core/simplify/canonical/product/power.hpp"
#include "core/simplify/canonical/product/product.hpp"
#include "core/simplify/canonical/product/root.hpp"
#include "core/simplify/canonical/sum/sum.hpp"
#include "core/simplify/canonical/terms/analysis.hpp"
#include "function.hpp"

namespace simplipy::canonical {
namespace {

// Multiplies by the absolute value of a factor.
void multiply_absolute(Context& c, Parts& parts, const Entry& factor) {
    const TermNode& base = c.terms[factor.term];
    const bool is_even_power = !factor.is_free() && (factor.ratio.even_power() || !factor.ratio.odd_denominator());
    if (base.low >= 0.0 || is_even_power) {
        parts.factors.push_back(factor);
    } else if (!factor.is_free()) {
        multiply(c, parts, absolute(c, factor.term), factor.ratio);
    } else if (base.kind == Kind::constant && c.options.extend) {  // |c^u| is |c|^u
        parts.push_power(c.constants.absolute_raised(factor.term, Rational(1)), factor.other);
    } else {
        if (has_even_exponent(c, factor)) c.memory.regret();
        parts.push(c.terms.function(Op::abs, c.terms.product({factor})), 1);
    }
}

TermId absolute_of_product(Context& c, TermId argument) {
    c.note("absolute value of a product");
    Parts whole;
    multiply(c, whole, argument, Rational(1));
    Parts parts;
    parts.coefficient = whole.coefficient.value().absolute();
    if (whole.constant != no_term)  // a free coefficient absorbs its own bars
        parts.constant = c.constants.applied(Op::abs, whole.constant);
    for (const Entry& factor : whole.factors) multiply_absolute(c, parts, factor);
    if (c.memory.took_logarithm()) c.memory.regret();
    const TermId product = close_product(c, std::move(parts));
    const bool negative = leading_sign(c.terms.arena(), argument) < 0;
    const TermId written = c.terms.function(Op::abs, negative ? scaled(c, argument, Rational(-1)) : argument);
    return c.memory.prefers_written(written, product) ? written : product;
}

// |k*u + k*v| is |k|*|u + v|.
TermId absolute_of_sum(Context& c, TermId sum) {
    const TermId written = c.terms.function(Op::abs, sum);
    const Rational common = content(c.terms.arena(), sum).absolute();
    if (common.is_one()) return written;
    const TermId primitive = scaled(c, sum, reciprocal(common));
    const TermId expanded = scaled(c, c.terms.function(Op::abs, primitive), common);
    return c.memory.prefers_written(written, expanded) ? written : expanded;
}

}  // namespace

TermId absolute(Context& c, TermId argument) {
    const TermNode& inner = c.terms[argument];
    if (inner.low >= 0.0) return argument;
    if (inner.high <= 0.0) return scaled(c, argument, Rational(-1));
    if (const TermId plain = magnitude(c, argument); plain != argument) return absolute(c, plain);
    if (inner.kind == Kind::product || inner.is_multiple()) return absolute_of_product(c, argument);
    if (leading_sign(c.terms.arena(), argument) < 0)
        if (const TermId opposite = scaled(c, argument, Rational(-1)); leading_sign(c.terms.arena(), opposite) > 0)
            return absolute(c, opposite);
    return inner.kind == Kind::sum ? absolute_of_sum(c, argument) : c.terms.function(Op::abs, argument);
}

TermId magnitude(Context& c, TermId id) {
    const TermNode& node = c.terms[id];
    if (!node.has_absolute) return id;
    if (node.kind == Kind::function) {
        if (node.op == Op::abs) return magnitude(c, node.argument);
        if (info(node.op).parity != Parity::odd) return id;
        const TermId inner = magnitude(c, node.argument);
        return inner == node.argument ? id : function(c, node.op, inner);
    }
    if (node.kind != Kind::product && !node.is_multiple()) return id;
    Parts whole;
    multiply(c, whole, id, Rational(1));
    Parts plain;
    plain.coefficient = whole.coefficient;
    plain.constant = whole.constant;
    for (const Entry& factor : whole.factors) {
        if (!factor.is_free() && factor.ratio.odd_denominator()) {
            multiply(c, plain, magnitude(c, factor.term), factor.ratio);
        } else {
            plain.factors.push_back(factor);
        }
    }
    return close_product(c, std::move(plain));
}

}  // namespace simplipy::canonical
