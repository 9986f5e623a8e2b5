// Finds the replacement of a term by its values: an O(1) join against all shorter terms, and families with a free
// constant.
//
// The key of a join is one value, at the first row where the term is finite, rounded; every possible replacement stands
// in the table once for each row where it is finite itself. So the replacement may be defined in more places, and
// rounding does not part equal values: a value near the border of its cell is looked up in both. Each entry of a cell
// is then compared on all rows.
#pragma once

#include <optional>

#include "terms.hpp"

namespace simplipy {

// One value against the rows of a term: what a match needs to know.
struct MineTarget {
    const double* values = nullptr;
    RowMask usable = 0;
    std::uint32_t occurrences = 0;
    int length = 0;
};

class ReplacementTable {
  public:
    // Takes terms of up to max_length tokens without free constants.
    void build(const TermBank& bank, int max_length);

    // The shortest term with the target's values wherever it is finite, or nothing. A metavariable occurs in it no
    // more often than in the target.
    std::optional<VersionId> find(const TermBank& bank, const MineTarget& target) const;

  private:
    struct Slot {
        std::uint64_t key;
        VersionId version;
    };
    void find_in_cell(const TermBank& bank, const MineTarget& target, std::uint64_t key,
                      std::optional<VersionId>& best) const;

    std::vector<std::uint32_t> starts_;  // of each bucket in slots_
    std::vector<Slot> slots_;
    std::uint64_t mask_ = 0;
};

// c, c + g, c - g, c*g, c/g, g^c, c^g with a free constant c, where g is a kept term.
struct Family {
    Op op = Op::constant;  // alone: the constant itself
    bool constant_first = true;
    VersionId term = no_version;

    void write(const TermBank& bank, std::vector<Node>& out) const;
};

// The shortest family that has the target among its members in every draw, by the member through the first row.
// `terms` are the possible g, shortest first.
std::optional<Family> find_family(const TermBank& bank, const MineTarget& target, std::span<const VersionId> terms,
                                  int max_length);

}  // namespace simplipy
