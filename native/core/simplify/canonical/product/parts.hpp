// An open product: coefficient * constant * product of factors.
#pragma once

#include "core/simplify/canonical/terms/exact_product.hpp"
#include "core/simplify/term.hpp"

namespace simplipy::canonical {

struct Parts {
    ExactProduct coefficient;
    TermId constant = no_term;
    ExactProduct content;    // part of the coefficient that was inside sums, where it cost less
    int content_tokens = 0;  // tokens that those sums have more with it
    Scratch<Entry> factors;

    bool has_content() const { return !content.is_whole() || !content.value().is_one() || content_tokens != 0; }
    bool is_one() const {
        return factors.empty() && constant == no_term && coefficient.is_whole() && coefficient.value().is_one();
    }
    // Whether the factors are more than one term with exponent 1.
    bool is_power() const { return factors.size() > 1 || factors[0].is_free() || !factors[0].ratio.is_one(); }

    void push(TermId base, const Rational& exponent) { factors.push_back({base, no_term, exponent}); }
    void push_power(TermId base, TermId exponent) { factors.push_back({base, exponent, 0}); }
};

}  // namespace simplipy::canonical
