// A tree on boxes: the interval of every node, and on which side of its poles a box lies.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "interval.hpp"

namespace simplipy {

// The interval of each variable of a tree, in the order of variable_codes.
struct Box {
    std::span<const double> low;
    std::span<const double> high;
};

class TreeOnBoxes {
  public:
    explicit TreeOnBoxes(const Tree& tree);

    std::size_t n_variables() const { return n_variables_; }

    // Intervals of all nodes, in the tree's order, valid until the next call.
    const std::vector<Interval>& run(const Box& box);
    const Interval& root() const { return values_.back(); }

    // Poles are where a term must not be zero, and where a tangent changes its branch.
    std::size_t n_poles() const { return poles_.size(); }

    // On which side of a pole the last box lies as a whole; NaN where it may hold the pole. Operators are continuous
    // where they are defined, but for 0^0, so the formula is undefined somewhere between points on different sides.
    double side(std::size_t pole) const;

    // Places of the variables below the first node that keeps the last box from being settled.
    std::span<const std::size_t> suspects() const;

  private:
    struct Leaf {
        std::size_t node;
        std::size_t variable;
    };
    struct Pole {
        std::size_t node;
        bool is_tangent;
    };

    Interval value_of(std::size_t node) const;
    void find_poles();
    std::vector<char> nodes_that_must_not_vanish() const;

    const Tree& tree_;
    std::size_t n_variables_ = 0;
    std::vector<Interval> values_;
    std::vector<Leaf> variables_;
    std::vector<std::size_t> operators_;           // those with a variable below them; the others keep their value
    std::vector<std::vector<std::size_t>> below_;  // by node, its variables, ascending
    std::vector<Pole> poles_;
};

}  // namespace simplipy
