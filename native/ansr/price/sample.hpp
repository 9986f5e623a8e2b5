// Formulas drawn from the probabilities that price them.
#pragma once

#include <vector>

#include "ansr/data/random.hpp"
#include "write_down.hpp"

namespace flash_ansr {

class FormSampler {
  public:
    FormSampler(const PriceTable& table, std::size_t n_columns, std::size_t max_nodes);

    // In postfix order, with at most `max_nodes` nodes and a variable. Draws that are written down otherwise, such as a
    // term twice or in another order, are drawn again: a form is as frequent as its answers are probable.
    std::vector<simplipy::Node> draw(Random& random) const;

  private:
    struct Drawing;
    static bool is_as_written(const Drawing& drawing);
    template <class Context>
    std::size_t answer(Question question, const Context& context, Drawing& drawing) const;
    void sum(Drawing& drawing, Place place) const;
    void term(Drawing& drawing, const TermPlace& where, std::size_t shape) const;
    // Whether it wrote a number or a constant.
    bool coefficient(Drawing& drawing, Coefficient coefficient, std::size_t n_factors) const;
    // Moves the place behind the factor.
    void factor(Drawing& drawing, FactorPlace& place) const;
    Value exponent_of(std::size_t answer, Drawing& drawing) const;
    bool variable_is_new(Drawing& drawing, const FactorPlace& place) const;
    void variable(Drawing& drawing, bool is_new) const;
    void function(Drawing& drawing, const Factor& made) const;
    double number(NumberRole role, Drawing& drawing) const;

    std::vector<double> cumulative_;  // within each context
    std::size_t n_columns_;
    std::size_t max_nodes_;
};

}  // namespace flash_ansr
