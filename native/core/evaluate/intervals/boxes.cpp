#include "boxes.hpp"

#include <algorithm>
#include <cmath>

namespace simplipy {

TreeOnBoxes::TreeOnBoxes(const Tree& tree) : tree_(tree), values_(tree.size()), below_(tree.size()) {
    const std::vector<std::int64_t> codes = variable_codes(tree);
    n_variables_ = codes.size();
    const std::vector<Node>& nodes = tree.nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        std::vector<std::size_t>& below = below_[i];
        if (nodes[i].op == Op::variable) {
            const auto found = std::lower_bound(codes.begin(), codes.end(), nodes[i].payload, code_less);
            below = {static_cast<std::size_t>(found - codes.begin())};
            variables_.push_back({i, below.front()});
        } else if (arity(nodes[i].op) == 0) {
            values_[i] = leaf_interval(nodes[i]);
        } else {
            below = below_[i - 1];
            if (arity(nodes[i].op) == 2) {
                const std::vector<std::size_t>& left = below_[left_of(nodes, i)];
                below.insert(below.end(), left.begin(), left.end());
                std::sort(below.begin(), below.end());
                below.erase(std::unique(below.begin(), below.end()), below.end());
            }
            if (below.empty()) {
                values_[i] = value_of(i);
            } else {
                operators_.push_back(i);
            }
        }
    }
    find_poles();
}

Interval TreeOnBoxes::value_of(std::size_t node) const {
    const Op op = tree_.nodes()[node].op;
    const Interval& right = values_[node - 1];
    return arity(op) == 1 ? apply(op, right) : apply(op, values_[left_of(tree_.nodes(), node)], right);
}

const std::vector<Interval>& TreeOnBoxes::run(const Box& box) {
    for (const Leaf& leaf : variables_) values_[leaf.node] = {box.low[leaf.variable], box.high[leaf.variable]};
    for (const std::size_t i : operators_) values_[i] = value_of(i);
    return values_;
}

double TreeOnBoxes::side(std::size_t pole) const {
    const Interval& value = values_[poles_[pole].node];
    if (poles_[pole].is_tangent) return tangent_branch(value);
    return value.low > 0.0 ? 1.0 : (value.high < 0.0 ? -1.0 : std::nan(""));
}

std::span<const std::size_t> TreeOnBoxes::suspects() const {
    for (const std::size_t i : operators_)
        if (values_[i].defined != Defined::everywhere || !values_[i].is_bounded()) return below_[i];
    return below_.back();
}

std::vector<char> TreeOnBoxes::nodes_that_must_not_vanish() const {
    const std::vector<Node>& nodes = tree_.nodes();
    std::vector<char> marks(nodes.size(), 0);
    for (std::size_t i = nodes.size(); i-- > 0;) {
        const Op op = nodes[i].op;
        const bool passed = marks[i] != 0;  // it is zero where its operand is
        switch (op) {
            case Op::inv:
            case Op::log:
                marks[i - 1] = 1;
                break;
            case Op::div:
                marks[i - 1] = 1;
                marks[left_of(nodes, i)] = passed;
                break;
            case Op::mul:
                marks[i - 1] = marks[left_of(nodes, i)] = passed;
                break;
            case Op::pow:
                // an exponent with variables has no interval yet, and tells nothing
                marks[left_of(nodes, i)] = (passed && values_[i - 1].low > 0.0) || values_[i - 1].high < 0.0;
                break;
            default:
                if (arity(op) == 1) marks[i - 1] = passed && apply(op, {0.0, 0.0}).holds(0.0);
        }
    }
    return marks;
}

void TreeOnBoxes::find_poles() {
    const std::vector<char> marks = nodes_that_must_not_vanish();
    for (std::size_t i = 0; i < tree_.size(); ++i) {
        if (marks[i] != 0 && !below_[i].empty()) poles_.push_back({i, false});
        if (tree_.nodes()[i].op == Op::tan && !below_[i - 1].empty()) poles_.push_back({i - 1, true});
    }
}

}  // namespace simplipy
