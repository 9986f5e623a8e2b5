// Canonical terms: sums with rational coefficients, products with rational or symbolic exponents, functions, leaves.
//
// Terms live in an Arena and are hash-consed: equal terms have equal ids, children have smaller ids than parents. The
// order of terms in sums and products depends on their content alone, never on ids; free constants, each its own, look
// alike to it. An arena belongs to one call and is reset by the next.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/rational.hpp"
#include "core/expression/tree.hpp"

namespace simplipy {

using TermId = std::uint32_t;
inline constexpr TermId no_term = 0;
inline constexpr TermId one_term = 1;   // the number 1: the term of a sum's constant part
inline constexpr TermId zero_term = 2;  // the number 0

enum class Kind : std::uint8_t { none, number, constant, symbol, opaque, variable, product, function, sum, extremum };

// Of a sum: ratio * other * term, where `other` is a free constant (then ratio is 1) or none.
// Of an extremum: term.
// Of a product: term ^ ratio, or term ^ other where `other` is the exponent's term (then ratio is 0).
struct Entry {
    TermId term = no_term;
    TermId other = no_term;
    Rational ratio;

    bool is_free() const { return other != no_term; }
    friend bool operator==(const Entry&, const Entry&) = default;
};

// Tokens that the shortest spellings need: of the term, of its negative, of its reciprocal.
struct Cost {
    int plain = 1;
    int negative = 2;
    int inverse = 2;
};

struct TermNode {
    Kind kind = Kind::none;
    Op op = Op::nan;  // of a function, an extremum or a symbol
    bool has_variable = false;
    bool has_constant = false;
    bool has_absolute = false;  // |u| or asin(sin(u)): may be 0 on a set of positive measure, as x + |x|
    bool has_wave = false;      // sin, cos or tan
    bool partial = false;       // may be undefined on a set of positive measure
    TermId argument = no_term;
    std::uint32_t first = 0;  // entries of a sum, product or extremum
    std::uint32_t n_entries = 0;
    std::int64_t payload = 0;  // variable code, constant number, mantissa of an opaque number
    std::int16_t exponent = 0;
    Rational value;
    double low = 0.0;  // bounds of the value where it is defined
    double high = 0.0;
    std::uint64_t order = 0;  // content, blind to which free constant is meant
    Cost cost;
    bool no_numerator = false;  // a product that is written as 1/...
    std::uint8_t settled = 0;   // modes in which building it from its own parts gives it again
    std::uint16_t depth = 1;

    bool is_symbol(Op which) const { return kind == Kind::symbol && op == which; }
    bool is_function(Op which) const { return kind == Kind::function && op == which; }
    // k * T, a sum of one term.
    bool is_multiple() const { return kind == Kind::sum && n_entries == 1; }
};

class Arena {
  public:
    Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    void reset();
    // Lets the next reset keep the first n terms, which have no entries.
    void keep_first(std::size_t n) { n_kept_ = n; }

    // References stay valid until reset; spans of entries only until the next intern.
    const TermNode& operator[](TermId id) const { return chunks_[id / chunk_size][id % chunk_size]; }
    TermNode& edit(TermId id) { return chunks_[id / chunk_size][id % chunk_size]; }
    std::span<const Entry> entries(TermId id) const { return entries((*this)[id]); }
    std::span<const Entry> entries(const TermNode& node) const {
        return {entries_.data() + node.first, node.n_entries};
    }
    std::size_t size() const { return n_nodes_; }
    // Another number after every reset, in every arena.
    std::uint64_t generation() const { return generation_; }

    // The id of this content and whether it is new. `entries` are those of a sum or product.
    std::pair<TermId, bool> intern(const TermNode& node, std::span<const Entry> entries);

    // Takes the newest term back.
    void forget_last();

    // The id of this content, or no_term.
    TermId find(const TermNode& node, std::span<const Entry> entries) const;

    // The term of variable x_k where it is known, a place for it elsewhere; nullptr for other variables.
    TermId* variable(std::int64_t code) {
        return code > 0 && code < static_cast<std::int64_t>(variables_.size())
                   ? &variables_[static_cast<std::size_t>(code)]
                   : nullptr;
    }

    // Canonical order of terms; those that differ in their free constants only stand by id.
    bool less(TermId a, TermId b) const;

    // Puts entries in the order of their terms; those of equal terms in any.
    void sort(std::span<Entry> entries) const;

    // Puts entries in canonical order, terms that look alike by their coefficients or exponents.
    void settle_ties(std::span<Entry> sorted) const;

  private:
    int compare(const TermNode& x, const TermNode& y, int levels) const;
    bool same(const TermNode& a, std::span<const Entry> a_entries, TermId b) const;
    void grow();
    std::size_t slot_of(std::uint64_t hash, const TermNode& node, std::span<const Entry> entries) const;
    std::size_t free_slot(std::uint64_t hash) const;

    TermId append(const TermNode& node);

    static constexpr std::size_t chunk_size = 128;
    std::vector<std::unique_ptr<TermNode[]>> chunks_;
    std::size_t n_nodes_ = 0;
    std::size_t n_kept_ = 0;
    std::uint64_t generation_ = 0;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> table_;  // open addressing; 0 = empty
    std::vector<std::uint64_t> hashes_;
    std::array<TermId, 32> variables_{};
};

}  // namespace simplipy
