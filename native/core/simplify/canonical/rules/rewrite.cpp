#include "rewrite.hpp"

#include <algorithm>

#include "core/simplify/canonical/product/merge.hpp"
#include "core/simplify/canonical/product/power.hpp"
#include "core/simplify/canonical/product/product.hpp"
#include "core/simplify/canonical/sum/sum.hpp"
#include "core/simplify/canonical/walk.hpp"
#include "core/simplify/polynomial.hpp"
#include "core/simplify/rules.hpp"
#include "match.hpp"

namespace simplipy::canonical {
namespace {

bool may_use(const Context& c, const Rule& rule) {
    return (c.options.extend || !rule.extends) &&
           (c.options.max_pattern_length < 0 || rule.length <= c.options.max_pattern_length);
}

// With preserve, a term that disappears must be defined everywhere. And one that may keep a value on more than a null
// set must not meet a pattern that single values leave undefined: sin(a)/tan(a) for a = x + |x|.
bool keeps_domain(const Context& c, const Rule& rule, const Bindings& bindings) {
    if (c.options.extend) return true;
    for (std::size_t k = 0; k < bindings.size(); ++k) {
        if (bindings[k] == no_term) continue;
        if ((rule.dropped >> k & 1U) != 0 && c.terms[bindings[k]].partial) return false;
        if (rule.has_gaps && may_be_constant(c.terms.arena(), bindings[k])) return false;
    }
    return true;
}

bool conditions_hold(const Context& c, const Rule& rule, const Bindings& bindings) {
    return std::all_of(rule.conditions.begin(), rule.conditions.end(), [&](const Condition& condition) {
        return condition.holds(c.terms[bindings[condition.variable]]);
    });
}

bool may_rewrite(const Context& c, const Rule& rule, const Bindings& bindings) {
    return keeps_domain(c, rule, bindings) && conditions_hold(c, rule, bindings);
}

// Whether roots of the pattern stay roots of the same degree in its power: u is defined where sqrt(u)^2 is not.
bool keeps_degrees(std::span<const Entry> pattern, int power) {
    return std::all_of(pattern.begin(), pattern.end(), [power](const Entry& entry) {
        return entry.is_free() || (entry.ratio * Rational(power)).q == entry.ratio.q;
    });
}

TermId replacement(Context& c, const Rule& rule, const Bindings& bindings) {
    const RewriteLimits::Rewrite rewrite(c.rewrites);
    c.note(rule.name.c_str());
    return walk(c, rule.replacement, [&](const Node& node) {
        return node.op == Op::variable ? bindings[static_cast<std::size_t>(node.payload - 1)] : leaf(c, node);
    });
}

// The sum with the rule used where its first entry matches this one; nothing where that is not shorter.
std::optional<Scratch<Entry>> rewritten(Context& c, const Rule& rule, const Scratch<Entry>& list, const Entry& first) {
    const Arena& patterns = c.options.rules->arena();
    const std::span<const Entry> pattern = patterns.entries(rule.pattern);
    const TermNode& wanted = patterns[pattern[0].term];
    const TermNode& term = c.terms[first.term];
    if (first.is_free() || first.ratio.is_zero() || wanted.kind != term.kind || wanted.n_entries != term.n_entries)
        return std::nullopt;
    if (!Matcher(c, patterns).match(pattern[0].term, first.term)) return std::nullopt;
    EntryMatch found{list, first.ratio / pattern[0].ratio};
    Matcher matcher(c, patterns);
    if (!matcher.match_entries(pattern, found) || !may_rewrite(c, rule, matcher.bindings())) return std::nullopt;
    Scratch<Entry> shorter = found.left_over();
    add(c, shorter, replacement(c, rule, matcher.bindings()), found.multiple);
    merge_terms(c, shorter);
    if (c.terms[c.terms.sum(shorter)].cost.plain >= c.terms[c.terms.sum(list)].cost.plain) return std::nullopt;
    return shorter;
}

// The same for a product.
std::optional<Parts> rewritten(Context& c, const Rule& rule, const Parts& parts, const Entry& first) {
    const Arena& patterns = c.options.rules->arena();
    const std::span<const Entry> pattern = rule.entries;
    const TermNode& base = c.terms[first.term];
    const TermNode& wanted = patterns[pattern[0].term];
    if (first.is_free() || pattern[0].is_free() || base.kind != wanted.kind || base.op != wanted.op)
        return std::nullopt;
    Matcher matcher(c, patterns);
    if (!matcher.tops_agree(pattern[0].term, first.term)) return std::nullopt;
    // the power of the whole pattern that the first factor asks for
    const int power = (first.ratio / pattern[0].ratio).small();
    if (power == 0 || !keeps_degrees(pattern, power)) return std::nullopt;
    EntryMatch found{parts.factors, Rational(power)};
    if (!matcher.match_entries(pattern, found) || !may_rewrite(c, rule, matcher.bindings())) return std::nullopt;
    Parts shorter;
    shorter.coefficient = parts.coefficient;
    shorter.constant = parts.constant;
    shorter.factors = found.left_over();
    multiply(c, shorter, replacement(c, rule, matcher.bindings()), found.multiple);
    const TermId before = closed_as_merged(c, parts);
    merge_all_factors(c, shorter);
    const TermId after = closed_as_merged(c, shorter);
    if (c.terms[after].cost.plain >= c.terms[before].cost.plain) return std::nullopt;
    return shorter;
}

}  // namespace

std::optional<TermId> apply_function_rules(Context& c, Op op, TermId argument) {
    const RuleSet* const set = c.options.rules;
    if (set == nullptr || !set->may_match(op, c.terms[argument].kind)) return std::nullopt;
    const std::vector<Rule>& rules = set->functions(op);
    const std::vector<std::uint32_t>& shapes = set->argument_shapes(op);
    const std::uint32_t shape = RuleSet::shape(c.terms.arena(), argument);
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (shapes[i] != shape && shapes[i] != RuleSet::any_shape) continue;
        const Rule& rule = rules[i];
        Matcher matcher(c, set->arena());
        if (may_use(c, rule) && matcher.match(set->arena()[rule.pattern].argument, argument) &&
            may_rewrite(c, rule, matcher.bindings()))
            return replacement(c, rule, matcher.bindings());
    }
    return std::nullopt;
}

