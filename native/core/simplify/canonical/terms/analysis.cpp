#include "analysis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/simplify/bounds.hpp"
#include "core/simplify/polynomial.hpp"

namespace simplipy::canonical {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Whether it has corners, as |u| and asin(sin(u)) have: beside u it may be constant on an interval.
bool has_corners(Op op, const TermNode& argument) {
    const bool inverts = op == Op::asin || op == Op::acos || op == Op::atan;
    return op == Op::abs || (inverts && argument.has_wave && argument.has_variable);
}

void take_in(TermNode& node, const TermNode& inner) {
    node.has_variable |= inner.has_variable;
    node.has_constant |= inner.has_constant;
    node.partial |= inner.partial;
    node.has_absolute |= inner.has_absolute;
    node.has_wave |= inner.has_wave;
    node.depth = std::max<std::uint16_t>(node.depth, static_cast<std::uint16_t>(std::min(inner.depth + 1, 60000)));
}

void analyse_number(TermNode& node) {
    node.low = node.high = node.value.value();
    if (node.value.is_double()) return;
    const double slack = 4e-16 * std::fabs(node.low);  // 1 - 1e-20 is below 1
    node.low -= slack;
    node.high += slack;
}

void analyse_variable(TermNode& node, const std::map<std::int64_t, Range>* ranges) {
    node.has_variable = true;
    if (ranges == nullptr) return;
    const auto range = ranges->find(node.payload);
    if (range == ranges->end()) return;
    node.low = range->second.low;
    node.high = range->second.high;
}

void analyse_symbol(TermNode& node) {
    if (node.op == Op::pi || node.op == Op::e) {
        node.low = node.op == Op::pi ? 3.0 : 2.5;
        node.high = node.op == Op::pi ? 3.5 : 3.0;
    } else {
        node.partial = true;
    }
}

void analyse_sum(const Arena& arena, TermNode& node) {
    constexpr double slack = 1e-15;  // rounding goes outwards; exact zeros stay
    node.low = node.high = 0.0;
    for (const Entry& entry : arena.entries(node)) {
        if (entry.is_free()) {
            node.low = -infinity;
            node.high = infinity;
            return;
        }
        const TermNode& term = arena[entry.term];
        const double k = entry.ratio.value();
        if (k == 0.0) continue;
        const double low = k > 0 ? k * term.low : k * term.high;
        const double high = k > 0 ? k * term.high : k * term.low;
        node.low += low - slack * std::fabs(low == -infinity ? 0.0 : low);
        node.high += high + slack * std::fabs(high == infinity ? 0.0 : high);
    }
}

// It may be constant on an interval, as max(x, 0).
void analyse_extremum(const Arena& arena, TermNode& node) {
    const bool greatest = node.op == Op::max;
    node.has_absolute = true;
    node.low = node.high = greatest ? -infinity : infinity;
    for (const Entry& entry : arena.entries(node)) {
        const TermNode& term = arena[entry.term];
        node.low = greatest ? std::max(node.low, term.low) : std::min(node.low, term.low);
        node.high = greatest ? std::max(node.high, term.high) : std::min(node.high, term.high);
    }
}

void analyse_product(const Arena& arena, TermNode& node) {
    int sign = 1;  // 0: unknown
    Bounds size{1.0, 1.0};
    for (const Entry& entry : arena.entries(node)) {
        const TermNode& base = arena[entry.term];
        const bool nonnegative = base.low >= 0.0;
        const bool bounded = size.low > 0.0 || size.high < infinity;  // else nothing can be learnt
        if (entry.is_free()) {
            const bool exponential = is_euler(base);
            const TermNode& power = arena[entry.other];
            if (!nonnegative || may_vanish(arena, entry.term)) node.partial = true;
            if (!exponential && !nonnegative) sign = 0;
            node.has_absolute |= entry.term == zero_term;  // 0^u
            if (exponential && bounded) {
                size = times(size, image(Op::exp, {power.low, power.high}));
            } else {
                size = times(size, power_image({base.low, base.high}, Bounds{power.low, power.high}));
            }
            continue;
        }
        if (entry.ratio.sign() < 0 && may_vanish(arena, entry.term)) node.partial = true;
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

void analyse_function(const Arena& arena, TermNode& node) {
    const TermNode& inner = arena[node.argument];
    take_in(node, inner);
    node.has_absolute |= has_corners(node.op, inner);
    node.has_wave |= info(node.op).has(role::wave);
    const bool in_unit = inner.low >= -1.0 && inner.high <= 1.0;
    if (node.op == Op::asin || node.op == Op::acos || node.op == Op::atanh) node.partial |= !in_unit;
    if (node.op == Op::acosh) node.partial |= !(inner.low >= 1.0);
    if (node.op == Op::log) node.partial |= !(inner.low >= 0.0) || may_vanish(arena, node.argument);
    const Bounds bounds = image(node.op, {inner.low, inner.high});
    node.low = bounds.low;
    node.high = bounds.high;
}

}  // namespace

void analyse(const Arena& arena, TermNode& node, const std::map<std::int64_t, Range>* ranges) {
    node.low = -infinity;
    node.high = infinity;
    for (const Entry& entry : arena.entries(node)) {
        take_in(node, arena[entry.term]);
        if (entry.is_free()) take_in(node, arena[entry.other]);
    }
    switch (node.kind) {
        case Kind::number:
            analyse_number(node);
            break;
        case Kind::constant:
            node.has_constant = true;
            break;
        case Kind::variable:
            analyse_variable(node, ranges);
            break;
        case Kind::symbol:
            analyse_symbol(node);
            break;
        case Kind::opaque:
            node.low = node.high = to_double(Decimal{node.payload, node.exponent});
            break;
        case Kind::sum:
            analyse_sum(arena, node);
            break;
        case Kind::product:
            analyse_product(arena, node);
            break;
        case Kind::function:
            analyse_function(arena, node);
            break;
        case Kind::extremum:
            analyse_extremum(arena, node);
            break;
        case Kind::none:
            break;
    }
}

bool may_vanish(const Arena& arena, TermId id) {
    const TermNode& node = arena[id];
    return node.low <= 0.0 && node.high >= 0.0 && may_be_constant(arena, id);
}

bool may_hold_integer(const Arena& arena, TermId id) {
    const TermNode& node = arena[id];
    if (node.kind == Kind::number) return node.value.is_integer();
    const std::span<const Entry> entries = arena.entries(node);
    if (node.is_multiple() && !entries[0].ratio.is_zero()) return may_be_constant(arena, entries[0].term);
    const bool is_number = node.kind == Kind::sum && std::all_of(entries.begin(), entries.end(), [](const Entry& e) {
                               return !e.is_free() && (e.term == one_term || e.ratio.is_zero());
                           });
    return is_number || may_be_constant(arena, id);
}

int leading_sign(const Arena& arena, TermId id) {
    const TermNode& node = arena[id];
    if (node.kind == Kind::number) return node.value.sign() < 0 ? -1 : 1;
    if (node.kind == Kind::sum)
        for (const Entry& entry : arena.entries(node))
            if (!entry.is_free()) return entry.ratio.sign() < 0 ? -1 : 1;
    return node.is_symbol(Op::neg_inf) ? -1 : 1;
}

namespace {

// The content times a power of ten, where whole numbers would be long without it: 1.25143*x + 7.8 stays as it is, and
// does not become 125143*x + 780000. Multiples of one sum leave the same sum. A coefficient 1 stays one.
Rational with_readable_rest(const Rational& content, std::span<const Entry> entries) {
    constexpr Int128 longest = 10000;
    Int128 largest = 0;
    for (const Entry& entry : entries) {
        if (entry.is_free() || entry.ratio.is_zero()) continue;
        const Int128 whole = (entry.ratio.absolute() / content).p;
        if (whole == 1) return content;
        largest = std::max(largest, whole);
    }
    if (largest < longest) return content;
    Rational shift(10);
    while (largest / shift.p >= 10) shift.p *= 10;
    return product_that_fits(content, shift).value_or(content);
}

}  // namespace

Rational content(const Arena& arena, TermId sum) {
    const std::span<const Entry> entries = arena.entries(sum);
    const auto is_unit = [](const Entry& entry) { return entry.is_free() || entry.ratio.is_unit(); };
    if (std::all_of(entries.begin(), entries.end(), is_unit)) return leading_sign(arena, sum);
    Int128 p = 0;
    Int128 q = 1;
    int sign = 0;
    for (const Entry& entry : entries) {
        if (entry.is_free() || entry.ratio.is_zero()) continue;
        if (sign == 0) sign = entry.ratio.sign();
        p = gcd(p, entry.ratio.p);
        if (entry.ratio.q != 1) q = checked_product(q / gcd(q, entry.ratio.q), entry.ratio.q);
    }
    if (sign == 0) return Rational(1);
    const Rational size = with_readable_rest(Rational::reduced(p, q), entries);
    return sign < 0 ? -size : size;
}

}  // namespace simplipy::canonical
