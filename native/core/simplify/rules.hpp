// Rules as data: named rows `pattern -> replacement [extends] [conditions]`, compiled to canonical terms with
// metavariables.
#pragma once

#include <bit>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "term.hpp"

namespace simplipy {

// The condition on a metavariable: a term whose interval lies within bounds, a whole number, or a term that is
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
    std::vector<Entry> entries;     // of a product's pattern, those that match least first
    std::vector<Node> replacement;  // postfix; variable k is the k-th metavariable
    std::vector<Condition> conditions;
    bool has_gaps = false;       // the pattern is undefined somewhere, if only at single values
    std::uint32_t dropped = 0;   // bit k: metavariable k + 1 is in the pattern only
    std::uint64_t features = 0;  // what a sum or product must have to match
};

// Features of the entries of a sum or product, as bits: functions, powers of functions, squares,
// exponentials. A pattern matches only where its own features are all there.
std::uint64_t features(const Arena& arena, Kind kind, std::span<const Entry> entries);

// Whether a factor is a sum, of two terms at least, to a power that is no whole number.
bool is_root_of_sum(const Arena& arena, const Entry& factor);

// Rules of sums or of products, found by what they need: one whose features are not all there is not looked at.
class FeatureIndex {
  public:
    void add(Rule rule);

    // Calls visit(rule) for rules whose features are among these until it returns true; returns whether it did.
    template <class Visit>
    bool any(std::uint64_t found, const Visit& visit) const {
        for (const std::uint32_t i : free_)
            if (visit(rules_[i])) return true;
        for (std::uint64_t bits = found; bits != 0; bits &= bits - 1)
            for (const Slot& slot : by_lowest_[static_cast<std::size_t>(std::countr_zero(bits))])
                if ((slot.features & ~found) == 0 && visit(rules_[slot.rule])) return true;
        return false;
    }

  private:
    struct Slot {
        std::uint64_t features;
        std::uint32_t rule;
    };
    std::vector<Rule> rules_;
    std::vector<std::uint32_t> free_;              // without features
    std::array<std::vector<Slot>, 64> by_lowest_;  // by the lowest feature
};

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
    const FeatureIndex& sums() const { return sums_; }
    const FeatureIndex& products() const { return products_; }
    // Of the rules of a function: kind and function of the argument, side by side.
    const std::vector<std::uint32_t>& argument_shapes(Op op) const { return argument_shapes_[index(op)]; }
    // Of an argument k*a, a sum that matches a term of any kind.
    static constexpr std::uint32_t any_shape = 0xffffffffU;
    // Features that a pattern shares with every term that it matches: the kind; the function; how many entries, and of
    // a single one the coefficient or exponent.
    static std::uint32_t shape(const Arena& arena, TermId id) {
        const TermNode& node = arena[id];
        const auto kind = static_cast<std::uint32_t>(node.kind) << 24;
        if (node.kind == Kind::function) return kind | static_cast<std::uint32_t>(node.op);
        if (node.kind != Kind::sum && node.kind != Kind::product) return kind;
        if (node.n_entries != 1) return kind | (node.n_entries & 0xffU) << 16;
        const Rational& ratio = arena.entries(id)[0].ratio;
        return kind | 1U << 16 | (static_cast<std::uint32_t>(ratio.p * 8 + ratio.q) & 0xffffU);
    }
    std::size_t size() const { return n_rules_; }

  private:
    void add(std::string_view line, std::size_t number);

    Arena arena_;
    std::vector<Rule> functions_[max_symbols];
    std::uint32_t argument_kinds_[max_symbols] = {};
    std::vector<std::uint32_t> argument_shapes_[max_symbols];
    FeatureIndex sums_;
    FeatureIndex products_;
    std::size_t n_rules_ = 0;
};

}  // namespace simplipy
