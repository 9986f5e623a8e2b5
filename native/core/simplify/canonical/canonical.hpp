// Builds canonical terms bottom-up: like terms and powers collected, signs and parity propagated, everything constant
// absorbed into free constants, common factors taken out where that is shorter.
//
// Sums and products stay open while their parent is of the same kind, so that a chain is normalised as a whole and the
// result does not depend on how its operands were ordered or nested. Each rewrite keeps the guarantees of the domain
// mode: with `extend` the result may be defined in more places, with `preserve` only on a null set more.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/simplify/spell/spell.hpp"
#include "core/simplify/term.hpp"
#include "exact_product.hpp"

namespace simplipy {

class RuleSet;
struct Monomial;
struct Rule;

struct Range {
    double low;
    double high;
};

struct CanonicalOptions {
    bool extend = true;
    const RuleSet* rules = nullptr;
    int max_pattern_length = -1;  // of rules; -1: no limit
    bool keep_arena = false;      // add to the terms that are there
    bool factor = true;           // take out common factors; patterns of sums are matched before that
    const std::map<std::int64_t, Range>* ranges = nullptr;  // by variable code
    bool keep = false;   // powers, roots and sums as written where expanding them is longer
    bool track = false;  // keep definitions of absorbed constants
};

// coefficient * constant * product of factors
struct Parts {
    ExactProduct coefficient;
    TermId constant = no_term;
    ExactProduct content;    // part of the coefficient that was inside sums, where it cost less
    int content_tokens = 0;  // tokens that those sums have more with it
    Scratch<Entry> factors;
};

// Appends "times ratio" to the postfix of a constant's definition.
void multiply_definition(std::vector<Node>& definition, const Rational& ratio);

// Whether a rewrite was made. One that needs a number beyond exact arithmetic is not.
template <class Rewrite>
bool attempt(const Rewrite& rewrite) {
    try {
        return rewrite();
    } catch (const Overflow&) {
        return false;
    }
}

class Canonicalizer {
  public:
    Canonicalizer(Arena& arena, const CanonicalOptions& options);

    // The canonical term of nodes in postfix order. May throw Overflow.
    TermId run(const std::vector<Node>& postfix);

    // Postfix of a free constant in terms of the input's: variable k stands for the k-th. Only when tracking.
    const std::vector<Node>& definition(std::int64_t constant) const {
        return definitions_[static_cast<std::size_t>(constant)];
    }

    // Whether something was expanded that is shorter as written: then the same with `keep` may be shorter as a whole.
    bool regrets() const { return regrets_; }

    // Names of the rewrites that happened, in order. Only when tracking.
    const std::vector<std::string>& events() const { return events_; }

  private:
    enum class Open : std::uint8_t { closed, sum, product };
    struct Value {
        Open open = Open::closed;
        TermId id = no_term;
        Scratch<Entry> sum;
        Parts product;
    };

    // leaves
    TermId number(const Rational& value);
    TermId leaf(const Node& node);
    TermId symbol(Op op);
    TermId variable(std::int64_t code);
    TermId new_constant(std::vector<Node> definition);
    TermId intern(const TermNode& node, const Scratch<Entry>& entries);

    // the walk over the input
    void apply(Op op, Scratch<Value>& stack);
    TermId close(Value& value);
    void to_sum(Value& value, const Rational& ratio, Scratch<Entry>& list);
    void to_product(Value& value, const Rational& exponent, Parts& parts);
    void check_turn(const Entry& factor) const;
    void scale(Value& value, const Rational& ratio);

    // settled terms: what an earlier round of the same call built from just these parts
    class OwnRegrets;
    bool may_recall() const { return options_.keep_arena && !options_.track && !took_logarithm_; }
    TermId recalled(TermId id) const;
    void settle(TermId id);

    // sums
    void add(Scratch<Entry>& list, TermId id, const Rational& ratio);
    TermId close_sum(Scratch<Entry> list);
    TermId make_sum(const Scratch<Entry>& list);
    TermId find_sum(const Scratch<Entry>& list) const;
    void merge_terms(Scratch<Entry>& list);
    bool absorb_ground(Scratch<Entry>& list);
    TermId infinite_product(const Parts& parts);
    std::optional<TermId> infinite_sum(const Scratch<Entry>& list);
    bool merge_logarithms(Scratch<Entry>& list);
    bool may_share_factors(const Scratch<Entry>& list) const;
    bool factor_once(Scratch<Entry>& list);
    TermId scaled(TermId id, const Rational& ratio);
    Rational content(TermId sum) const;

