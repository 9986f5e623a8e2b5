// Patterns of rules matched against terms, modulo the order of operands.
//
// A metavariable that is multiplied by a number in the pattern is bound to the term divided by it; one that is bound
// already must be bound to an equal term. Whether the rule may be used on what it matches is left to rewrite.hpp.
#pragma once

#include <array>
#include <span>

#include "core/simplify/canonical/context.hpp"

namespace simplipy::canonical {

using Bindings = std::array<TermId, 4>;  // by metavariable; no_term where it is not bound

// Which entries of a sum or product the entries of a pattern have for their own.
struct EntryMatch {
    const Scratch<Entry>& entries;
    Rational multiple;  // that coefficients or exponents of the pattern are multiplied by
    Scratch<char> used = Scratch<char>(entries.size(), 0);

    Scratch<Entry> left_over() const;
};

class Matcher {
  public:
    Matcher(Context& c, const Arena& patterns) : c_(c), patterns_(patterns) {}

    bool match(TermId pattern, TermId term);

    // Finds for every pattern entry an entry that is not used yet.
    bool match_entries(std::span<const Entry> pattern, EntryMatch& found);

    // Whether the functions at the top agree; where not, the pattern cannot match.
    bool tops_agree(TermId pattern, TermId term) const;

    const Bindings& bindings() const { return bindings_; }

  private:
    bool bind(std::int64_t variable, TermId term, const Rational& ratio);
    bool match_entry(const Entry& pattern, const Entry& entry, const Rational& multiple);

    Context& c_;
    const Arena& patterns_;
    Bindings bindings_{};
};

}  // namespace simplipy::canonical
