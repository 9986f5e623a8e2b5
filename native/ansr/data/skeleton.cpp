#include "skeleton.hpp"

#include <algorithm>
#include <numeric>

namespace flash_ansr {

using simplipy::Node;
using simplipy::Op;

void SkeletonSampler::Choice::add(Op op, double weight) {
    if (weight <= 0.0) return;
    cumulative.push_back((cumulative.empty() ? 0.0 : cumulative.back()) + weight);
    ops.push_back(op);
}

Op SkeletonSampler::Choice::draw(Random& random) const {
    const double at = random.uniform() * cumulative.back();
    const auto found = std::upper_bound(cumulative.begin(), cumulative.end() - 1, at);
    return ops[static_cast<std::size_t>(found - cumulative.begin())];
}

SkeletonSampler::SkeletonSampler(const SkeletonPrior& prior) : prior_(prior) {
    for (const simplipy::OpInfo& row : simplipy::operators())
        (row.arity == 1 ? unary_ : binary_).add(row.op, prior.operator_weights[index(row.op)]);
    n_ops_cumulative_.resize(prior.n_ops_weights.size());
    std::partial_sum(prior.n_ops_weights.begin(), prior.n_ops_weights.end(), n_ops_cumulative_.begin());

    // D(0, n) = 0, D(e, 0) = 1, D(e, n) = D(e - 1, n) + D(e, n - 1) + D(e + 1, n - 1): the next empty node is a leaf,
    // a unary or a binary operator
    const std::size_t max_ops = prior.n_ops_weights.size() - 1;
    counts_.assign(max_ops + 1, std::vector<double>(max_ops + 3, 0.0));
    for (std::size_t e = 1; e < max_ops + 3; ++e) counts_[0][e] = 1.0;
    for (std::size_t n = 1; n <= max_ops; ++n) {
        for (std::size_t e = 1; e + n < max_ops + 3; ++e) {
            double ways = counts_[n][e - 1];
            if (!unary_.ops.empty()) ways += counts_[n - 1][e];
            if (!binary_.ops.empty()) ways += counts_[n - 1][e + 1];
            counts_[n][e] = ways;
        }
    }
}

// Writes the tree in prefix order. The distribution does not change when operands are mirrored, so the same list read
// backwards is a skeleton in postfix order.
void SkeletonSampler::place_operators(std::size_t n_ops, Random& random, std::vector<Node>& reversed) const {
    const Node empty = Node::of(Op::constant);
    std::size_t n_empty = 1;
    for (; n_ops > 0; --n_ops) {
        double at = random.uniform() * n_trees(n_empty, n_ops);
        while (n_empty > 1) {  // leaves before the next operator
            const double leaf = n_trees(n_empty - 1, n_ops);
            if (at >= leaf) {
                at -= leaf;
                break;
            }
            reversed.push_back(empty);
            --n_empty;
        }
        const double unary = unary_.ops.empty() ? 0.0 : n_trees(n_empty, n_ops - 1);
        const bool is_unary = at < unary || binary_.ops.empty();
        reversed.push_back(Node::of((is_unary ? unary_ : binary_).draw(random)));
        n_empty += is_unary ? 0 : 1;
    }
    reversed.insert(reversed.end(), n_empty, empty);
}

// A random set of symbols, each at least once, the rest drawn from the set, all shuffled.
void SkeletonSampler::fill_leaves(Random& random, std::vector<Node>& nodes) const {
    std::vector<Node*> leaves;
    leaves.reserve(nodes.size());
    for (Node& node : nodes)
        if (!is_operator(node.op)) leaves.push_back(&node);
    const std::size_t n_unique = 1 + random.below(std::min(leaves.size(), prior_.n_variables));

    std::vector<Node> symbols;
    symbols.reserve(prior_.n_variables + 1);
    for (std::size_t k = 1; k <= prior_.n_variables; ++k)
        symbols.push_back(Node::variable(static_cast<std::int64_t>(k)));
    const bool as_a_variable = prior_.p_constant < 0.0;
    if (as_a_variable) symbols.push_back(Node::of(Op::constant));
    for (std::size_t i = 0; i < n_unique; ++i) std::swap(symbols[i], symbols[i + random.below(symbols.size() - i)]);
    symbols.resize(n_unique);
    if (!as_a_variable && leaves.size() > n_unique && random.uniform() < prior_.p_constant)
        symbols.push_back(Node::of(Op::constant));

    for (std::size_t i = leaves.size(); i > 1; --i) std::swap(leaves[i - 1], leaves[random.below(i)]);
    for (std::size_t i = 0; i < leaves.size(); ++i)
        *leaves[i] = symbols[i < symbols.size() ? i : random.below(symbols.size())];
}

std::vector<Node> SkeletonSampler::draw(Random& random) const {
    const double at = random.uniform() * n_ops_cumulative_.back();
    const auto found = std::upper_bound(n_ops_cumulative_.begin(), n_ops_cumulative_.end() - 1, at);
    std::vector<Node> nodes;
    nodes.reserve(prior_.max_length + 1);
    place_operators(static_cast<std::size_t>(found - n_ops_cumulative_.begin()), random, nodes);
    fill_leaves(random, nodes);
    std::reverse(nodes.begin(), nodes.end());
    return nodes;
}

}  // namespace flash_ansr
