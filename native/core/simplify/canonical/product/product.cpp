#include "product.hpp"

#include <algorithm>

#include "cancel.hpp"
#include "core/simplify/canonical/rules/rewrite.hpp"
#include "core/simplify/canonical/sum/sum.hpp"
#include "core/simplify/spell/tokens.hpp"
#include "merge.hpp"

namespace simplipy::canonical {
namespace {

bool absorb_ground(Context& c, Parts& parts) {
    if (parts.constant == no_term) return false;
    if (std::any_of(parts.factors.begin(), parts.factors.end(),
                    [&c](const Entry& e) { return c.terms.is_infinite(e.term); }))
        return false;
    const auto ground = [&c](const Entry& entry) {
        return c.terms.is_ground(entry.term) && (!entry.is_free() || c.terms.is_ground(entry.other));
    };
    Scratch<Entry> absorbed;
    for (const Entry& entry : parts.factors)
        if (ground(entry)) absorbed.push_back(entry);
    if (absorbed.empty() && parts.coefficient.value().is_one()) return false;
    if (parts.coefficient.value().is_zero()) return false;
    c.note("constants absorbed in a product");
    parts.constant = c.constants.times_all(parts.constant, absorbed, parts.coefficient.value());
    parts.coefficient = Rational(1);
    erase_if(parts.factors, ground);
    return true;
}

// k * sqrt(c*u) is sqrt(d*u) for k > 0, k/(c*u + d*v) is 1/(c*u + d*v): free coefficients take a number in.
bool absorb_in_root(Context& c, Parts& parts) {
    if (parts.coefficient.value().absolute().is_one() || parts.coefficient.value().is_zero() ||
        parts.constant != no_term)
        return false;
    for (Entry& factor : parts.factors) {
        const Rational degree = factor.is_free() || factor.ratio.is_zero() ? Rational(0) : reciprocal(factor.ratio);
        const bool is_root = degree.is_integer() && (degree.even_numerator() || degree.absolute().is_one());
        if (!is_root || degree.is_zero() || c.terms[factor.term].kind != Kind::sum) continue;
        const std::span<const Entry> entries = c.terms.entries(factor.term);
        if (!std::all_of(entries.begin(), entries.end(), [](const Entry& e) { return e.is_free(); })) continue;
        const bool takes_sign = degree.absolute().is_one();
        const auto power = integer_power(takes_sign ? parts.coefficient.value() : parts.coefficient.value().absolute(),
                                         degree.small());
        if (!power) continue;
        c.note("number absorbed by free coefficients");
        factor.term = scaled(c, factor.term, *power);
        parts.coefficient = takes_sign ? Rational(1) : Rational(parts.coefficient.value().sign());
        return true;
    }
    return false;
}

// |a|^3 * |b| is |a^3 * b|; bars with the same exponent are merged in writing.
bool merge_absolutes(Context& c, Parts& parts) {
    const auto has_bars = [&c](const Entry& factor) {
        return !factor.is_free() && factor.ratio.odd_denominator() && c.terms[factor.term].is_function(Op::abs);
    };
    const auto first = std::find_if(parts.factors.begin(), parts.factors.end(), has_bars);
    if (first == parts.factors.end()) return false;
    const Rational exponent = first->ratio.absolute();
    if (std::none_of(first, parts.factors.end(),
                     [&](const Entry& e) { return has_bars(e) && !(e.ratio.absolute() == exponent); }))
        return false;
    c.memory.regret();
    if (!c.options.keep) return false;
    Scratch<Entry> inside;
    for (const Entry& factor : parts.factors)
        if (has_bars(factor)) inside.push_back({c.terms[factor.term].argument, no_term, factor.ratio});
    erase_if(parts.factors, has_bars);
    parts.push(c.terms.function(Op::abs, c.terms.product(inside)), 1);
    return true;
}

// Whether this is the product of the factors, alone or times a number or constant.
bool is_made_of(const Context& c, TermId whole, const Parts& parts) {
    const TermNode& node = c.terms[whole];
    if (node.kind == Kind::product) return true;
    if (!node.is_multiple()) return false;
    const TermId product = c.terms.entries(whole)[0].term;
    return parts.is_power() ? c.terms[product].kind == Kind::product : product == parts.factors[0].term;
}

// The term of merged factors where there is one, else no_term.
TermId find_product(const Context& c, const Parts& parts) {
    const bool is_multiple = !parts.coefficient.value().is_one() || parts.constant != no_term;
    if (!is_multiple && !parts.is_power()) return no_term;
    const TermId product = parts.is_power() ? c.terms.find_product(parts.factors) : parts.factors[0].term;
    if (product == no_term || !is_multiple) return product;
    const Entry entry{product, parts.constant, parts.coefficient.value()};
    return c.terms.find_sum({&entry, 1});
}

// The sign of an infinity, where the signs of all other factors are known. A term that is defined nowhere may become
// anything: nan where they are not.
TermId infinite_product(Context& c, const Parts& parts) {
    int sign = parts.coefficient.value().sign();
    if (!c.options.extend || sign == 0 || parts.constant != no_term) return c.terms.symbol(Op::nan);
    for (const Entry& entry : parts.factors) {
        const TermNode& base = c.terms[entry.term];
        const bool endless = base.is_symbol(Op::inf) || base.is_symbol(Op::neg_inf);
        const bool positive = base.op == Op::inf || (!endless && base.low > 0.0);
        const bool negative = base.op == Op::neg_inf || (!endless && base.high < 0.0);
        if (entry.is_free()) {
            const bool grows = entry.ratio.sign() >= 0 && c.terms[entry.other].low > 0.0;
            if (!positive || (endless && !grows)) return c.terms.symbol(Op::nan);
        } else if (!positive && !(negative && entry.ratio.odd_denominator())) {
            return c.terms.symbol(Op::nan);
        } else if (negative && !entry.ratio.even_numerator()) {
            sign = -sign;
        }
    }
    return c.terms.symbol(sign > 0 ? Op::inf : Op::neg_inf);
}

// Whether sums would be shorter with the numbers that were taken out of them.
bool is_shorter_with_content(const Context& c, const Parts& parts, TermId product, TermId whole) {
    if (!parts.has_content()) return false;
    if (parts.constant != no_term) return parts.content_tokens < 0;
    ExactProduct outside = parts.content.inverse();
    outside.multiply(parts.coefficient.value().absolute());
    if (!attempt([&] { return outside.gather(), true; })) return true;  // the other form has fewer digits
    const Rational& rest = outside.value();
    const int kept = c.terms[product].cost.plain + parts.content_tokens + scaling(rest, false).tokens;
    return kept < c.terms[whole].cost.plain + !rest.is_one();
}

// c * (sum): a sum whose coefficients are all free takes c in; a free addend comes out of the bracket.
TermId free_times_sum(Context& c, TermId constant, TermId sum) {
    const Scratch<Entry> entries = c.terms.copied_entries(sum);
    const auto n_free = std::count_if(entries.begin(), entries.end(), [](const Entry& e) { return e.is_free(); });
    const auto times = [&](const Entry& entry) {
        return c.constants.times(entry.is_free() ? entry.other : c.terms.number(entry.ratio), constant);
    };
    if (static_cast<std::size_t>(n_free) + 1 >= entries.size() &&
        !(c.options.keep && entries[0].term != one_term)) {  // at most one rational entry: every term gets its own
        Scratch<Entry> list;
        for (const Entry& entry : entries) list.push_back({entry.term, times(entry), 1});
        return c.terms.sum(list);
    }
    if (entries[0].term == one_term && entries[0].is_free()) {
        const Scratch<Entry> rest(entries.begin() + 1, entries.end());
        const TermId inner = c.terms.sum(rest);
        return close_sum(c, {{one_term, times(entries[0]), 1}, {inner, constant, 1}});
    }
    return c.terms.sum({{sum, constant, 1}});
}

enum class Endless : std::uint8_t { no, infinite, undefined };

Endless endlessness(const Context& c, const Parts& parts) {
    Endless result = Endless::no;
    for (const Entry& entry : parts.factors) {
        const TermNode& base = c.terms[entry.term];
        if (base.is_symbol(Op::nan)) return Endless::undefined;
        if (base.is_symbol(Op::inf) || base.is_symbol(Op::neg_inf)) result = Endless::infinite;
    }
    return result;
}

TermId times_zero(Context& c, const Parts& parts) {
    const TermId rest = c.terms.product(parts.factors);
    if (c.options.extend || !c.terms[rest].partial) return zero_term;
    return c.terms.sum({{rest, no_term, 0}});
}

}  // namespace

TermId close_product(Context& c, Parts parts) {
    merge_all_factors(c, parts);
    const bool is_plain = !parts.has_content() && !parts.factors.empty();
    if (is_plain && c.memory.may_recall())
        if (const TermId known = c.memory.recalled(find_product(c, parts)); known != no_term) return known;
    Memory::Making making(c.memory);
    bool changed = absorb_ground(c, parts);
    changed |= absorb_in_root(c, parts);
    while (apply_product_rules(c, parts) || (parts.factors.size() > 1 && cancel_polynomials(c, parts))) changed = true;
    if (changed) absorb_ground(c, parts);  // numbers that rules brought
    const Endless endless = endlessness(c, parts);
    if (endless == Endless::undefined) return c.terms.symbol(Op::nan);
    if (parts.factors.size() > 1) changed |= merge_absolutes(c, parts);
    if (endless == Endless::infinite) return infinite_product(c, parts);
    if (parts.coefficient.value().is_zero()) return times_zero(c, parts);
    const TermId product = c.terms.product(parts.factors);
    const TermId whole = with_coefficient(c, parts, product);
    if (is_shorter_with_content(c, parts, product, whole)) c.memory.regret();
    if (is_plain && !changed && !making.regrets() && is_made_of(c, whole, parts)) making.settle(whole);
    return whole;
}

TermId with_coefficient(Context& c, const Parts& parts, TermId term) {
    const TermNode& node = c.terms[term];
    if (parts.constant != no_term) {
        if (term == one_term) return parts.constant;
        if (node.kind == Kind::sum) return free_times_sum(c, parts.constant, term);
        return c.terms.sum({{term, parts.constant, 1}});
    }
    const Rational& coefficient = parts.coefficient.value();
    if (node.kind == Kind::sum || node.kind == Kind::number) return scaled(c, term, coefficient);
    if (coefficient.is_one()) return term;
    return c.terms.sum({{term, no_term, coefficient}});
}

TermId closed_as_merged(Context& c, const Parts& parts) {
    return with_coefficient(c, parts, c.terms.product(parts.factors));
}

void gather_numbers(Context& c, Parts& parts) {
    if (parts.constant != no_term && !parts.coefficient.is_whole() && !parts.coefficient.value().is_zero()) {
        parts.constant = c.constants.times_all(parts.constant, parts.coefficient.waiting());
        parts.coefficient = parts.coefficient.value();
    }
    parts.coefficient.gather();
}

void multiply_constant(Context& c, Parts& parts, TermId constant, const Rational& exponent) {
    parts.constant = c.constants.times_power(parts.constant, constant, exponent);
}

}  // namespace simplipy::canonical
