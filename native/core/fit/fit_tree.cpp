#include "fit_tree.hpp"

#include <algorithm>

namespace simplipy {

FitTree make_fit_tree(const Tree& tree, std::span<const std::int64_t> columns, std::size_t n_parameters) {
    FitTree bound{&tree, std::vector<Leaf>(tree.size()), std::vector<std::uint8_t>(n_parameters),
                  std::vector<std::uint8_t>(n_parameters)};
    const std::vector<std::int64_t> codes = variable_codes(tree);
    std::int64_t next = 0;
    for (std::size_t i = 0; i < tree.size(); ++i) {
        const Node& node = tree.nodes()[i];
        Leaf& leaf = bound.leaves[i];
        if (node.op == Op::constant) leaf.parameter = next++;
        if (node.op == Op::variable) {
            const auto found = std::lower_bound(codes.begin(), codes.end(), node.payload, code_less);
            const std::int64_t column = columns[static_cast<std::size_t>(found - codes.begin())];
            (column >= 0 ? leaf.column : leaf.parameter) = column >= 0 ? column : -1 - column;
        }
        if (leaf.parameter >= 0) {
            std::uint8_t& uses = bound.n_uses[static_cast<std::size_t>(leaf.parameter)];
            uses = uses == 0 ? 1 : 2;
        }
    }
    return bound;
}

}  // namespace simplipy
