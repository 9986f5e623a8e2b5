// Held-out expressions: whether a skeleton equals one of them once constants are pruned, up to names of variables.
//
// Three checks. Symbolic: equal tokens. Numeric: equal values at 512 fixed points of U(-10, 10), rounded to four
// decimals, undefined counting as 0. Canonical: equal shortest forms, or values to nine digits, as pruned and after
// integer factors and signs are pruned too; values at a few points, which do not depend on names, say first whether
// that can be.
// All arrangements of an entry's variables are stored, so a skeleton is looked up once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/expression/tree.hpp"
#include "core/simplify/simplify.hpp"

namespace flash_ansr {

enum class Match : std::uint8_t { symbolic, numeric, canonical };

struct HeldOut {
    Match match;
    std::size_t entry;
};

// The nodes without constants, in postfix order; empty when nothing is left. A binary node with one pruned operand
// becomes the other (c/u -> inv u, c-u -> neg u), a unary node over a pruned operand is pruned. With `scales`, integer
// factors and signs of subterms are pruned too.
std::vector<simplipy::Node> pruned(const std::vector<simplipy::Node>& nodes, bool scales);

class Holdout {
  public:
    // `options` simplify entries as the skeletons are simplified that will be looked up.
    Holdout(const std::vector<simplipy::Tree>& entries, const simplipy::SimplifyOptions& options);

    // The entry that an expression equals, as it is written or simplified.
    std::optional<HeldOut> find_any(const simplipy::Tree& tree, simplipy::Simplifier& simplifier) const;

    // The entry that a skeleton equals; constants may be free or numbers.
    std::optional<HeldOut> find(const simplipy::Tree& skeleton, simplipy::Simplifier& simplifier) const;

    std::size_t size() const { return n_entries_; }

  private:
    static constexpr std::size_t n_pairs = 6;
    using Postfix = std::vector<simplipy::Node>;
    using Table = std::unordered_map<std::uint64_t, std::uint32_t>;
    struct Signature {
        std::array<std::uint64_t, n_pairs> hashes{};  // one a pair of point values; 0 where nothing is defined
        bool has_gaps = false;                        // undefined at some of the points, as x/(1/(x - y)) where x = y
    };
    // Values at a few points of the grid, to nine digits. Two hashes: the same value may round either way, but hardly
    // so in both.
    using Sample = std::array<std::uint64_t, 2>;

    void add(const Postfix& nodes, std::uint32_t entry, simplipy::Simplifier& simplifier);
    void add_arrangements(const simplipy::Tree& tree, std::size_t n, bool as_in_the_paper, std::uint32_t entry,
                          simplipy::Simplifier& simplifier);
    std::optional<HeldOut> find_canonical(const simplipy::Tree& tree, std::size_t n,
                                          simplipy::Simplifier& simplifier) const;
    std::uint64_t image(const simplipy::Tree& tree, std::size_t n_variables) const;
    Sample sample(const simplipy::Tree& tree, std::size_t n_variables) const;
    static Signature signature(const simplipy::Tree& tree, std::size_t n_variables);
    std::optional<std::uint64_t> canonical_key(const simplipy::Tree& tree, simplipy::Simplifier& simplifier) const;

    simplipy::SimplifyOptions options_;        // numbers masked, as skeletons are simplified
    simplipy::SimplifyOptions exact_options_;  // for canonical keys
    std::vector<double> grid_;                 // column by column
    std::size_t max_variables_ = 0;
    std::size_t n_entries_ = 0;
    Table symbolic_;
    Table images_;
    Table canonical_;
    std::array<Table, 2> samples_;
    std::array<Table, n_pairs> signatures_;
    std::array<Table, n_pairs> wide_signatures_;  // of entries with too many arrangements to store
    bool has_unsigned_ = false;                   // an entry is defined at none of the points of a signature
};

}  // namespace flash_ansr
