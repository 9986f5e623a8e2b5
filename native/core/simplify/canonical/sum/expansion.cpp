#include "expansion.hpp"

#include <algorithm>

#include "core/simplify/canonical/context.hpp"
#include "core/simplify/canonical/product/from_polynomial.hpp"
#include "sum.hpp"

namespace simplipy::canonical {
namespace {

constexpr std::size_t max_expanded_terms = 24;
constexpr int max_expanded_power = 4;

bool is_expandable(const Arena& arena, const Entry& factor) {
    return !factor.is_free() && factor.ratio.small() >= 1 && factor.ratio.small() <= max_expanded_power &&
           is_polynomial_sum(arena[factor.term]);
}

// Hashes of the monomials of a term with its sums multiplied out: those of the bases, times their exponents, add up.
class MonomialHashes {
  public:
    explicit MonomialHashes(const Arena& arena) : arena_(arena) {}

    // False where there are too many.
    bool set(const Entry& entry) {
        hashes_.clear();
        hashes_.push_back(0);
        if (arena_[entry.term].kind != Kind::product) {
            hashes_[0] = hash(entry.term);
            return true;
        }
        for (const Entry& factor : arena_.entries(entry.term)) {
            if (!is_expandable(arena_, factor)) {
                for (std::uint64_t& h : hashes_) h += power(factor);
                continue;
            }
            const std::span<const Entry> terms = arena_.entries(factor.term);
            for (int k = 0; k < factor.ratio.small(); ++k) {
                if (hashes_.size() * terms.size() > max_expanded_terms) return false;
                Scratch<std::uint64_t> products;
                products.reserve(hashes_.size() * terms.size());
                for (const std::uint64_t h : hashes_)
                    for (const Entry& term : terms) products.push_back(h + monomial(term.term));
                hashes_ = std::move(products);
            }
        }
        return true;
    }
    const Scratch<std::uint64_t>& values() const { return hashes_; }

  private:
    // 1 adds nothing
    static std::uint64_t hash(TermId id) { return (id - one_term) * 0x9e3779b97f4a7c15ULL; }
    static std::uint64_t power(const Entry& factor) {
        const auto exponent = static_cast<std::uint64_t>(factor.ratio.small());
        return hash(factor.term) * (factor.is_free() ? hash(factor.other) : exponent);
    }
    std::uint64_t monomial(TermId term) const {
        if (arena_[term].kind != Kind::product) return hash(term);
        std::uint64_t sum = 0;
        for (const Entry& factor : arena_.entries(term)) sum += power(factor);
        return sum;
    }

    const Arena& arena_;
    Scratch<std::uint64_t> hashes_;
};

// Whether terms of different entries may meet when sums are multiplied out; false only when none can.
bool may_meet(const Arena& arena, const Scratch<Entry>& list) {
    const auto has_sum = [&arena](const Entry& entry) {
        if (entry.is_free() || arena[entry.term].kind != Kind::product) return false;
        const std::span<const Entry> factors = arena.entries(entry.term);
        return std::any_of(factors.begin(), factors.end(), [&](const Entry& f) { return is_expandable(arena, f); });
    };
    if (std::none_of(list.begin(), list.end(), has_sum)) return false;
    Scratch<std::uint64_t> seen;
    MonomialHashes hashes(arena);
    for (const Entry& entry : list) {
        if (entry.is_free() || !hashes.set(entry)) continue;
        for (const std::uint64_t hash : hashes.values())
            if (std::find(seen.begin(), seen.end(), hash) != seen.end()) return true;
        seen.insert(seen.end(), hashes.values().begin(), hashes.values().end());
    }
    return false;
}

// A term with its sums multiplied out.
std::optional<Polynomial> expanded(const Arena& arena, const Entry& entry) {
    Polynomial result = {{entry.ratio, {}}};
    const std::span<const Entry> factors = arena.entries(entry.term);
    if (arena[entry.term].kind != Kind::product || (factors.size() == 1 && factors[0].is_free())) {
        const auto monomial = to_monomial(arena, entry);
        if (!monomial) return std::nullopt;
        result[0] = *monomial;
        return result;
    }
    for (const Entry& factor : factors) {
        const auto sum =
            is_expandable(arena, factor) ? to_polynomial(arena, factor.term, max_polynomial_terms) : std::nullopt;
        if (!sum) {
            if (factor.is_free() || factor.ratio.small() == 0) return std::nullopt;
            for (Monomial& monomial : result) monomial = times(monomial, {1, {{factor.term, factor.ratio.small()}}}, 1);
            continue;
        }
        for (int k = 0; k < factor.ratio.small(); ++k) {
            auto next = product(result, *sum, max_expanded_terms);
            if (!next) return std::nullopt;
            result = std::move(*next);
            collect(result);
        }
    }
    return result;
}

bool replace_by_shorter(Context& c, Scratch<Entry>& list) {
    Polynomial terms;
    Scratch<Entry> others;
    for (const Entry& entry : list) {
        auto polynomial = expanded(c.terms.arena(), entry);
        if (polynomial && may_disappear(c, *polynomial)) {
            terms.insert(terms.end(), polynomial->begin(), polynomial->end());
        } else {
            others.push_back(entry);
        }
    }
    if (terms.size() > 2 * max_expanded_terms || collect(terms) == 0) return false;
    for (const Monomial& monomial : terms) add(c, others, from_monomial(c, monomial), Rational(1));
    const auto closed = [&] {
        const Expansion::Step step(c.expansion);
        return close_sum(c, std::move(others));
    };
    const TermId sum = closed();
    if (c.terms[sum].cost.plain >= c.terms[c.terms.sum(list)].cost.plain) return false;
    c.note("products multiplied out");
    list.clear();
    add(c, list, sum, Rational(1));
    return true;
}

}  // namespace

bool multiply_out(Context& c, Scratch<Entry>& list) {
    if (c.expansion.is_under_way() || list.size() > max_polynomial_terms || !may_meet(c.terms.arena(), list))
        return false;
    return attempt([&] { return replace_by_shorter(c, list); });
}

}  // namespace simplipy::canonical
