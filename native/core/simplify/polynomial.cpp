#include "polynomial.hpp"

#include <algorithm>
#include <cstdlib>

namespace simplipy {
namespace {

// Lexicographic order of exponents >= 0: compatible with multiplication, which long division needs. Any fixed order of
// bases gives the same quotient.
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

void subtract(Polynomial& from, const Monomial& monomial) {
    for (Monomial& term : from) {
        if (term.powers != monomial.powers) continue;
        term.coefficient = term.coefficient - monomial.coefficient;
        if (term.coefficient.is_zero()) from.erase(from.begin() + (&term - from.data()));
        return;
    }
    from.push_back({-monomial.coefficient, monomial.powers});
}

// A monomial in variables, with |u| as u; nothing for other bases.
std::optional<Monomial> without_absolutes(const Arena& arena, TermId term) {
    constexpr int max_power = 64;
    const auto monomial = to_monomial(arena, {term, no_term, 1});
    if (!monomial) return std::nullopt;
    Monomial result;
    for (const auto& [base, power] : monomial->powers) {
        const TermNode& node = arena[base];
        if (std::abs(power) > max_power) return std::nullopt;
        if (node.kind == Kind::function && node.op == Op::abs) {
            const auto inner = without_absolutes(arena, node.argument);
            if (!inner) return std::nullopt;
            for (int k = 0; k < std::abs(power); ++k) result = times(result, *inner, power > 0 ? 1 : -1);
        } else if (node.kind == Kind::variable) {
            result = times(result, {1, {{base, power}}}, 1);
        } else {
            return std::nullopt;
        }
    }
    return result;
}

bool has_negative_power(const Monomial& monomial) {
    return std::any_of(monomial.powers.begin(), monomial.powers.end(), [](const auto& p) { return p.second < 0; });
}

}  // namespace

Monomial times(const Monomial& a, const Monomial& b, int sign) {
    Monomial result{sign > 0 ? a.coefficient * b.coefficient : a.coefficient / b.coefficient, {}};
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.powers.size() || j < b.powers.size()) {
        const bool take_a = j == b.powers.size() || (i < a.powers.size() && a.powers[i].first <= b.powers[j].first);
        const bool take_b = i == a.powers.size() || (j < b.powers.size() && b.powers[j].first <= a.powers[i].first);
        const TermId base = take_a ? a.powers[i].first : b.powers[j].first;
        const int power = (take_a ? a.powers[i].second : 0) + (take_b ? sign * b.powers[j].second : 0);
        if (power != 0) result.powers.push_back({base, power});
        i += take_a;
        j += take_b;
    }
    return result;
}

int collect(Polynomial& polynomial) {
    int n_met = 0;
    std::sort(polynomial.begin(), polynomial.end(), [](const Monomial& a, const Monomial& b) {
        if (a.powers != b.powers) return a.powers < b.powers;
        // whether a sum of coefficients overflows must not depend on the order of the input
        return std::pair(a.coefficient.q, a.coefficient.p) < std::pair(b.coefficient.q, b.coefficient.p);
    });
    std::size_t n_kept = 0;
    for (std::size_t i = 0; i < polynomial.size(); ++i) {
        if (n_kept > 0 && polynomial[n_kept - 1].powers == polynomial[i].powers) {
            polynomial[n_kept - 1].coefficient = polynomial[n_kept - 1].coefficient + polynomial[i].coefficient;
            ++n_met;
        } else {
            if (n_kept != i) polynomial[n_kept] = std::move(polynomial[i]);
            ++n_kept;
        }
    }
    polynomial.resize(n_kept);
    erase_if(polynomial, [](const Monomial& monomial) { return monomial.coefficient.is_zero(); });
    return n_met;
}

std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b, std::size_t max_terms) {
    if (a.size() * b.size() > max_terms) return std::nullopt;
    Polynomial result;
    result.reserve(a.size() * b.size());
    for (const Monomial& x : a)
        for (const Monomial& y : b) result.push_back(times(x, y, 1));
    return result;
}

Monomial denominator(const Polynomial& polynomial) {
    Monomial result;
    for (const Monomial& monomial : polynomial) {
        for (const auto& [base, power] : monomial.powers) {
            if (power >= 0) continue;
            const auto place = std::lower_bound(result.powers.begin(), result.powers.end(), std::pair(base, INT32_MIN));
            if (place == result.powers.end() || place->first != base) {
                result.powers.insert(place, {base, power});
            } else {
                place->second = std::min(place->second, power);
            }
        }
    }
    return result;
}

std::optional<Polynomial> quotient(Polynomial dividend, const Polynomial& divisor, std::size_t max_terms) {
    const Monomial& lead = *std::max_element(divisor.begin(), divisor.end(), monomial_less);
    Polynomial result;
    while (!dividend.empty()) {
        if (result.size() >= max_terms || dividend.size() > 2 * max_terms) return std::nullopt;
        Monomial next = times(*std::max_element(dividend.begin(), dividend.end(), monomial_less), lead, -1);
        if (has_negative_power(next)) return std::nullopt;
        for (const Monomial& term : divisor) subtract(dividend, times(next, term, 1));
        result.push_back(std::move(next));
    }
    return result;
}

std::optional<Monomial> to_monomial(const Arena& arena, const Entry& entry) {
    if (entry.is_free()) return std::nullopt;
    Monomial monomial{entry.ratio, {}};
    const std::span<const Entry> factors = arena.entries(entry.term);
    const bool is_symbolic_power = factors.size() == 1 && factors[0].is_free();  // an indeterminate of its own
    if (arena[entry.term].kind == Kind::product && !is_symbolic_power) {
        for (const Entry& factor : factors) {
            if (factor.is_free() || !factor.ratio.is_integer() || factor.ratio.small() == 0) return std::nullopt;
            monomial.powers.push_back({factor.term, factor.ratio.small()});
        }
        std::sort(monomial.powers.begin(), monomial.powers.end());
    } else if (entry.term != one_term) {
        monomial.powers.push_back({entry.term, 1});
    }
    return monomial;
}

std::optional<Polynomial> to_polynomial(const Arena& arena, TermId sum, std::size_t max_terms) {
    if (arena[sum].n_entries > max_terms) return std::nullopt;
    Polynomial polynomial;
    for (const Entry& entry : arena.entries(sum)) {
        auto monomial = to_monomial(arena, entry);
        if (!monomial) return std::nullopt;
        polynomial.push_back(std::move(*monomial));
    }
    return polynomial;
}

bool may_be_constant(const Arena& arena, TermId id) {
    if (!arena[id].has_absolute) return false;
    if (arena[id].kind == Kind::function) return may_be_constant(arena, arena[id].argument);
    Polynomial polynomial;
    const auto add = [&](TermId term) {
        auto monomial = without_absolutes(arena, term);
        if (monomial) polynomial.push_back(std::move(*monomial));
        return monomial.has_value();
    };
    if (arena[id].kind == Kind::sum) {
        const std::span<const Entry> entries = arena.entries(id);
        if (!std::all_of(entries.begin(), entries.end(), [&](const Entry& e) { return add(e.term); })) return true;
    } else if (!add(id)) {
        return true;
    }
    return collect(polynomial) > 0 || (polynomial.size() == 1 && polynomial[0].powers.empty());
}

}  // namespace simplipy
