// Rule discovery: all terms of a length over irreducible shorter ones, each joined by its values to the shortest term
// that has them.
//
// A term is irreducible when its operands are, neither the canonicaliser nor a rule that is there shortens it, and no
// shorter term has its values. A term with a reducible operand is shortened by a shorter rule, so nothing is lost by
// leaving it out. A rule that is found is a proposal: doubles on 32 rows say so, and verification is left to others.
// The result depends on the options alone, not on threads or on how the work is cut.
#pragma once

#include <string>

#include "core/simplify/simplify.hpp"
#include "join.hpp"
#include "keys.hpp"

namespace simplipy {

struct MineOptions {
    int max_length = 4;
    int max_replacement = 3;
    int n_variables = 4;      // metavariables
    int n_constants = 2;      // free constants of a pattern
    int max_ground = 3;       // tokens of a part without metavariables and free constants
    int max_conditional = 4;  // tokens of a pattern that is also tried on parts of the line
    bool literals = true;
    std::vector<Op> operators;
    std::uint64_t seed = 0;
};

// A pattern with a shorter term of equal values, as tokens in prefix order.
struct Proposal {
    std::vector<std::string> pattern;
    std::vector<std::string> replacement;
    bool masks = false;     // numbers of the pattern become a free constant
    std::string condition;  // on the only metavariable, as a rule file has it; "" where there is none
};

// Terms by how many metavariables they have.
using ByVariables = std::array<std::uint64_t, max_metavariables + 1>;

// The outcome of the terms of one length.
struct MineCounts {
    std::uint64_t tested = 0;
    ByVariables tested_by_variables{};
    std::uint64_t thin = 0;         // finite on too few rows to be compared, or nowhere
    std::uint64_t reducible = 0;    // the canonicaliser or a rule shortens it
    std::uint64_t proposed = 0;     // a rule
    std::uint64_t irreducible = 0;  // left over; of the longest terms also what the canonicaliser would shorten

    MineCounts& operator+=(const MineCounts& other);
};

struct MineShard {
    std::vector<Composite> kept;
    std::vector<std::uint64_t> keys;  // of the canonical spelling of each
    std::vector<Proposal> proposals;
    MineCounts counts;
};

class Miner {
  public:
    explicit Miner(MineOptions options);
    Miner(const Miner&) = delete;
    Miner& operator=(const Miner&) = delete;

    // Rules of shorter lengths: a term that they shorten is reducible.
    void set_rules(std::shared_ptr<const RuleSet> rules) { rules_ = std::move(rules); }

    // Terms up to this length are kept with their values: as operands and as replacements. Those of the length before
    // the last one may be kept only as they are built, since unary operators alone can stand over them.
    int stored_length() const {
        return std::max(options_.max_length - 2, std::min(options_.max_replacement, options_.max_length - 1));
    }

    // The work of one length is cut into tasks.
    std::size_t n_tasks(int length) const;

    // How many terms of this length there are to test.
    ByVariables n_terms(int length) const;

    // Runs tasks [first, last) and returns what they found, in order.
    MineShard run(int length, std::size_t first, std::size_t last, std::size_t n_threads) const;

    // Bytes that these terms take once they are committed, at most.
    std::uint64_t bytes_of(int length, std::span<const Composite> kept) const;

    // Adds irreducible terms of a length that is not the last, shard by shard in order, once for each canonical
    // spelling. The length must have been tested whole; end_length follows the last shard.
    void commit(int length, std::span<const Composite> kept, std::span<const std::uint64_t> keys);
    void end_length(int length);

  private:
    class Worker;
    void add_leaves();
    void refresh();

    MineOptions options_;
    std::vector<Op> unary_;
    std::vector<Op> binary_;
    TermBank bank_;
    ReplacementTable table_;
    std::shared_ptr<const RuleSet> rules_;
    std::vector<Composite> passed_;          // of the length before the last one
    KeySet committed_;                       // canonical spellings of the length that is being committed
    std::vector<VersionId> family_terms_;    // without constants, with metavariables, shortest first
    std::vector<RowMask> region_rows_;       // where the first metavariable lies in each region
    std::vector<std::uint32_t> infinities_;  // terms that stand for inf, -inf and nan
};

}  // namespace simplipy
