#include "normal.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace flash_ansr {
namespace {

using simplipy::Op;

bool is_constant(const Term& term) { return term.factors.empty(); }

std::size_t n_fitted(const Sum& sum) {
    return static_cast<std::size_t>(
        std::ranges::count_if(sum.terms, [](const Term& term) { return term.coefficient.is_fitted(); }));
}

// Small for terms that textbooks write without a coefficient: x before x^2, variables before functions.
auto weight(const Term& term) {
    std::size_t kinds = 0;
    double exponents = 0.0;
    for (const Factor& factor : term.factors) {
        kinds += factor.atom == Op::variable ? 0 : simplipy::index(factor.atom) + 1;
        exponents += factor.exponent.is_fitted() ? 10.0 : std::abs(factor.exponent.number);
    }
    return std::tuple(term.factors.size(), kinds, exponents);
}

// The term of a bracket whose coefficient belongs outside; nullptr where all are constants.
Term* leading(Sum& bracket) {
    Term* best = nullptr;
    for (Term& term : bracket.terms)
        if (!is_constant(term) && (best == nullptr || weight(term) < weight(*best))) best = &term;
    return best;
}

// Moves the coefficient of the leading term out, where that leaves as many fitted constants or fewer.
void pull_out(Sum& bracket, Value& outside) {
    const std::size_t n = bracket.terms.size();
    const std::size_t fitted = n_fitted(bracket);
    Term* lead = leading(bracket);
    if (lead == nullptr || !lead->coefficient.is_fitted() || fitted + (outside.is_fitted() ? 1 : 0) < n) return;
    for (Term& term : bracket.terms) term.coefficient = Value::fitted();
    lead->coefficient = Value{};
    outside = Value::fitted();
}

bool is_like(const Term& a, const Term& b) {
    return a.factors.size() == b.factors.size() && std::ranges::all_of(a.factors, [&](const Factor& factor) {
               return !factor.exponent.is_fitted() && std::ranges::any_of(b.factors, [&](const Factor& other) {
                   return other.exponent == factor.exponent && other.same_atom(factor);
               });
           });
}

void collect(Sum& sum, Term term) {
    const auto like = std::ranges::find_if(sum.terms, [&](const Term& known) { return is_like(known, term); });
    if (like == sum.terms.end())
        sum.terms.push_back(std::move(term));
    else
        like->coefficient = flash_ansr::sum(like->coefficient, term.coefficient);
}

// Adds a term, a product with a bracket as the sum that it is where that has as many fitted constants.
void collect_expanded(Sum& sum, Term term) {
    const auto at = std::ranges::find_if(
        term.factors, [](const Factor& factor) { return factor.atom == Op::add && factor.exponent == Value{}; });
    if (at == term.factors.end() ||
        n_fitted(at->operands[0]) + (term.coefficient.is_fitted() ? 1 : 0) < at->operands[0].terms.size()) {
        collect(sum, std::move(term));
        return;
    }
    const Sum bracket = std::move(at->operands[0]);
    term.factors.erase(at);
    term.coefficient = Value::fitted();
    for (const Term& inner : bracket.terms) {
        Term expanded = term;
        for (const Factor& factor : inner.factors) multiply(expanded.factors, factor);
        collect_expanded(sum, std::move(expanded));
    }
}

// Whether a term may be a sum, or two terms one.
bool may_change(const Sum& sum) {
    for (auto term = sum.terms.begin(); term != sum.terms.end(); ++term) {
        if (std::ranges::any_of(term->factors, [](const Factor& factor) { return factor.atom == Op::add; }))
            return true;
        if (std::any_of(term + 1, sum.terms.end(), [&](const Term& other) { return is_like(*term, other); }))
            return true;
    }
    return false;
}

}  // namespace

Sum normal(Sum reading) {
    for (Term& term : reading.terms)
        for (Factor& factor : term.factors) {
            for (Sum& operand : factor.operands) operand = normal(std::move(operand));
            if (factor.atom == Op::add) pull_out(factor.operands[0], term.coefficient);
        }
    if (!may_change(reading)) return reading;
    Sum out;
    for (Term& term : reading.terms) collect_expanded(out, std::move(term));
    const auto vanishes = [](const Term& term) {
        return term.coefficient.kind == Value::Kind::number && term.coefficient.number == 0.0;
    };
    std::erase_if(out.terms, vanishes);
    if (out.terms.empty()) out.terms.push_back({Value::of(0.0), {}});
    return out;
}

}  // namespace flash_ansr
