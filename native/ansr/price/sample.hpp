// Formulas drawn from the probabilities that price them.
#pragma once

#include <vector>

#include "ansr/data/random.hpp"
#include "write_down.hpp"

namespace flash_ansr {

class FormSampler {
  public:
    // Formulas are spelled with these operators, by index; the table makes that possible.
    FormSampler(const PriceTable& table, std::size_t n_columns, std::size_t max_nodes, std::vector<bool> operators);

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
    void coefficient(Drawing& drawing, Coefficient coefficient, std::size_t n_factors) const;
    // Moves the place behind the factor.
    void factor(Drawing& drawing, FactorPlace& place) const;
    Value exponent_of(std::size_t answer, Drawing& drawing) const;
    bool variable_is_new(Drawing& drawing, const FactorPlace& place) const;
    void variable(Drawing& drawing, bool is_new) const;
    void function(Drawing& drawing, const Factor& made) const;
    double number(NumberRole role, Drawing& drawing) const;

    bool has(simplipy::Op op) const { return operators_[simplipy::index(op)]; }
    // By the factor that was written last, of a term that begins there.
    void divide(Drawing& drawing, std::size_t begin, bool is_first) const;
    // Writes nodes that raise what was written last to the size of a number: a power of a root, else pow.
    void raise(std::vector<simplipy::Node>& nodes, const Value& exponent) const;

    std::vector<double> cumulative_;  // within each context
    std::size_t n_columns_;
    std::size_t max_nodes_;
    std::vector<bool> operators_;
};

}  // namespace flash_ansr
