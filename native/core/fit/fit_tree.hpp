// A tree with its leaves bound to columns of the data and to parameters. Their use in a fit is left to
// program.hpp.
//
// Parameters are the tree's free constants, in prefix order, then the variables that the caller declares to be
// parameters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/expression/tree.hpp"

namespace simplipy {

// The meaning of a leaf of the tree.
struct Leaf {
    std::int64_t parameter = -1;
    std::int64_t column = -1;
};

struct FitTree {
    const Tree* tree = nullptr;
    std::vector<Leaf> leaves;           // by node; operators, numbers and symbols have none
    std::vector<std::uint8_t> n_uses;   // by parameter: 1 = once, 2 = more often
    std::vector<std::uint8_t> bounded;  // by parameter; a bounded one is never eliminated
};

// Binds leaves: `columns[i]` is the column of the i-th variable, or -1 - p for parameter number p.
FitTree make_fit_tree(const Tree& tree, std::span<const std::int64_t> columns, std::size_t n_parameters);

}  // namespace simplipy
