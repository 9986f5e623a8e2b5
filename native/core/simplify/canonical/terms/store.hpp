// Makes terms: content that is in normal form becomes a node of the arena, analysed and priced once.
//
// A sum or product of one plain entry is that entry. What is merged, absorbed or rewritten before is left to those who
// close sums, products and functions.
#pragma once

#include <span>

#include "core/base/scratch.hpp"
#include "core/simplify/canonical/options.hpp"
#include "core/simplify/spell/spell.hpp"
#include "core/simplify/term.hpp"

namespace simplipy::canonical {

class TermStore {
  public:
    // Empties the arena where the options do not keep it, and the thread's scratch buffer.
    TermStore(Arena& arena, const CanonicalOptions& options);

    const Arena& arena() const { return arena_; }
    const Speller& speller() const { return speller_; }
    const TermNode& operator[](TermId id) const { return arena_[id]; }
    std::span<const Entry> entries(TermId id) const { return arena_.entries(id); }
    Scratch<Entry> copied_entries(TermId id) const {
        const std::span<const Entry> entries = arena_.entries(id);
        return {entries.begin(), entries.end()};
    }

    TermId number(const Rational& value);
    TermId opaque(const Node& literal);
    TermId symbol(Op op);
    TermId variable(std::int64_t code);
    TermId constant(std::int64_t number);
    TermId function(Op op, TermId argument);
    TermId sum(const Scratch<Entry>& sorted);
    TermId product(const Scratch<Entry>& factors);
    TermId extremum(Op op, const Scratch<Entry>& sorted);

    // The term where there is one, else no_term.
    TermId find_function(Op op, TermId argument) const;
    TermId find_sum(std::span<const Entry> sorted) const;
    TermId find_product(std::span<const Entry> sorted) const;

    bool is_nonnegative(TermId id) const { return arena_[id].low >= 0.0; }
    bool is_ground(TermId id) const { return !arena_[id].has_variable; }
    bool is_infinite(TermId id) const { return arena_[id].kind == Kind::symbol && !(arena_[id].low > 0.0); }

  private:
    TermId intern(const TermNode& node, std::span<const Entry> entries);

    Arena& arena_;
    Speller speller_;
    const std::map<std::int64_t, Range>* ranges_;
};

}  // namespace simplipy::canonical
