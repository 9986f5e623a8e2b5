// Formulas drawn from the probabilities that price them.
#pragma once

#include <vector>

#include "ansr/data/random.hpp"
#include "write_down.hpp"

namespace flash_ansr {

class FormSampler {
  public:
    FormSampler(const PriceTable& table, std::size_t n_columns, std::size_t max_nodes);

    // In postfix order, with at most `max_nodes` nodes and a variable.
    std::vector<simplipy::Node> draw(Random& random) const;

  private:
    struct Drawing;
    template <class Context>
    std::size_t answer(Question question, const Context& context, Random& random) const;
    void sum(Drawing& drawing, Place place) const;
    void term(Drawing& drawing, Place place, std::size_t shape) const;
    void factor(Drawing& drawing, Place place, std::size_t atom, std::size_t exponent) const;
    void atom(Drawing& drawing, std::size_t choice, const Value& exponent) const;
    double number(NumberRole role, Random& random) const;

    std::vector<double> cumulative_;  // within each context
    std::size_t n_columns_;
    std::size_t max_nodes_;
};

}  // namespace flash_ansr