bool apply_sum_rules(Context& c, Scratch<Entry>& list) {
    if (c.options.rules == nullptr) return false;
    const Arena& patterns = c.options.rules->arena();
    return c.options.rules->sums().any(features(c.terms.arena(), Kind::sum, list), [&](const Rule& rule) {
        if (!may_use(c, rule) || patterns[rule.pattern].n_entries > list.size()) return false;
        for (const Entry& first : list)
            if (auto shorter = rewritten(c, rule, list, first)) {
                list = std::move(*shorter);
                return true;
            }
        return false;
    });
}

bool apply_product_rules(Context& c, Parts& parts) {
    if (c.options.rules == nullptr) return false;
    const bool is_alone = parts.factors.size() == 1;
    const bool is_reciprocal = is_alone && !parts.factors[0].is_free() && parts.factors[0].ratio.sign() < 0;
    const Arena& patterns = c.options.rules->arena();
    return c.options.rules->products().any(
        features(c.terms.arena(), Kind::product, parts.factors), [&](const Rule& rule) {
            if (!may_use(c, rule) || rule.entries.size() > parts.factors.size()) return false;
            // a reciprocal alone is shorter as a function; below a numerator it is not
            if (rule.entries.size() == 1 && !is_root_of_sum(patterns, rule.entries[0]) && !is_reciprocal) return false;
            for (const Entry& first : parts.factors)
                if (auto shorter = rewritten(c, rule, parts, first)) {
                    parts = std::move(*shorter);
                    return true;
                }
            return false;
        });
}

}  // namespace simplipy::canonical
