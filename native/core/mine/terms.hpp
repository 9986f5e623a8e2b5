// The miner's irreducible terms with their values.
//
// A term is kept once, with its metavariables numbered in the order of their first occurrence and its free constants
// from left to right, and under every renaming: a version gives it other metavariables and shifts its constants, so
// that it can stand to the right of another term. Every version has its values on the miner's rows; an operator over
// two versions is evaluated from these alone.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/expression/tree.hpp"
#include "points.hpp"

namespace simplipy {

using VersionId = std::uint32_t;
inline constexpr VersionId no_version = 0xffffffffu;

// An operator over versions of kept terms, or a leaf.
struct Composite {
    Op op = Op::nan;
    VersionId left = no_version;  // of a unary operator its operand
    VersionId right = no_version;
    std::int64_t payload = 0;  // of a number
};

struct MineTerm {
    Composite composite;
    int length = 1;
    int n_variables = 0;
    int n_constants = 0;
    bool has_literal = false;
    VersionId first = 0;  // version with its own names and no shift
    int n_shifts = 1;
};

// Which metavariable stands for the k-th one.
using Renaming = std::array<std::uint8_t, max_metavariables>;

struct Version {
    std::uint32_t term = 0;
    std::uint16_t renaming = 0;  // index in renamings(n_variables)
    std::uint8_t shift = 0;
    RowMask usable = 0;
    RowMask tame = 0;               // where the term and all of its parts are tame
    std::uint32_t occurrences = 0;  // of each metavariable, a byte each
};

class TermBank {
  public:
    TermBank(int n_variables, int n_constants, std::uint64_t seed);

    const MineTerm& term(std::uint32_t i) const { return terms_[i]; }
    const Version& version(VersionId id) const { return versions_[id]; }
    const MineTerm& term_of(VersionId id) const { return terms_[versions_[id].term]; }
    const double* values(VersionId id) const { return blocks_[id / block_size].get() + id % block_size * mine_rows; }
    std::size_t n_terms() const { return terms_.size(); }
    std::size_t n_versions() const { return versions_.size(); }

    int n_variables() const { return n_variables_; }
    int n_constants() const { return n_constants_; }

    // Terms with so many tokens, as a range of indices.
    std::pair<std::uint32_t, std::uint32_t> of_length(int length) const;

    // Bytes that a term takes with all of its versions.
    std::uint64_t bytes_of(const MineTerm& term) const {
        const std::uint64_t n = renamings_[static_cast<std::size_t>(term.n_variables)].size() *
                                static_cast<std::uint64_t>(n_shifts(term.n_constants));
        return sizeof(MineTerm) + n * (sizeof(Version) + mine_rows * sizeof(double));
    }

    // Keeps a term with all of its versions. Lengths must not fall from call to call.
    void keep(const Composite& composite);

    // Renamings, by index, of a term with n metavariables that may stand right of one with `before` metavariables:
    // those that are new there come in order.
    const std::vector<std::uint16_t>& followers(int before, int n) const {
        return followers_[static_cast<std::size_t>(before)][static_cast<std::size_t>(n)];
    }
    int variables_after(int before, const MineTerm& right, std::uint16_t renaming) const;

    VersionId version_of(const MineTerm& term, std::uint16_t renaming, int shift) const {
        return term.first + static_cast<VersionId>(renaming * term.n_shifts + shift);
    }

    // Metavariables, free constants and their occurrences in a composite over versions.
    MineTerm describe(const Composite& composite) const;
    std::uint32_t occurrences(const Composite& composite) const;
    RowMask tame_operands(const Composite& composite) const;
    void evaluate(const Composite& composite, double* out) const;
    static void evaluate_unary(Op op, const double* operand, double* out);

    // Appends the postfix of a composite or of a version; metavariable k is x_k.
    void write(const Composite& composite, std::vector<Node>& out) const;
    void write(VersionId id, std::vector<Node>& out) const;

  private:
    int n_shifts(int n_constants) const { return n_constants == 0 ? 1 : n_constants_ - n_constants + 1; }
    VersionId moved(VersionId id, const Renaming& renaming, int shift) const;
    Composite moved(const Composite& composite, const Renaming& renaming, int shift) const;
    void evaluate_leaf(const Composite& composite, const Renaming& renaming, int shift, double* out) const;
    void add_version(const Version& version, const Composite& composite, const Renaming& renaming);

    static constexpr std::size_t block_size = 4096;
    int n_variables_;
    int n_constants_;
    MinePoints points_;
    std::vector<MineTerm> terms_;
    std::vector<std::uint32_t> starts_;  // of each length
    std::vector<Version> versions_;
    std::vector<std::unique_ptr<double[]>> blocks_;
    std::array<std::vector<Renaming>, max_metavariables + 1> renamings_;
    std::array<std::array<std::uint16_t, 256>, max_metavariables + 1> renaming_index_{};
    std::array<std::array<std::vector<std::uint16_t>, max_metavariables + 1>, max_metavariables + 1> followers_;
};

}  // namespace simplipy
