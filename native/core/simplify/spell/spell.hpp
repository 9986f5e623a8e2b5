// The shortest spelling of a canonical term in the paper's tokens: how many tokens, and which.
//
// Costs are computed once for each new term from those of its children. Signs are free where a sum can subtract, an odd
// function or a factor can turn; reciprocals are free where a product can divide; equal coefficients and exponents
// share their operator. Among equals the spelling with fewer number literals is taken.
#pragma once

#include <span>
#include <vector>

#include "core/base/function_ref.hpp"
#include "core/base/scratch.hpp"
#include "core/simplify/term.hpp"

namespace simplipy {

struct Bracket;

class Speller {
  public:
    // `merge_even_roots`: sqrt(a)*sqrt(b) may be written sqrt(a*b), which is defined in more places.
    Speller(const Arena& arena, bool merge_even_roots) : arena_(arena), merge_even_roots_(merge_even_roots) {}

    // Sets cost and no_numerator of a node whose children have theirs.
    void set_cost(TermNode& node, std::span<const Entry> entries) const;

    enum class Mode : std::uint8_t { plain, negative, inverse };

    // Writes ratio times a free constant: the constant absorbs signs and contents that the spelling moves.
    using WriteConstant = FunctionRef<void(const TermNode& constant, const Rational& ratio, std::vector<Node>& out)>;

    // Appends the postfix spelling of the term, of its negative or of its reciprocal.
    void emit(TermId id, Mode mode, std::vector<Node>& out, WriteConstant write) const;

  private:
    enum class Repeats : std::uint8_t { nowhere, everywhere, unknown };
    struct Scale {
        int plain;
        int negative;
    };
    struct LogOfPower {
        TermId base = no_term;  // none: not written so
        Rational scale = 1;     // of the base
        Rational exponent;      // > 0
        int tokens = 0;
    };
    struct Item;
    struct Group;
    struct ProductPlan;
    struct Absorption;
    struct Emitter;

    Scale entry_cost(const Entry& entry) const;
    LogOfPower log_of_power(const Entry& entry) const;
    Absorption absorption(const Entry& entry) const;
    Absorption find_absorption(const Entry& entry) const;
    void absorb_part(Absorption& best, const Entry& product, std::uint32_t which, int n) const;
    bool turns_exponent(std::span<const Entry> entries) const;
    int tokens_in_bracket(const Entry& entry, const Rational& k) const;
    // Every entry in one bracket, alone or with others; in order of their first members.
    Repeats repeats(std::span<const Entry> entries) const;
    Scratch<Bracket> coefficient_brackets(std::span<const Entry> entries) const;
    Scratch<Scale> chain_items(std::span<const Entry> entries, const Scratch<Bracket>& brackets) const;
    void absorb(Absorption& best, const Entry& product, std::uint32_t which, const Rational& root, const Rational& rest,
                bool into_sum) const;
    Scale unit_cost(std::span<const Entry> entries) const;
    Scale sum_cost(std::span<const Entry> entries) const;
    Scale factor_cost(const Entry& factor) const;
    bool is_simple(std::span<const Entry> factors) const;
    void set_simple_product_cost(TermNode& node, std::span<const Entry> factors) const;
    ProductPlan plan_product(std::span<const Entry> entries) const;
    void nest(Scratch<Group>& groups) const;
    void add_group(ProductPlan& plan, std::span<const Entry> entries, const Scratch<Group>& groups, std::uint32_t which,
                   const Rational& exponent) const;

    const Arena& arena_;
    bool merge_even_roots_;
};

}  // namespace simplipy
