// Variation of formulas: a child differs from its parent by one or two small changes, or has a part of another one.
//
// A formula is a list of nodes in postfix order without names. The value of a free constant stands in its payload, NaN
// for one that has none yet. Only operators with a weight are ever written.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "ansr/data/random.hpp"
#include "core/expression/tree.hpp"

namespace flash_ansr {

using Postfix = std::vector<simplipy::Node>;

enum class Mutation : std::uint8_t { point, subtree, hoist, insert, remove, constant, term, crossover };
inline constexpr std::size_t n_mutations = 8;

// The weights of tokens in new parts of formulas.
struct TokenWeights {
    std::array<double, simplipy::max_symbols> operators{};
    std::vector<double> variables;  // by column
    double constant = 1.0;          // of a leaf that is a free constant, beside the variables' sum of 4
};

inline double constant_value(const simplipy::Node& node) { return std::bit_cast<double>(node.payload); }
simplipy::Node constant_node(double value);

class Mutator {
  public:
    explicit Mutator(TokenWeights weights, std::array<double, n_mutations> mutation_weights);

    // Draw new parts by these from now on.
    void weigh(TokenWeights weights);

    // A child of `parent`, with parts of `donor` where the change is a crossover.
    Postfix child(const Postfix& parent, const Postfix& donor, Random& random) const;

    // A formula of exactly n_operators operators.
    Postfix grow(std::size_t n_operators, Random& random) const;

  private:
    Postfix changed(const Postfix& parent, const Postfix& donor, Random& random) const;
    void change_point(Postfix& nodes, Random& random) const;
    void change_constant(Postfix& nodes, Random& random) const;
    Postfix inserted(const Postfix& nodes, Random& random) const;
    Postfix with_term(const Postfix& nodes, const Postfix& part, Random& random) const;
    Postfix small(Random& random) const;
    simplipy::Node leaf(Random& random) const;
    simplipy::Node variable(Random& random) const;
    simplipy::Op draw_operator(int arity, simplipy::Op other_than, Random& random) const;
    void grow_into(Postfix& out, std::size_t n_operators, Random& random) const;

    TokenWeights weights_;
    std::array<double, n_mutations> mutation_weights_;
    std::array<double, 3> arity_weights_{};  // sums over operators; [0] is not used
    double variable_weight_ = 0.0;
};

}  // namespace flash_ansr
