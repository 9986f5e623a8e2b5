// Simplification of trees: canonical form, shortest spelling, repeated to a fixpoint.
//
// Never longer than the input, the same for any order and nesting of the operands of + and *, the same on every run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/expression/tree.hpp"
#include "core/simplify/canonical/canonical.hpp"
#include "rules.hpp"

namespace simplipy {

enum class StopReason : std::uint8_t { fixpoint, step_limit, size_limit, overflow };

struct SimplifyOptions {
    bool extend = true;
    bool mask_numbers = false;
    bool fold_numbers = false;
    std::shared_ptr<const RuleSet> rules;
    int max_pattern_length = -1;  // of rules; 0: the canonicaliser alone, -1: no limit
    int max_steps = 16;           // rounds of canonical form and spelling
    std::map<std::int64_t, Range> ranges;
};

struct Step {
    std::vector<std::string> rules;
    Tree before;
    Tree after;
};

struct Simplified {
    Tree tree;
    StopReason stop = StopReason::fixpoint;
    // only when explained:
    std::vector<Step> steps;
    std::vector<Tree> constants;  // of the output, in terms of the input's: variable x_k is the k-th
};

class Simplifier {
  public:
    Simplified run(const Tree& tree, const SimplifyOptions& options, bool explain = false);

  private:
    // An expression on its way, and its constants in terms of the input's (only when explaining).
    struct State {
        std::vector<Node> nodes;
        std::vector<std::vector<Node>> constants;
    };
    struct Round {
        std::vector<Node> nodes;
        std::vector<std::vector<Node>> constants;
        std::vector<std::string> rules;
        bool unchanged = false;  // the same term as in the round before, so nothing was written
    };
    State rewrite(State state, const SimplifyOptions& options, bool explain, Simplified& result,
                  const std::vector<std::string>& names);
    static State sorted(State state);
    static void mask_literals(State& state, bool explain);
    Round once(const std::vector<Node>& nodes, const SimplifyOptions& options, bool explain, bool first);
    void write(Round& round, Canonicalizer& canonicalizer, TermId root, const SimplifyOptions& options, bool explain);

    Arena arena_;
    TermId last_root_ = no_term;
    TermId last_kept_ = no_term;  // root with `keep`, where it was asked for
};

// The thread's own simplifier, whose arena is warm for the next call. Kept by a pointer, as the memory for variables of
// threads that a process reserves for libraries is small, and other libraries need theirs.
Simplifier& simplifier_of_thread();

// Each tree becomes its simplified form; the same result for any number of threads.
void simplify_trees(std::span<Tree> trees, const SimplifyOptions& options, std::size_t n_threads);

// Many expressions as token ids (see prefix.hpp): expression i is ids[offsets[i]] to ids[offsets[i + 1]].
struct IdBatch {
    std::span<const std::int16_t> ids;
    std::span<const std::int64_t> offsets;
    std::span<const std::string> extras;
};

struct OwnedIdBatch {
    std::vector<std::int16_t> ids;
    std::vector<std::int64_t> offsets;
    std::vector<std::string> extras;
};

// The same result for any number of threads.
OwnedIdBatch simplify_batch(const IdBatch& batch, const SimplifyOptions& options, std::size_t n_threads);

// Operands of + and of * in canonical order, chains nested to the left; nothing else changes.
std::vector<Node> sorted_chains(const std::vector<Node>& postfix);

}  // namespace simplipy
