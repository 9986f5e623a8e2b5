// Skeletons: unary-binary trees drawn uniformly by the algorithm of Lample and Charton, operators by weight, leaves
// from a random set of variables and the free constant.
#pragma once

#include <vector>

#include "core/expression/tree.hpp"
#include "prior.hpp"

namespace flash_ansr {

class SkeletonSampler {
  public:
    explicit SkeletonSampler(const SkeletonPrior& prior);

    // In postfix order.
    std::vector<simplipy::Node> draw(Random& random) const;

  private:
    // Cumulative weights for draws by bisection.
    struct Choice {
        std::vector<double> cumulative;
        std::vector<simplipy::Op> ops;
        void add(simplipy::Op op, double weight);
        simplipy::Op draw(Random& random) const;
    };
    double n_trees(std::size_t n_empty, std::size_t n_ops) const { return counts_[n_ops][n_empty]; }
    void place_operators(std::size_t n_ops, Random& random, std::vector<simplipy::Node>& reversed) const;
    void fill_leaves(Random& random, std::vector<simplipy::Node>& nodes) const;

    SkeletonPrior prior_;
    Choice unary_;
    Choice binary_;
    std::vector<double> n_ops_cumulative_;
    std::vector<std::vector<double>> counts_;  // [n_ops][n_empty]: ways to place n_ops operators below n_empty nodes
};

}  // namespace flash_ansr
