#include "absorption.hpp"

#include <array>
#include <memory>
#include <optional>

#include "sum_cost.hpp"
#include "tokens.hpp"

namespace simplipy::spelling {
namespace {

// Tries root^n * rest for the coefficient of a product, the root inside of its factor with exponent n or -n.
void absorb(const Speller& speller, Absorption& best, const Entry& product, std::uint32_t which, const Rational& root,
            const Rational& rest, bool into_sum) {
    const Entry& factor = speller.entries(product.term)[which];
    const TermNode& base = speller[factor.term];
    const bool no_numerator = speller[product.term].no_numerator;
    const int before = scaling(product.ratio.absolute(), no_numerator).tokens - scaling(rest, false).tokens;
    const Rational inside = factor.ratio.sign() > 0 ? root : reciprocal(root);
    if (before <= best.saved) return;
    if (into_sum && base.kind == Kind::sum && !all_units(speller.entries(factor.term))) {
        const Scale scaled = sum_cost(speller, divided(speller.entries(factor.term), reciprocal(inside)));
        if (scaled.negative - scaled.plain != base.cost.negative - base.cost.plain) return;
        const int saved = before - (scaled.plain - base.cost.plain);
        if (saved > best.saved) best = {which, inside, true, rest, saved};
    }
    if (factor.ratio.is_integer() && !factor.ratio.absolute().is_one()) {
        const Scaling scale = scaling(inside, false);
        if (scale.kind == Scaling::Kind::chain && before - scale.tokens > best.saved)
            best = {which, inside, false, rest, before - scale.tokens};
    }
}

// Takes a small number out of the coefficient, such as makes one of a sum's coefficients 1.
void absorb_part(const Speller& speller, Absorption& best, const Entry& product, std::uint32_t which, int n) {
    const Entry& factor = speller.entries(product.term)[which];
    const Rational k = product.ratio.absolute();
    const auto attempt = [&](const Rational& root, bool into_sum) {
        const auto power = integer_power(root, n);
        if (power && power->is_small()) absorb(speller, best, product, which, root, k / *power, into_sum);
    };
    if (n > 1)
        for (const int j : {2, 3, 4, 5}) {
            if (k.p > 1) attempt(Rational(j), false);
            if (k.q > 1) attempt(Rational::of(1, j), false);
        }
    if (speller[factor.term].kind != Kind::sum) return;
    for (int j = 2; j <= 5; ++j) {
        const auto is_multiple = [j](const Entry& e) {
            if (e.is_free() || e.ratio.p == 0) return false;
            return e.ratio.is_small() ? static_cast<int>(e.ratio.p) % j == 0 : e.ratio.p % j == 0;
        };
        const std::span<const Entry> entries = speller.entries(factor.term);
        if (std::any_of(entries.begin(), entries.end(), is_multiple))
            attempt(factor.ratio.sign() > 0 ? Rational::of(1, j) : Rational(j), true);
    }
}

Absorption find_absorption(const Speller& speller, const Entry& entry) {
    const TermNode& term = speller[entry.term];
    const Rational& k = entry.ratio;
    Absorption best;
    const bool is_long = k.is_small() && scaling(k, term.no_numerator).tokens > 1;
    const std::span<const Entry> factors = speller.entries(entry.term);
    for (std::uint32_t i = 0; i < factors.size(); ++i) {
        if (factors[i].is_free()) continue;
        const Rational size = factors[i].ratio.absolute();
        const bool is_sum = speller[factors[i].term].kind == Kind::sum;
        if (size.p == 1 && size.q > 1 && size.q <= 5 && is_sum)
            if (const auto power = integer_power(k, static_cast<int>(size.q)))
                absorb(speller, best, entry, i, *power, 1, true);
        const int n = size.small();
        if (n < 1 || n > 25 || (n == 1 && !is_sum)) continue;
        if (const auto root = n == 1 ? std::optional(k) : exact_root(k, n))
            absorb(speller, best, entry, i, *root, 1, true);
        if (is_long) absorb_part(speller, best, entry, i, n);
    }
    return best;
}

}  // namespace

Absorption absorption(const Speller& speller, const Entry& entry) {
    const TermNode& term = speller[entry.term];
    const Rational k = entry.ratio.absolute();
    if (term.kind != Kind::product || entry.is_free() || k.is_one() || k.is_zero()) return {};
    // the same entries are asked for again and again, by costs, by brackets and in writing
    struct Slot {
        std::uint64_t generation = 0;
        TermId term = no_term;
        Rational ratio;
        Absorption value;
    };
    using Memo = std::array<Slot, 128>;
    thread_local const auto memo = std::make_unique<Memo>();
    Slot& slot =
        (*memo)[(entry.term * 31U + static_cast<std::uint32_t>(k.p) * 7U + static_cast<std::uint32_t>(k.q)) % 128U];
    if (slot.generation == speller.arena().generation() && slot.term == entry.term && slot.ratio == k)
        return slot.value;
    const Absorption found = find_absorption(speller, {entry.term, no_term, k});
    slot = {speller.arena().generation(), entry.term, k, found};
    return found;
}

}  // namespace simplipy::spelling
