#include <algorithm>

#include "canonical.hpp"

namespace simplipy {

void Canonicalizer::add(Scratch<Entry>& list, TermId id, const Rational& ratio) {
    const TermNode& node = arena_[id];
    if (node.kind == Kind::number) {
        list.push_back({one_term, no_term, node.value * ratio});
    } else if (node.kind == Kind::constant) {
        list.push_back({one_term, scaled_constant(id, ratio), 1});
    } else if (node.kind == Kind::sum) {
        list.reserve(list.size() + node.n_entries);
        for (std::uint32_t i = 0; i < node.n_entries; ++i) {
            const Entry entry = arena_.entries(id)[i];  // a copy: a new constant may move the entries
            if (entry.is_free()) {
                list.push_back({entry.term, scaled_constant(entry.other, ratio), 1});
            } else {
                list.push_back({entry.term, no_term, ratio.is_one() ? entry.ratio : entry.ratio * ratio});
            }
        }
    } else {
        list.push_back({id, no_term, ratio});
    }
}

TermId Canonicalizer::close_sum(Scratch<Entry> list) {
    merge_terms(list);
    if (may_recall() && list.size() > 1)
        if (const TermId known = recalled(find_sum(list)); known != no_term) return known;
    const OwnRegrets own(regrets_);
    bool changed = absorb_ground(list);
    if (changed) merge_terms(list);
    if (const auto value = infinite_sum(list)) return *value;
    if (options_.extend && list.size() > 1) changed |= merge_logarithms(list);
    while (list.size() > 1 && apply_sum_rules(list)) changed = true;
    while (options_.factor && list.size() > 1 && factor_once(list)) {
        merge_terms(list);
        changed = true;
    }
    if (options_.factor && list.size() > 1) changed |= expand_sums(list);
    const TermId sum = make_sum(list);
    if (!changed && list.size() > 1 && !regrets_ && !is_expanding_) settle(sum);
    return sum;
}

// The sum of two and more sorted terms where there is one, else no_term.
TermId Canonicalizer::find_sum(const Scratch<Entry>& list) const {
    TermNode node;
    node.kind = Kind::sum;
    return arena_.find(node, list);
}

TermId Canonicalizer::make_sum(const Scratch<Entry>& list) {
    if (list.empty()) return zero_term;
    if (list.size() == 1) {
        const Entry& entry = list[0];
        if (entry.term == one_term) return entry.is_free() ? entry.other : number(entry.ratio);
        if (!entry.is_free() && entry.ratio.is_one()) return entry.term;
    }
    TermNode node;
    node.kind = Kind::sum;
    const bool has_ties =
        std::any_of(list.begin(), list.end(), [this](const Entry& e) { return arena_[e.term].has_constant; });
    if (!has_ties) return intern(node, list);
    Scratch<Entry> settled = list;
    arena_.settle_ties(settled);
    return intern(node, settled);
}

// Sorts, adds up equal terms, drops zeros. A free coefficient swallows every other of its term.
void Canonicalizer::merge_terms(Scratch<Entry>& list) {
    const auto drops = [this](const Entry& entry) {
        // with preserve a term that restricts the domain stays, as 0 * term
        return !entry.is_free() && entry.ratio.is_zero() && (options_.extend || !arena_[entry.term].partial);
    };
    arena_.sort(list);
    const auto merges = [&](std::size_t i) {
        return drops(list[i]) || (i > 0 && list[i].term == list[i - 1].term && !is_infinite(list[i].term));
    };
    std::size_t n_kept = 0;
    while (n_kept < list.size() && !merges(n_kept)) ++n_kept;
    if (n_kept == list.size()) return;
    Scratch<Entry> merged;
    merged.reserve(list.size());
    for (std::size_t i = 0; i < list.size();) {
        std::size_t end = i + 1;
        const bool infinite = is_infinite(list[i].term);
        while (end < list.size() && list[end].term == list[i].term && !infinite) ++end;  // inf - inf is not 0
        Entry entry = list[i];
        if (end - i > 1) {
            note("like terms");
            const auto free = std::find_if(list.begin() + static_cast<std::ptrdiff_t>(i),
                                           list.begin() + static_cast<std::ptrdiff_t>(end),
                                           [](const Entry& e) { return e.is_free(); });
            if (free != list.begin() + static_cast<std::ptrdiff_t>(end)) {
                Scratch<Entry> coefficients;
                for (std::size_t k = i; k < end; ++k) coefficients.push_back({one_term, list[k].other, list[k].ratio});
                entry = {entry.term, options_.track ? new_constant(define_sum(coefficients)) : free->other, 1};
            } else {
                Scratch<Rational> ratios;
                for (std::size_t k = i; k < end; ++k) ratios.push_back(list[k].ratio);
                entry.ratio = exact_sum(std::move(ratios));
            }
        }
        if (!drops(entry)) merged.push_back(entry);
        i = end;
    }
    list = std::move(merged);
}

// One free constant takes in all that has no variable.
bool Canonicalizer::absorb_ground(Scratch<Entry>& list) {
    if (std::any_of(list.begin(), list.end(), [this](const Entry& entry) { return is_infinite(entry.term); }))
        return false;
    std::size_t n_ground = 0;
    const Entry* free = nullptr;
    for (const Entry& entry : list) {
        if (!is_ground(entry.term)) continue;
        ++n_ground;
        if (entry.is_free()) free = &entry;
    }
    if (free == nullptr || (n_ground == 1 && free->term == one_term)) return false;
    note("constants absorbed in a sum");
    Scratch<Entry> ground;
    for (const Entry& entry : list)
        if (is_ground(entry.term)) ground.push_back(entry);
    const TermId constant = options_.track ? new_constant(define_sum(ground)) : free->other;
    erase_if(list, [this](const Entry& entry) { return is_ground(entry.term); });
    list.push_back({one_term, constant, 1});
    return true;
}

std::optional<TermId> Canonicalizer::infinite_sum(const Scratch<Entry>& list) {
    int sign = 0;
    for (const Entry& entry : list) {
        const TermNode& term = arena_[entry.term];
        if (term.kind != Kind::symbol || (term.op != Op::inf && term.op != Op::neg_inf && term.op != Op::nan)) continue;
        if (!options_.extend || term.op == Op::nan || entry.is_free()) return symbol(Op::nan);
        const int this_sign = entry.ratio.sign() * (term.op == Op::inf ? 1 : -1);
        if (this_sign == 0 || (sign != 0 && sign != this_sign)) return symbol(Op::nan);
        sign = this_sign;
    }
    if (sign == 0) return std::nullopt;
    return symbol(sign > 0 ? Op::inf : Op::neg_inf);
}

// log a + log b is log(a*b) wherever it is defined, and defined in more places.
bool Canonicalizer::merge_logarithms(Scratch<Entry>& list) {
    const auto mergeable = [this](const Entry& entry) {
        const TermNode& term = arena_[entry.term];
        return term.kind == Kind::function && term.op == Op::log && !entry.is_free() && entry.ratio.is_integer() &&
               entry.ratio.absolute() < Rational(6);
    };
    if (std::count_if(list.begin(), list.end(), mergeable) < 2) return false;
    note("logarithms merged");
    Parts parts;
    for (const Entry& entry : list)
        if (mergeable(entry)) multiply(parts, arena_[entry.term].argument, entry.ratio);
    erase_if(list, mergeable);
    add(list, logarithm(close_product(std::move(parts))), Rational(1));
    merge_terms(list);
    return true;
}

TermId Canonicalizer::scaled(TermId id, const Rational& ratio) {
    if (ratio.is_one()) return id;
    Scratch<Entry> list;
    add(list, id, ratio);
    return make_sum(list);
}

// The rational that a sum is divided by to become primitive: integer coefficients without common factor, the first
// one positive. Free coefficients follow any scaling.
Rational Canonicalizer::content(TermId sum) const {
    Int128 p = 0;
    Int128 q = 1;
    int sign = 0;
    const auto is_unit = [](const Entry& entry) { return entry.is_free() || entry.ratio.is_unit(); };
    if (std::all_of(arena_.entries(sum).begin(), arena_.entries(sum).end(), is_unit)) return leading_sign(sum);
    for (const Entry& entry : arena_.entries(sum)) {
        if (entry.is_free() || entry.ratio.is_zero()) continue;
        if (sign == 0) sign = entry.ratio.sign();
        p = gcd(p, entry.ratio.p);
        if (entry.ratio.q != 1) q = checked_product(q / gcd(q, entry.ratio.q), entry.ratio.q);
    }
    if (sign == 0) return Rational(1);
    const Rational size = Rational::reduced(p, q);
    return sign < 0 ? -size : size;
}

// Whether two terms may have a base in common; false only when they have none.
bool Canonicalizer::may_share_factors(const Scratch<Entry>& list) const {
    std::uint64_t seen = 0;
    const auto is_new = [&seen](TermId base) {
        const std::uint64_t bit = std::uint64_t{1} << (base & 63U);
        const bool fresh = (seen & bit) == 0;
        seen |= bit;
        return fresh;
    };
    for (const Entry& entry : list) {
        if (entry.term == one_term) continue;
        if (arena_[entry.term].kind != Kind::product) {
            if (!is_new(entry.term)) return true;
            continue;
        }
        for (const Entry& factor : arena_.entries(entry.term))
            if (!is_new(factor.term)) return true;
    }
    return false;
}

// Takes one base out of the terms that share it, if the sum becomes shorter by that.
bool Canonicalizer::factor_once(Scratch<Entry>& list) {
    constexpr std::size_t max_terms = 64;
    if (list.size() > max_terms || !may_share_factors(list)) return false;
    struct Use {
        TermId base;
        TermId other;
        Rational ratio;
        int count;
    };
    Scratch<Use> uses;
    const auto record = [&](const Entry& factor) {
        for (Use& use : uses)
            if (use.base == factor.term && use.other == factor.other &&
                (use.other != no_term || use.ratio.sign() == factor.ratio.sign())) {
                ++use.count;
                if (factor.ratio.absolute() < use.ratio.absolute()) use.ratio = factor.ratio;
                return;
            }
        uses.push_back({factor.term, factor.other, factor.ratio, 1});
    };
    for (const Entry& entry : list) {
        if (entry.term == one_term) continue;
        if (arena_[entry.term].kind == Kind::product) {
            for (const Entry& factor : arena_.entries(entry.term)) record(factor);
        } else {
            record({entry.term, no_term, 1});
        }
    }
    erase_if(uses, [](const Use& use) { return use.count < 2; });
    if (uses.empty()) return false;
    std::sort(uses.begin(), uses.end(), [this](const Use& a, const Use& b) {
        if (a.count != b.count) return a.count > b.count;
        return a.base != b.base ? arena_.less(a.base, b.base) : a.ratio.sign() > b.ratio.sign();
    });
    if (uses.size() > 6) uses.resize(6);
    const TermId before = make_sum(list);
    int best_cost = arena_[before].cost.plain;
    Scratch<Entry> best;
    for (const Use& use : uses) {
        Scratch<Entry> inside;
        Scratch<Entry> outside;
        for (const Entry& entry : list) {
            Scratch<Entry> factors;
            if (arena_[entry.term].kind == Kind::product) {
                factors.assign(arena_.entries(entry.term).begin(), arena_.entries(entry.term).end());
            } else {
                factors.push_back({entry.term, no_term, 1});
            }
            const auto shared = std::find_if(factors.begin(), factors.end(), [&](const Entry& factor) {
                return entry.term != one_term && factor.term == use.base && factor.other == use.other &&
                       (use.other != no_term || factor.ratio.sign() == use.ratio.sign());
            });
            if (shared == factors.end()) {
                outside.push_back(entry);
                continue;
            }
            shared->ratio = shared->ratio - use.ratio;
            // an even root that loses its remainder would widen the domain: sqrt(x)*x = sqrt(x)*(x), never x^(3/2)/x
            if (use.other != no_term || shared->ratio.is_zero()) factors.erase(shared);
            Parts rest;
            rest.factors = std::move(factors);
            const TermId term = close_product(std::move(rest));
            const TermNode& node = arena_[term];
            if (node.kind == Kind::sum || node.kind == Kind::number) {
                if (entry.is_free()) {
                    inside.push_back({term, entry.other, 1});
                } else {
                    add(inside, term, entry.ratio);
                }
            } else {
                inside.push_back({term, entry.other, entry.ratio});
            }
        }
        if (inside.size() < 2) continue;
        Parts product;
        product.factors.push_back({use.base, use.other, use.other != no_term ? Rational(0) : use.ratio});
        multiply(product, close_sum(std::move(inside)), Rational(1));
        add(outside, close_product(std::move(product)), Rational(1));
        merge_terms(outside);
        const int cost = arena_[make_sum(outside)].cost.plain;
        if (cost < best_cost) {
            best_cost = cost;
            best = std::move(outside);
        }
    }
    if (best.empty()) return false;
    note("common factor");
    list = std::move(best);
    return true;
}

}  // namespace simplipy
