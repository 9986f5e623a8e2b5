// Rules as data: named rows `pattern -> replacement [extends] [conditions]`, compiled to canonical terms with
// metavariables.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "term.hpp"

namespace simplipy {

// What a metavariable must be bound to: a term whose interval lies within bounds, a whole number, or a term that is
// defined everywhere but on a null set.
struct Condition {
    enum class Kind : std::uint8_t { within, integer, finite };
    Kind kind = Kind::within;
    std::size_t variable = 0;  // 0 is a
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    bool excludes_low = false;
    bool excludes_high = false;

    bool holds(const TermNode& term) const;
};

struct Rule {
    std::string name;
    int length = 0;        // tokens of the pattern, what max_pattern_length limits
    bool extends = false;  // the replacement is defined in more places
    TermId pattern = no_term;
    std::vector<Node> replacement;  // postfix; variable k is the k-th metavariable
    std::vector<Condition> conditions;
    std::uint32_t dropped = 0;   // bit k: metavariable k + 1 is in the pattern only
    std::uint64_t features = 0;  // what a sum or product must have to match
};

// What the entries of a sum or product show at a glance, as bits: functions, powers of functions, squares,
// exponentials. A pattern matches only where its own features are all there.
std::uint64_t features(const Arena& arena, Kind kind, std::span<const Entry> entries);

class RuleSet {
  public:
    // Throws ParseError with the line for a row that is none, or whose replacement or conditions have a variable that
    // the pattern lacks.
    explicit RuleSet(std::string_view text);
    RuleSet(const RuleSet&) = delete;
    RuleSet& operator=(const RuleSet&) = delete;

    const Arena& arena() const { return arena_; }
    const std::vector<Rule>& functions(Op op) const { return functions_[index(op)]; }
    // Whether a rule for this function has a pattern with such an argument.
    bool may_match(Op op, Kind argument) const {
        return (argument_kinds_[index(op)] >> static_cast<int>(argument) & 1U) != 0;
    }
    const std::vector<Rule>& sums() const { return sums_; }
    const std::vector<Rule>& products() const { return products_; }
    std::size_t size() const { return n_rules_; }

  private:
    void add(std::string_view line, std::size_t number);

    Arena arena_;
    std::vector<Rule> functions_[n_operators];
    std::uint32_t argument_kinds_[n_operators] = {};
    std::vector<Rule> sums_;
    std::vector<Rule> products_;
    std::size_t n_rules_ = 0;
};

}  // namespace simplipy
