#include "function.hpp"

#include <algorithm>
#include <optional>

#include "absolute.hpp"
#include "core/simplify/bounds.hpp"
#include "core/simplify/canonical/rules/rewrite.hpp"
#include "core/simplify/canonical/sum/sum.hpp"
#include "core/simplify/canonical/terms/analysis.hpp"
#include "logarithm.hpp"
#include "values.hpp"

namespace simplipy::canonical {
namespace {

// sin(u + k*pi/2) and cos(u + k*pi/2) are sines or cosines of u; the tangent has the period pi.
std::optional<TermId> shifted_angle(Context& c, Op op, TermId argument) {
    const TermNode& inner = c.terms[argument];
    if ((op != Op::sin && op != Op::cos && op != Op::tan) || inner.kind != Kind::sum || inner.n_entries < 2)
        return std::nullopt;
    Scratch<Entry> rest = c.terms.copied_entries(argument);
    const auto shift = std::find_if(rest.begin(), rest.end(), [&c](const Entry& entry) {
        return !entry.is_free() && c.terms[entry.term].is_symbol(Op::pi);
    });
    if (shift == rest.end()) return std::nullopt;
    const Rational quarters = shift->ratio * Rational(2);
    if (!quarters.is_integer()) return std::nullopt;
    const auto turn = static_cast<int>((quarters.p % 4 + 4) % 4);
    if (op == Op::tan && turn % 2 == 1) return std::nullopt;
    rest.erase(shift);
    c.note("shift by a multiple of pi");
    const TermId angle = c.terms.sum(rest);
    if (op == Op::tan) return function(c, op, angle);
    const bool is_sine = (op == Op::sin) == (turn % 2 == 0);
    const bool negative = op == Op::sin ? turn >= 2 : turn == 1 || turn == 2;
    const TermId plain = function(c, is_sine ? Op::sin : Op::cos, angle);
    return negative ? scaled(c, plain, Rational(-1)) : plain;
}

// f(|u|) is f(u) for even functions, f(-u) is f(u) or -f(u).
std::optional<TermId> by_parity(Context& c, Op op, TermId argument) {
    const Parity parity = info(op).parity;
    if (parity == Parity::none) return std::nullopt;
    if (parity == Parity::even)
        if (const TermId plain = magnitude(c, argument); plain != argument) return function(c, op, plain);
    if (leading_sign(c.terms.arena(), argument) > 0) return std::nullopt;
    // (x + c)^2 - (x + c)^2 leads with a minus both ways round: terms that look alike stand in order of their signs
    const TermId opposite = scaled(c, argument, Rational(-1));
    if (leading_sign(c.terms.arena(), opposite) < 0) return std::nullopt;
    c.note("parity");
    const TermId turned = function(c, op, opposite);
    return parity == Parity::odd ? scaled(c, turned, Rational(-1)) : turned;
}

TermId new_function(Context& c, Op op, TermId argument) {
    const TermNode& inner = c.terms[argument];
    if (inner.kind == Kind::constant) {
        c.note("function of a constant");
        return c.constants.applied(op, argument);  // without bounds: it may absorb numbers that change them
    }
    if (const auto value = special_value(c, op, argument)) return *value;
    const bool below_one = op == Op::acosh && inner.is_function(Op::tanh);
    if (below_one || is_undefined_on(op, {inner.low, inner.high})) {
        c.note("defined nowhere");
        return c.terms.symbol(Op::nan);
    }
    if (op == Op::abs) return absolute(c, argument);
    if (op == Op::log) return logarithm(c, argument);
    if (const auto term = shifted_angle(c, op, argument)) return *term;
    if (const auto term = by_parity(c, op, argument)) return *term;
    if (const auto term = apply_function_rules(c, op, argument)) return *term;
    return c.terms.function(op, argument);
}

}  // namespace

TermId function(Context& c, Op op, TermId argument) {
    if (c.memory.may_recall())
        if (const TermId known = c.memory.recalled(c.terms.find_function(op, argument)); known != no_term) return known;
    Memory::Making making(c.memory);
    const TermId id = new_function(c, op, argument);
    const TermNode& node = c.terms[id];
    if (node.is_function(op) && node.argument == argument && !making.regrets()) making.settle(id);
    return id;
}

}  // namespace simplipy::canonical
