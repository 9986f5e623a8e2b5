// The walk over an expression in postfix order.
//
// Sums and products stay open while their parent is of the same kind, so that a chain is normalised as a whole and the
// result does not depend on how its operands were ordered or nested. Closing them is left to sum.hpp and product.hpp.
#pragma once

#include "context.hpp"
#include "core/base/function_ref.hpp"
#include "product/parts.hpp"

namespace simplipy::canonical {

// The term of a variable, constant, number or symbol of the input.
TermId leaf(Context& c, const Node& node);

// The term of the nodes; `leaf_of` gives those of the leaves.
TermId walk(Context& c, std::span<const Node> postfix, FunctionRef<TermId(const Node&)> leaf_of);

}  // namespace simplipy::canonical
