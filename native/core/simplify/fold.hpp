// Ground parts of a formula as doubles, where extended precision with error bounds knows the nearest one.
#pragma once

#include <span>
#include <vector>

#include "core/expression/tree.hpp"

namespace simplipy {

inline bool is_literal(const Node& node) { return node.op == Op::number || node.op == Op::pi || node.op == Op::e; }

// The largest subterms without variables and constants become the nearest double. One of which too little is known, as
// 1 - tanh(50), stays as it is, inside too: rounding its parts would make it 0.
std::vector<Node> folded(std::span<const Node> postfix);

}  // namespace simplipy