    // products
    void multiply(Parts& parts, TermId id, const Rational& exponent);
    void expand(Parts& parts, TermId id, const Rational& exponent);
    bool is_shorter_as_written(TermId id, const Rational& exponent, Parts& expanded);
    bool prefer(TermId written, TermId expanded);
    bool shares_exponent(TermId id, const Rational& exponent) const;
    void multiply_number(Parts& parts, TermId id, const Rational& exponent);
    void multiply_single(Parts& parts, TermId id, const Rational& exponent);
    void multiply_product(Parts& parts, TermId id, const Rational& exponent);
    void multiply_even_root(Parts& parts, TermId id, const Rational& exponent);
    void multiply_sum(Parts& parts, TermId id, const Rational& exponent);
    void multiply_symbolic(Parts& parts, TermId base, TermId exponent);
    void multiply_exponential(Parts& parts, TermId exponent);
    TermId sign_of_exponent(TermId exponent);
    void multiply_constant(Parts& parts, TermId constant, const Rational& exponent);
    TermId constant_power(TermId constant, const Rational& exponent, bool absolute);
    Entry inverse_power(const Entry& power);
    bool has_even_exponent(const Entry& power) const;
    void push_power(Scratch<Entry>& list, TermId base, TermId exponent);
    TermId close_product(Parts parts);
    TermId make_product(const Scratch<Entry>& factors);
    TermId find_product(const Parts& parts) const;
    bool is_made_of(TermId whole, const Parts& parts) const;
    bool merge_factors(Parts& parts);
    void merge_all_factors(Parts& parts);
    void gather_numbers(Parts& parts);
    void part_roots(Scratch<Entry>& list) const;
    bool is_split_power(const Entry& a, const Entry& b) const;
    bool absorb_ground(Parts& parts);
    bool absorb_in_root(Parts& parts);
    bool merge_absolutes(Parts& parts);
    bool cancel_polynomials(Parts& parts);
    bool cancel_sums(Parts& parts, std::size_t i, std::size_t j);
    bool multiply_out(Scratch<Entry>& list);
    bool expand_sums(Scratch<Entry>& list);
    TermId closed_as_it_is(Scratch<Entry> list);
    bool may_disappear(const Scratch<Monomial>& polynomial) const;
    TermId from_monomial(const Monomial& monomial);
    TermId with_coefficient(const Parts& parts, TermId term);
    bool is_shorter_with_content(const Parts& parts, TermId product, TermId whole) const;
    TermId free_times_sum(TermId constant, TermId sum);

    // functions
    TermId function(Op op, TermId argument);
    TermId new_function(Op op, TermId argument);
    TermId absolute(TermId argument);
    TermId magnitude(TermId id);
    TermId logarithm(TermId argument);
    std::optional<TermId> logarithm_of_multiple(TermId argument);
    std::optional<TermId> value_at_angle(Op op, TermId argument);
    std::optional<TermId> shifted_angle(Op op, TermId argument);
    std::optional<TermId> special_value(Op op, TermId argument);
    TermId make_function(Op op, TermId argument);

    // rules
    using Bindings = std::array<TermId, 4>;
    bool bind(std::int64_t variable, TermId term, const Rational& ratio, Bindings& bindings);
    bool tops_agree(const Arena& patterns, TermId pattern, TermId term) const;
    bool match(const Arena& patterns, TermId pattern, TermId term, Bindings& bindings);
    bool match_entry(const Arena& patterns, const Entry& pattern, const Entry& entry, const Rational& multiple,
                     Bindings& bindings);
    bool match_entries(const Arena& patterns, std::span<const Entry> pattern, std::size_t next,
                       const Scratch<Entry>& entries, Scratch<char>& used, const Rational& multiple,
                       Bindings& bindings);
    bool may_use(const Rule& rule) const;
    bool keeps_domain(const Rule& rule, const Bindings& bindings) const;
    bool conditions_hold(const Rule& rule, const Bindings& bindings) const;
    TermId replacement(const Rule& rule, const Bindings& bindings);
    std::optional<TermId> apply_function_rules(Op op, TermId argument);
    bool apply_sum_rules(Scratch<Entry>& list);
    bool apply_product_rules(Parts& parts);

    // analysis
    bool is_nonnegative(TermId id) const { return arena_[id].low >= 0.0; }
    bool is_ground(TermId id) const { return !arena_[id].has_variable; }
    bool is_infinite(TermId id) const { return arena_[id].kind == Kind::symbol && !(arena_[id].low > 0.0); }
    int leading_sign(TermId id) const;
    bool may_vanish(TermId id) const;
    bool may_hold_integer(TermId id) const;
    void analyse(TermId id);
    void analyse_sum(TermNode& node, std::span<const Entry> entries) const;
    void analyse_product(TermNode& node, std::span<const Entry> entries) const;
    void analyse_function(TermNode& node) const;

    // definitions of constants
    std::vector<Node> definition_of(TermId id);
    TermId scaled_constant(TermId constant, const Rational& ratio);
    void multiply_definition_by(std::vector<Node>& definition, const Entry& power);
    std::vector<Node> define_sum(const Scratch<Entry>& entries);
    std::vector<Node> define_is_zero(TermId constant);
    std::vector<Node> define_moves_zero(TermId base, TermId shift);
    std::vector<Node> define_base(TermId base, TermId shift);
    std::vector<Node> define_shifted_power(TermId base, TermId shift);
    std::vector<Node> define_power(TermId base, const Rational& exponent);
    void note(const char* event);

    Arena& arena_;
    const CanonicalOptions& options_;
    Speller speller_;
    std::int64_t n_constants_ = 0;
    std::int64_t n_input_constants_ = 0;
    int n_rewrites_ = 0;
    bool regrets_ = false;
    bool is_expanding_ = false;
    bool took_logarithm_ = false;  // e^log(u) as u, which may be negative
    std::vector<std::vector<Node>> definitions_;
    std::vector<std::string> events_;
};

// Regrets of a part of the work alone: inside, regrets_ starts as false; afterwards those from before are back.
class Canonicalizer::OwnRegrets {
  public:
    explicit OwnRegrets(bool& regrets) : regrets_(regrets), before_(std::exchange(regrets, false)) {}
    ~OwnRegrets() { regrets_ |= before_; }
    OwnRegrets(const OwnRegrets&) = delete;
    OwnRegrets& operator=(const OwnRegrets&) = delete;

  private:
    bool& regrets_;
    bool before_;
};

}  // namespace simplipy
