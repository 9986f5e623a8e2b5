// The shortest spelling of a canonical term in the paper's tokens: how many tokens, and which.
//
// Costs are computed once for each new term from those of its children. Signs are free where a sum can subtract, an odd
// function or a factor can turn; reciprocals are free where a product can divide; equal coefficients and exponents
// share their operator. Among equals the spelling with fewer number literals is taken.
//
// Costs and writing follow the same plans, so that what is written is what was counted: brackets of sums
// (brackets.hpp), coefficients inside of products (absorption.hpp), groups of factors (product_plan.hpp).
#pragma once

#include <span>
#include <vector>

#include "core/base/function_ref.hpp"
#include "core/simplify/term.hpp"

namespace simplipy {

class Speller {
  public:
    // `merge_even_roots`: sqrt(a)*sqrt(b) may be written sqrt(a*b), which is defined in more places.
    Speller(const Arena& arena, bool merge_even_roots) : arena_(arena), merge_even_roots_(merge_even_roots) {}

    const Arena& arena() const { return arena_; }
    const TermNode& operator[](TermId id) const { return arena_[id]; }
    std::span<const Entry> entries(TermId id) const { return arena_.entries(id); }
    std::span<const Entry> entries(const TermNode& node) const { return arena_.entries(node); }
    bool merges_even_roots() const { return merge_even_roots_; }

    // Sets cost and no_numerator of a node whose children have theirs.
    void set_cost(TermNode& node, std::span<const Entry> entries) const;

    enum class Mode : std::uint8_t { plain, negative, inverse };

    // Writes ratio times a free constant: the constant absorbs signs and contents that the spelling moves.
    using WriteConstant = FunctionRef<void(const TermNode& constant, const Rational& ratio, std::vector<Node>& out)>;

    // Appends the postfix spelling of the term, of its negative or of its reciprocal.
    void emit(TermId id, Mode mode, std::vector<Node>& out, WriteConstant write) const;

  private:
    const Arena& arena_;
    bool merge_even_roots_;
};

}  // namespace simplipy
