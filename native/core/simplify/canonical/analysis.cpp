// What is known of a term as it is made: variables, bounds, where it may be undefined or constant.

#include <algorithm>
#include <cmath>
#include <limits>

#include "canonical.hpp"
#include "core/simplify/bounds.hpp"
#include "core/simplify/polynomial.hpp"

namespace simplipy {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Whether it has corners, as |u| and asin(sin(u)) have: beside u it may be constant on an interval.
bool has_corners(Op op, const TermNode& argument) {
    const bool inverts = op == Op::asin || op == Op::acos || op == Op::atan;
    return op == Op::abs || (inverts && argument.has_wave && argument.has_variable);
}

}  // namespace

void Canonicalizer::analyse(TermId id) {
    TermNode& node = arena_.edit(id);
    const std::span<const Entry> entries = arena_.entries(id);
    node.low = -infinity;
    node.high = infinity;
    const auto take_in = [&node](const TermNode& inner) {
        node.has_variable |= inner.has_variable;
        node.has_constant |= inner.has_constant;
        node.partial |= inner.partial;
        node.has_absolute |= inner.has_absolute;
        node.has_wave |= inner.has_wave;
        node.depth = std::max<std::uint16_t>(node.depth, static_cast<std::uint16_t>(std::min(inner.depth + 1, 60000)));
    };
    for (const Entry& entry : entries) {
        take_in(arena_[entry.term]);
        if (entry.is_free()) take_in(arena_[entry.other]);
    }
    switch (node.kind) {
        case Kind::number:
            node.low = node.high = node.value.value();
            if (!node.value.is_double()) {  // 1 - 1e-20 is below 1
                const double slack = 4e-16 * std::fabs(node.low);
                node.low -= slack;
                node.high += slack;
            }
            break;
        case Kind::constant:
            node.has_constant = true;
            break;
        case Kind::variable:
            node.has_variable = true;
            if (options_.ranges != nullptr)
                if (const auto range = options_.ranges->find(node.payload); range != options_.ranges->end()) {
                    node.low = range->second.low;
                    node.high = range->second.high;
                }
            break;
        case Kind::symbol:
            if (node.op == Op::pi || node.op == Op::e) {
                node.low = node.op == Op::pi ? 3.0 : 2.5;
                node.high = node.op == Op::pi ? 3.5 : 3.0;
            } else {
                node.partial = true;
            }
            break;
        case Kind::opaque:
            node.low = node.high = to_double(Decimal{node.payload, node.exponent});
            break;
        case Kind::sum:
            analyse_sum(node, entries);
            break;
        case Kind::product:
            analyse_product(node, entries);
            break;
        case Kind::function:
            analyse_function(node);
            break;
        case Kind::none:
            break;
    }
    speller_.set_cost(node, entries);
}

// Whether the term may be 0 on a set of positive measure, as x + |x|.
bool Canonicalizer::may_vanish(TermId id) const {
    const TermNode& node = arena_[id];
    return node.low <= 0.0 && node.high >= 0.0 && may_be_constant(arena_, id);
}

// Whether the term may be an integer on a set of positive measure, as x/|x| and, where preserve keeps it, 2 + 0*log(x).
// A power with such an exponent is defined for negative bases there.
bool Canonicalizer::may_hold_integer(TermId id) const {
    const TermNode& node = arena_[id];
    if (node.kind == Kind::number) return node.value.is_integer();
    const std::span<const Entry> entries = arena_.entries(id);
    if (node.kind == Kind::sum && entries.size() == 1 && !entries[0].ratio.is_zero())
        return may_be_constant(arena_, entries[0].term);
    const bool is_number = node.kind == Kind::sum && std::all_of(entries.begin(), entries.end(), [](const Entry& e) {
                               return !e.is_free() && (e.term == one_term || e.ratio.is_zero());
                           });
    return is_number || may_be_constant(arena_, id);
}

void Canonicalizer::analyse_sum(TermNode& node, std::span<const Entry> entries) const {
    constexpr double slack = 1e-15;  // rounding goes outwards; exact zeros stay
    node.low = node.high = 0.0;
    for (const Entry& entry : entries) {
        if (entry.is_free()) {
            node.low = -infinity;
            node.high = infinity;
            return;
        }
        const TermNode& term = arena_[entry.term];
        const double k = entry.ratio.value();
        if (k == 0.0) continue;
        const double low = k > 0 ? k * term.low : k * term.high;
        const double high = k > 0 ? k * term.high : k * term.low;
        node.low += low - slack * std::fabs(low == -infinity ? 0.0 : low);
        node.high += high + slack * std::fabs(high == infinity ? 0.0 : high);
    }
}

void Canonicalizer::analyse_product(TermNode& node, std::span<const Entry> entries) const {
    int sign = 1;  // 0: unknown
    Bounds size{1.0, 1.0};
    for (const Entry& entry : entries) {
        const TermNode& base = arena_[entry.term];
        const bool nonnegative = base.low >= 0.0;
        const bool bounded = size.low > 0.0 || size.high < infinity;  // else nothing can be learnt
        if (entry.is_free()) {
            const bool exponential = base.kind == Kind::symbol && base.op == Op::e;
            const TermNode& power = arena_[entry.other];
            if (!nonnegative || may_vanish(entry.term)) node.partial = true;
            if (!exponential && !nonnegative) sign = 0;
            node.has_absolute |= entry.term == zero_term;  // 0^u
            if (exponential && bounded) {
                size = times(size, image(Op::exp, {power.low, power.high}));
            } else {
                size = times(size, power_image({base.low, base.high}, Bounds{power.low, power.high}));
            }
            continue;
        }
        if (entry.ratio.sign() < 0 && may_vanish(entry.term)) node.partial = true;
        if (!entry.ratio.odd_denominator()) {
            if (!nonnegative) node.partial = true;
        } else if (!entry.ratio.even_numerator() && !nonnegative) {
            sign = base.high <= 0.0 ? -sign : 0;
        }
        if (bounded && !entry.ratio.is_zero())
            size = times(size, power_image(image(Op::abs, {base.low, base.high}), entry.ratio));
    }
    node.low = sign > 0 ? size.low : -size.high;
    node.high = sign < 0 ? -size.low : size.high;
}

void Canonicalizer::analyse_function(TermNode& node) const {
    const TermNode& inner = arena_[node.argument];
    node.has_variable = inner.has_variable;
    node.has_constant = inner.has_constant;
    node.partial = inner.partial;
    node.has_absolute = inner.has_absolute || has_corners(node.op, inner);
    node.has_wave = inner.has_wave || info(node.op).has(role::wave);
    node.depth = static_cast<std::uint16_t>(std::min(inner.depth + 1, 60000));
    const bool in_unit = inner.low >= -1.0 && inner.high <= 1.0;
    if (node.op == Op::asin || node.op == Op::acos || node.op == Op::atanh) node.partial |= !in_unit;
    if (node.op == Op::acosh) node.partial |= !(inner.low >= 1.0);
    if (node.op == Op::log) node.partial |= !(inner.low >= 0.0) || may_vanish(node.argument);
    const Bounds bounds = image(node.op, {inner.low, inner.high});
    node.low = bounds.low;
    node.high = bounds.high;
}

}  // namespace simplipy
