#include "factor.hpp"

#include <algorithm>
#include <optional>

#include "core/simplify/canonical/product/power.hpp"
#include "core/simplify/canonical/product/product.hpp"
#include "sum.hpp"

namespace simplipy::canonical {
namespace {

constexpr std::size_t max_terms = 64;
constexpr std::size_t max_tried = 6;

// A power that terms share: of a base with the smallest exponent among theirs, or with a symbolic one.
struct Shared {
    Entry power;
    int count;

    bool is_in(const Entry& factor) const {
        return factor.term == power.term && factor.other == power.other &&
               (power.is_free() || factor.ratio.sign() == power.ratio.sign());
    }
};

// Whether two terms may have a base in common; false only when they have none.
bool may_share_factors(const Context& c, const Scratch<Entry>& list) {
    std::uint64_t seen = 0;
    const auto is_new = [&seen](TermId base) {
        const std::uint64_t bit = std::uint64_t{1} << (base & 63U);
        const bool fresh = (seen & bit) == 0;
        seen |= bit;
        return fresh;
    };
    for (const Entry& entry : list) {
        if (entry.term == one_term) continue;
        if (c.terms[entry.term].kind != Kind::product) {
            if (!is_new(entry.term)) return true;
            continue;
        }
        for (const Entry& factor : c.terms.entries(entry.term))
            if (!is_new(factor.term)) return true;
    }
    return false;
}

void record(Scratch<Shared>& powers, const Entry& factor) {
    for (Shared& shared : powers) {
        if (!shared.is_in(factor)) continue;
        ++shared.count;
        if (factor.ratio.absolute() < shared.power.ratio.absolute()) shared.power.ratio = factor.ratio;
        return;
    }
    powers.push_back({factor, 1});
}

// The powers that most terms share, first.
Scratch<Shared> shared_powers(const Context& c, const Scratch<Entry>& list) {
    Scratch<Shared> powers;
    for (const Entry& entry : list) {
        if (entry.term == one_term) continue;
        if (c.terms[entry.term].kind == Kind::product) {
            for (const Entry& factor : c.terms.entries(entry.term)) record(powers, factor);
        } else {
            record(powers, {entry.term, no_term, 1});
        }
    }
    erase_if(powers, [](const Shared& shared) { return shared.count < 2; });
    std::sort(powers.begin(), powers.end(), [&c](const Shared& a, const Shared& b) {
        if (a.count != b.count) return a.count > b.count;
        return a.power.term != b.power.term ? c.terms.arena().less(a.power.term, b.power.term)
                                            : a.power.ratio.sign() > b.power.ratio.sign();
    });
    if (powers.size() > max_tried) powers.resize(max_tried);
    return powers;
}

// Appends the entry divided by the power to `inside`, if it has it.
bool divide(Context& c, const Entry& entry, const Shared& shared, Scratch<Entry>& inside) {
    if (entry.term == one_term) return false;
    Parts rest;
    if (c.terms[entry.term].kind == Kind::product) {
        rest.factors = c.terms.copied_entries(entry.term);
    } else {
        rest.factors.push_back({entry.term, no_term, 1});
    }
    Entry* const factor = std::find_if(rest.factors.begin(), rest.factors.end(),
                                       [&](const Entry& candidate) { return shared.is_in(candidate); });
    if (factor == rest.factors.end()) return false;
    factor->ratio = factor->ratio - shared.power.ratio;
    // an even root that loses its remainder would widen the domain: sqrt(x)*x = sqrt(x)*(x), never x^(3/2)/x
    if (shared.power.is_free() || factor->ratio.is_zero()) rest.factors.erase(factor);
    const TermId term = close_product(c, std::move(rest));
    const Kind kind = c.terms[term].kind;
    if (kind != Kind::sum && kind != Kind::number) {
        inside.push_back({term, entry.other, entry.ratio});
    } else if (entry.is_free()) {
        inside.push_back({term, entry.other, 1});
    } else {
        add(c, inside, term, entry.ratio);
    }
    return true;
}

// The sum with the power before a bracket; nothing where fewer than two terms stand in that.
std::optional<Scratch<Entry>> bracketed(Context& c, const Scratch<Entry>& list, const Shared& shared) {
    Scratch<Entry> inside;
    Scratch<Entry> outside;
    for (const Entry& entry : list)
        if (!divide(c, entry, shared, inside)) outside.push_back(entry);
    if (inside.size() < 2) return std::nullopt;
    Parts product;
    product.factors.push_back(shared.power);
    multiply(c, product, close_sum(c, std::move(inside)), Rational(1));
    add(c, outside, close_product(c, std::move(product)), Rational(1));
    merge_terms(c, outside);
    return outside;
}

}  // namespace

bool factor_once(Context& c, Scratch<Entry>& list) {
    if (list.size() > max_terms || !may_share_factors(c, list)) return false;
    const Scratch<Shared> powers = shared_powers(c, list);
    if (powers.empty()) return false;
    int best_cost = c.terms[c.terms.sum(list)].cost.plain;
    Scratch<Entry> best;
    for (const Shared& shared : powers) {
        auto candidate = bracketed(c, list, shared);
        if (!candidate) continue;
        const int cost = c.terms[c.terms.sum(*candidate)].cost.plain;
        if (cost >= best_cost) continue;
        best_cost = cost;
        best = std::move(*candidate);
    }
    if (best.empty()) return false;
    c.note("common factor");
    list = std::move(best);
    return true;
}

}  // namespace simplipy::canonical
