// Canonical forms: like terms and powers collected, signs and parity propagated, everything constant absorbed into free
// constants, common factors taken out where that is shorter.
//
// Two inputs that differ in the order and nesting of sums and products have one canonical form. Each rewrite keeps the
// guarantees of the domain mode: with `extend` the result may be defined in more places, with `preserve` only on a null
// set more. How a form is written is left to the speller, how often it is made to the simplifier.
#pragma once

#include <string>
#include <vector>

#include "context.hpp"

namespace simplipy {

class Canonicalizer {
  public:
    Canonicalizer(Arena& arena, const CanonicalOptions& options) : context_(arena, options) {}

    // The canonical term of nodes in postfix order. May throw Overflow.
    TermId run(const std::vector<Node>& postfix);

    // A free constant in terms of the input's. Only when tracking.
    const canonical::Definition& definition(std::int64_t constant) const {
        return context_.constants.definition(constant);
    }

    // Whether something was expanded that is shorter as written: then the same with `keep` may be shorter as a whole.
    bool regrets() const { return context_.memory.regrets(); }

    // Names of the rewrites that happened, in order. Only when tracking.
    const std::vector<std::string>& events() const { return context_.events; }

  private:
    canonical::Context context_;
};

}  // namespace simplipy
