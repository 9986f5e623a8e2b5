// Cancellation of polynomial factors: (x^2 - y^2)/(x - y) is x + y. Sums count as polynomials in their bases.

#include <algorithm>

#include "canonical.hpp"

namespace simplipy {
namespace {

constexpr std::size_t max_terms = 10;

struct Monomial {
    Rational coefficient;
    Scratch<std::pair<TermId, int>> powers;  // sorted by id, exponents > 0
};

using Polynomial = Scratch<Monomial>;

int degree(const Monomial& monomial) {
    int sum = 0;
    for (const auto& [base, power] : monomial.powers) sum += power;
    return sum;
}

int degree(const Polynomial& polynomial) {
    int largest = 0;
    for (const Monomial& monomial : polynomial) largest = std::max(largest, degree(monomial));
    return largest;
}

// Lexicographic order of exponents: compatible with multiplication, which long division needs. Any fixed order of bases
// gives the same quotient.
bool monomial_less(const Monomial& a, const Monomial& b) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.powers.size() && j < b.powers.size()) {
        if (a.powers[i].first != b.powers[j].first) return a.powers[i].first > b.powers[j].first;
        if (a.powers[i].second != b.powers[j].second) return a.powers[i].second < b.powers[j].second;
        ++i;
        ++j;
    }
    return i == a.powers.size() && j < b.powers.size();
}

// a * b^sign; nothing when an exponent becomes negative.
std::optional<Monomial> times(const Monomial& a, const Monomial& b, int sign) {
    Monomial result{sign > 0 ? a.coefficient * b.coefficient : a.coefficient / b.coefficient, {}};
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.powers.size() || j < b.powers.size()) {
        const bool take_a = j == b.powers.size() || (i < a.powers.size() && a.powers[i].first <= b.powers[j].first);
        const bool take_b = i == a.powers.size() || (j < b.powers.size() && b.powers[j].first <= a.powers[i].first);
        const TermId base = take_a ? a.powers[i].first : b.powers[j].first;
        const int power = (take_a ? a.powers[i].second : 0) + (take_b ? sign * b.powers[j].second : 0);
        if (power < 0) return std::nullopt;
        if (power > 0) result.powers.emplace_back(base, power);
        i += take_a;
        j += take_b;
    }
    return result;
}

void subtract(Polynomial& from, const Monomial& monomial) {
    for (Monomial& term : from) {
        if (term.powers != monomial.powers) continue;
        term.coefficient = term.coefficient - monomial.coefficient;
        if (term.coefficient.is_zero()) from.erase(from.begin() + (&term - from.data()));
        return;
    }
    from.push_back({-monomial.coefficient, monomial.powers});
}

std::optional<Polynomial> quotient(Polynomial dividend, const Polynomial& divisor) {
    const Monomial& lead = *std::max_element(divisor.begin(), divisor.end(), monomial_less);
    Polynomial result;
    while (!dividend.empty()) {
        if (result.size() >= max_terms || dividend.size() > 2 * max_terms) return std::nullopt;
        const auto next = times(*std::max_element(dividend.begin(), dividend.end(), monomial_less), lead, -1);
        if (!next) return std::nullopt;
        for (const Monomial& term : divisor) subtract(dividend, *times(*next, term, 1));
        result.push_back(*next);
    }
    return result;
}

std::optional<Polynomial> to_polynomial(const Arena& arena, TermId sum) {
    if (arena[sum].n_entries > max_terms) return std::nullopt;
    Polynomial polynomial;
    for (const Entry& entry : arena.entries(sum)) {
        if (entry.is_free()) return std::nullopt;
        Monomial monomial{entry.ratio, {}};
        if (arena[entry.term].kind == Kind::product) {
            for (const Entry& factor : arena.entries(entry.term)) {
                if (factor.is_free() || !factor.ratio.is_integer() || factor.ratio.small() < 1) return std::nullopt;
                monomial.powers.emplace_back(factor.term, factor.ratio.small());
            }
        } else if (entry.term != one_term) {
            monomial.powers.emplace_back(entry.term, 1);
        }
        std::sort(monomial.powers.begin(), monomial.powers.end());
        polynomial.push_back(std::move(monomial));
    }
    return polynomial;
}

}  // namespace

// One exact division of a sum in the numerator by one in the denominator, if the product becomes shorter.
bool Canonicalizer::cancel_polynomials(Parts& parts) {
    const auto is_sum = [this](const Entry& factor, int sign) {
        return !factor.is_free() && factor.ratio.is_integer() && factor.ratio.sign() == sign &&
               arena_[factor.term].kind == Kind::sum && arena_[factor.term].n_entries > 1;
    };
    for (std::size_t i = 0; i < parts.factors.size(); ++i) {
        if (!is_sum(parts.factors[i], 1)) continue;
        for (std::size_t j = 0; j < parts.factors.size(); ++j) {
            if (!is_sum(parts.factors[j], -1)) continue;
            const auto above = to_polynomial(arena_, parts.factors[i].term);
            const auto below = to_polynomial(arena_, parts.factors[j].term);
            if (!above || !below || degree(*above) <= degree(*below)) continue;
            const auto result = quotient(*above, *below);
            if (!result) continue;
            Scratch<Entry> sum;
            for (const Monomial& monomial : *result) {
                Parts term;
                term.coefficient = monomial.coefficient;
                for (const auto& [base, power] : monomial.powers) multiply(term, base, Rational(power));
                add(sum, close_product(std::move(term)), Rational(1));
            }
            Parts shorter = parts;
            shorter.factors[i].ratio = shorter.factors[i].ratio - Rational(1);
            shorter.factors[j].ratio = shorter.factors[j].ratio + Rational(1);
            multiply(shorter, close_sum(std::move(sum)), Rational(1));
            merge_all_factors(shorter);
            const TermId before = with_coefficient(parts, make_product(parts.factors));
            const TermId after = with_coefficient(shorter, make_product(shorter.factors));
            if (arena_[after].cost.plain >= arena_[before].cost.plain) continue;
            note("polynomial factor cancelled");
            parts = std::move(shorter);
            return true;
        }
    }
    return false;
}

}  // namespace simplipy
