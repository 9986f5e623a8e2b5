#include "sum.hpp"

#include <algorithm>
#include <optional>

#include "core/simplify/canonical/function/logarithm.hpp"
#include "core/simplify/canonical/product/power.hpp"
#include "core/simplify/canonical/product/product.hpp"
#include "core/simplify/canonical/rules/rewrite.hpp"
#include "core/simplify/canonical/terms/exact_product.hpp"
#include "factor.hpp"

namespace simplipy::canonical {
namespace {

// The sum of entries of one term. A free coefficient swallows every other.
Entry merged_entry(Context& c, std::span<const Entry> same) {
    c.note("like terms");
    const Entry& first = same[0];
    const auto free = std::find_if(same.begin(), same.end(), [](const Entry& e) { return e.is_free(); });
    if (free == same.end()) {
        Scratch<Rational> ratios;
        for (const Entry& entry : same) ratios.push_back(entry.ratio);
        return {first.term, first.other, exact_sum(std::move(ratios))};
    }
    Scratch<Entry> coefficients;
    for (const Entry& entry : same) coefficients.push_back({one_term, entry.other, entry.ratio});
    return {first.term, c.constants.sum(coefficients, free->other), 1};
}

// One free constant takes in all that has no variable.
bool absorb_ground(Context& c, Scratch<Entry>& list) {
    if (std::any_of(list.begin(), list.end(), [&c](const Entry& entry) { return c.terms.is_infinite(entry.term); }))
        return false;
    std::size_t n_ground = 0;
    const Entry* free = nullptr;
    for (const Entry& entry : list) {
        if (!c.terms.is_ground(entry.term)) continue;
        ++n_ground;
        if (entry.is_free()) free = &entry;
    }
    if (free == nullptr || (n_ground == 1 && free->term == one_term)) return false;
    c.note("constants absorbed in a sum");
    Scratch<Entry> ground;
    for (const Entry& entry : list)
        if (c.terms.is_ground(entry.term)) ground.push_back(entry);
    const TermId constant = c.constants.sum(ground, free->other);
    erase_if(list, [&c](const Entry& entry) { return c.terms.is_ground(entry.term); });
    list.push_back({one_term, constant, 1});
    return true;
}

std::optional<TermId> infinite_sum(Context& c, const Scratch<Entry>& list) {
    int sign = 0;
    for (const Entry& entry : list) {
        const TermNode& term = c.terms[entry.term];
        if (!term.is_symbol(Op::inf) && !term.is_symbol(Op::neg_inf) && !term.is_symbol(Op::nan)) continue;
        if (!c.options.extend || term.op == Op::nan || entry.is_free()) return c.terms.symbol(Op::nan);
        const int this_sign = entry.ratio.sign() * (term.op == Op::inf ? 1 : -1);
        if (this_sign == 0 || (sign != 0 && sign != this_sign)) return c.terms.symbol(Op::nan);
        sign = this_sign;
    }
    if (sign == 0) return std::nullopt;
    return c.terms.symbol(sign > 0 ? Op::inf : Op::neg_inf);
}

// log a + log b is log(a*b) wherever it is defined, and defined in more places.
bool merge_logarithms(Context& c, Scratch<Entry>& list) {
    const auto mergeable = [&c](const Entry& entry) {
        return c.terms[entry.term].is_function(Op::log) && !entry.is_free() && entry.ratio.is_integer() &&
               entry.ratio.absolute() < Rational(6);
    };
    if (std::count_if(list.begin(), list.end(), mergeable) < 2) return false;
    c.note("logarithms merged");
    Parts parts;
    for (const Entry& entry : list)
        if (mergeable(entry)) multiply(c, parts, c.terms[entry.term].argument, entry.ratio);
    erase_if(list, mergeable);
    add(c, list, logarithm(c, close_product(c, std::move(parts))), Rational(1));
    merge_terms(c, list);
    return true;
}

}  // namespace

void add(Context& c, Scratch<Entry>& list, TermId id, const Rational& ratio) {
    const TermNode& node = c.terms[id];
    if (node.kind == Kind::number) {
        list.push_back({one_term, no_term, node.value * ratio});
    } else if (node.kind == Kind::constant) {
        list.push_back({one_term, c.constants.scaled(id, ratio), 1});
    } else if (node.kind == Kind::sum) {
        list.reserve(list.size() + node.n_entries);
        for (std::uint32_t i = 0; i < node.n_entries; ++i) {
            const Entry entry = c.terms.entries(id)[i];  // a copy: a new constant may move the entries
            if (entry.is_free()) {
                list.push_back({entry.term, c.constants.scaled(entry.other, ratio), 1});
            } else {
                list.push_back({entry.term, no_term, ratio.is_one() ? entry.ratio : entry.ratio * ratio});
            }
        }
    } else {
        list.push_back({id, no_term, ratio});
    }
}

void merge_terms(Context& c, Scratch<Entry>& list) {
    const auto drops = [&c](const Entry& entry) {
        // with preserve a term that restricts the domain stays, as 0 * term
        return !entry.is_free() && entry.ratio.is_zero() && (c.options.extend || !c.terms[entry.term].partial);
    };
    c.terms.arena().sort(list);
    const auto merges = [&](std::size_t i) {  // inf - inf is not 0
        return list[i].term == list[i - 1].term && !c.terms.is_infinite(list[i].term);
    };
    std::size_t n_kept = 0;
    while (n_kept < list.size() && !drops(list[n_kept]) && !(n_kept > 0 && merges(n_kept))) ++n_kept;
    if (n_kept == list.size()) return;
    Scratch<Entry> merged;
    merged.reserve(list.size());
    for (std::size_t i = 0; i < list.size();) {
        std::size_t end = i + 1;
        while (end < list.size() && merges(end)) ++end;
        const Entry entry = end - i > 1 ? merged_entry(c, {list.data() + i, end - i}) : list[i];
        if (!drops(entry)) merged.push_back(entry);
        i = end;
    }
    list = std::move(merged);
}

TermId close_sum(Context& c, Scratch<Entry> list) {
    merge_terms(c, list);
    if (c.memory.may_recall() && list.size() > 1)
        if (const TermId known = c.memory.recalled(c.terms.find_sum(list)); known != no_term) return known;
    Memory::Making making(c.memory);
    bool changed = absorb_ground(c, list);
    if (changed) merge_terms(c, list);
    if (const auto value = infinite_sum(c, list)) return *value;
    if (c.options.extend && list.size() > 1) changed |= merge_logarithms(c, list);
    while (list.size() > 1 && apply_sum_rules(c, list)) changed = true;
    while (c.options.factor && list.size() > 1 && factor_once(c, list)) {
        merge_terms(c, list);
        changed = true;
    }
    if (c.options.factor && list.size() > 1) changed |= multiply_out(c, list);
    const TermId sum = c.terms.sum(list);
    if (!changed && list.size() > 1 && !making.regrets() && !c.expansion.is_under_way()) making.settle(sum);
    return sum;
}

TermId scaled(Context& c, TermId id, const Rational& ratio) {
    if (ratio.is_one()) return id;
    Scratch<Entry> list;
    add(c, list, id, ratio);
    return c.terms.sum(list);
}

}  // namespace simplipy::canonical
