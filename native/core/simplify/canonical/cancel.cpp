// Sums as polynomials in their bases: factors that cancel, (x^2 - y^2)/(x - y) is x + y, and products whose terms meet
// when they are multiplied out, (x + y)^2 - (x - y)^2 is 4*x*y.

#include <algorithm>

#include "canonical.hpp"
#include "core/simplify/polynomial.hpp"

namespace simplipy {
namespace {

constexpr std::size_t max_quotient_terms = 10;
constexpr std::size_t max_expanded_terms = 24;
constexpr int max_expanded_power = 4;

int degree(const Polynomial& polynomial) {
    int largest = 0;
    for (const Monomial& monomial : polynomial) {
        int sum = 0;
        for (const auto& [base, power] : monomial.powers) sum += power;
        largest = std::max(largest, sum);
    }
    return largest;
}

std::optional<Polynomial> to_polynomial(const Arena& arena, TermId sum) {
    if (arena[sum].n_entries > max_quotient_terms) return std::nullopt;
    Polynomial polynomial;
    for (const Entry& entry : arena.entries(sum)) {
        auto monomial = to_monomial(arena, entry);
        if (!monomial) return std::nullopt;
        polynomial.push_back(std::move(*monomial));
    }
    return polynomial;
}

// Multiplies by the denominator; returns its reciprocal.
Monomial clear_denominator(Polynomial& polynomial) {
    Monomial smallest = denominator(polynomial);
    if (!smallest.powers.empty())
        for (Monomial& monomial : polynomial) monomial = times(monomial, smallest, -1);
    return smallest;
}

bool is_sum(const Arena& arena, TermId id) { return arena[id].kind == Kind::sum && arena[id].n_entries > 1; }

bool is_expandable(const Arena& arena, const Entry& factor) {
    return !factor.is_free() && factor.ratio.small() >= 1 && factor.ratio.small() <= max_expanded_power &&
           is_sum(arena, factor.term);
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
        const auto sum = is_expandable(arena, factor) ? to_polynomial(arena, factor.term) : std::nullopt;
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

}  // namespace

// With preserve, a term that may disappear must be defined nearly everywhere, and so must its reciprocal.
bool Canonicalizer::may_disappear(const Polynomial& polynomial) const {
    if (options_.extend) return true;
    for (const Monomial& monomial : polynomial)
        for (const auto& [base, power] : monomial.powers)
            if (arena_[base].partial || arena_[base].has_absolute) return false;
    return true;
}

TermId Canonicalizer::from_monomial(const Monomial& monomial) {
    Parts parts;
    parts.coefficient = monomial.coefficient;
    for (const auto& [base, power] : monomial.powers) multiply(parts, base, Rational(power));
    return close_product(std::move(parts));
}

// One exact division of a sum in the numerator by one in the denominator, if the product becomes shorter.
bool Canonicalizer::cancel_polynomials(Parts& parts) {
    const auto has_sum = [this](const Entry& factor, int sign) {
        return !factor.is_free() && factor.ratio.is_integer() && factor.ratio.sign() == sign &&
               is_sum(arena_, factor.term);
    };
    for (std::size_t i = 0; i < parts.factors.size(); ++i) {
        if (!has_sum(parts.factors[i], 1)) continue;
        for (std::size_t j = 0; j < parts.factors.size(); ++j) {
            if (!has_sum(parts.factors[j], -1)) continue;
            if (attempt([&] { return cancel_sums(parts, i, j); })) return true;
        }
    }
    return false;
}

// Divides the sum that factor i is a power of by that of factor j.
bool Canonicalizer::cancel_sums(Parts& parts, std::size_t i, std::size_t j) {
    auto above = to_polynomial(arena_, parts.factors[i].term);
    auto below = to_polynomial(arena_, parts.factors[j].term);
    if (!above || !below || !may_disappear(*above) || !may_disappear(*below)) return false;
    // x + y over 1/x + 1/y is x*y times (x + y)/(x + y)
    const Monomial outside = times(clear_denominator(*above), clear_denominator(*below), -1);
    const int difference = degree(*above) - degree(*below);
    if (difference < 0 || (difference == 0 && outside.powers.empty())) return false;
    const auto result = quotient(*above, *below, max_quotient_terms);
    if (!result) return false;
    Scratch<Entry> sum;
    for (const Monomial& monomial : *result) add(sum, from_monomial(monomial), Rational(1));
    Parts shorter = parts;
    shorter.factors[i].ratio = shorter.factors[i].ratio - Rational(1);
    shorter.factors[j].ratio = shorter.factors[j].ratio + Rational(1);
    multiply(shorter, close_sum(std::move(sum)), Rational(1));
    for (const auto& [base, power] : outside.powers) multiply(shorter, base, Rational(power));
    merge_all_factors(shorter);
    const TermId before = with_coefficient(parts, make_product(parts.factors));
    const TermId after = with_coefficient(shorter, make_product(shorter.factors));
    if (arena_[after].cost.plain >= arena_[before].cost.plain) return false;
    note("polynomial factor cancelled");
    parts = std::move(shorter);
    return true;
}

// Closes a sum without multiplying out again.
TermId Canonicalizer::closed_as_it_is(Scratch<Entry> list) {
    struct Guard {
        bool& flag;
        ~Guard() { flag = false; }
    };
    is_expanding_ = true;
    const Guard guard{is_expanding_};
    return close_sum(std::move(list));
}

// Multiplies products of sums out, if terms meet by that and the sum becomes shorter.
bool Canonicalizer::expand_sums(Scratch<Entry>& list) {
    if (is_expanding_ || list.size() > max_quotient_terms || !may_meet(arena_, list)) return false;
    return attempt([&] { return multiply_out(list); });
}

bool Canonicalizer::multiply_out(Scratch<Entry>& list) {
    Polynomial terms;
    Scratch<Entry> others;
    for (const Entry& entry : list) {
        auto polynomial = expanded(arena_, entry);
        if (polynomial && may_disappear(*polynomial)) {
            terms.insert(terms.end(), polynomial->begin(), polynomial->end());
        } else {
            others.push_back(entry);
        }
    }
    if (terms.size() > 2 * max_expanded_terms || collect(terms) == 0) return false;
    for (const Monomial& monomial : terms) add(others, from_monomial(monomial), Rational(1));
    const TermId sum = closed_as_it_is(std::move(others));
    if (arena_[sum].cost.plain >= arena_[make_sum(list)].cost.plain) return false;
    note("products multiplied out");
    list.clear();
    add(list, sum, Rational(1));
    return true;
}

}  // namespace simplipy
