// Rules as data: named rows `pattern -> replacement`, compiled to canonical terms with metavariables.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "term.hpp"

namespace simplipy {

struct Rule {
    std::string name;
    int length = 0;        // tokens of the pattern, what max_pattern_length limits
    bool extends = false;  // the replacement is defined in more places
    TermId pattern = no_term;
    std::vector<Node> replacement;  // postfix; variable k is the k-th metavariable
    std::uint32_t dropped = 0;      // bit k: metavariable k + 1 is in the pattern only
    std::uint64_t features = 0;     // what a sum or product must have to match
};

// What the entries of a sum or product show at a glance, as bits: functions, powers of functions, squares,
// exponentials. A pattern matches only where its own features are all there.
std::uint64_t features(const Arena& arena, Kind kind, std::span<const Entry> entries);

class RuleSet {
  public:
    // Throws ParseError with the line for a row that is none, or whose replacement has a variable that the pattern
    // lacks.
    explicit RuleSet(std::string_view text);
    RuleSet(const RuleSet&) = delete;
    RuleSet& operator=(const RuleSet&) = delete;

    const Arena& arena() const { return arena_; }
    const std::vector<Rule>& functions(Op op) const { return functions_[index(op)]; }
    const std::vector<Rule>& sums() const { return sums_; }
    const std::vector<Rule>& products() const { return products_; }
    std::size_t size() const { return n_rules_; }

  private:
    void add(std::string_view line, std::size_t number);

    Arena arena_;
    std::vector<Rule> functions_[n_operators];
    std::vector<Rule> sums_;
    std::vector<Rule> products_;
    std::size_t n_rules_ = 0;
};

}  // namespace simplipy
