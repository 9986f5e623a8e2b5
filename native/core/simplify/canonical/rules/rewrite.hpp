// Rules at work: where a pattern matches and the rule may be used, its replacement is built.
//
// A rule is used where its conditions hold, where its pattern is no longer than allowed, and where the replacement
// keeps the domain that the mode asks for. Sums and products are rewritten only where they become shorter; a function's
// rules are taken as they come.
#pragma once

#include <optional>

#include "core/simplify/canonical/context.hpp"
#include "core/simplify/canonical/product/parts.hpp"

namespace simplipy::canonical {

std::optional<TermId> apply_function_rules(Context& c, Op op, TermId argument);

// One rewrite of a sum or product whose entries are merged.
bool apply_sum_rules(Context& c, Scratch<Entry>& list);
bool apply_product_rules(Context& c, Parts& parts);

}  // namespace simplipy::canonical
