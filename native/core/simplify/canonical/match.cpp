// Rules at work: matching patterns against canonical terms, modulo order of operands, and building replacements.

#include <algorithm>

#include "canonical.hpp"
#include "core/simplify/polynomial.hpp"
#include "core/simplify/rules.hpp"

namespace simplipy {

// Binds metavariable `variable` to ratio^-1 * term, or checks that it is bound so.
bool Canonicalizer::bind(std::int64_t variable, TermId term, const Rational& ratio, Bindings& bindings) {
    TermId& bound = bindings[static_cast<std::size_t>(variable - 1)];
    if (bound == no_term) {
        bound = ratio.is_one() ? term : scaled(term, reciprocal(ratio));
        return true;
    }
    return (ratio.is_one() ? bound : scaled(bound, ratio)) == term;
}

bool Canonicalizer::match(const Arena& patterns, TermId pattern, TermId term, Bindings& bindings) {
    const TermNode& p = patterns[pattern];
    const TermNode& t = arena_[term];
    if (p.kind == Kind::variable) return bind(p.payload, term, Rational(1), bindings);
    if (p.kind == Kind::sum && p.n_entries == 1) {  // k * pattern
        const Entry entry = patterns.entries(pattern)[0];
        if (patterns[entry.term].kind == Kind::variable)
            return bind(patterns[entry.term].payload, term, entry.ratio, bindings);
    }
    if (p.kind != t.kind) return false;
    switch (p.kind) {
        case Kind::number:
            return p.value == t.value;
        case Kind::symbol:
            return p.op == t.op;
        case Kind::function:
            return p.op == t.op && match(patterns, p.argument, t.argument, bindings);
        case Kind::sum:
        case Kind::product: {
            if (p.n_entries != t.n_entries) return false;
            const Scratch<Entry> terms(arena_.entries(term).begin(), arena_.entries(term).end());
            Scratch<char> used(terms.size(), 0);
            return match_entries(patterns, patterns.entries(pattern), 0, terms, used, Rational(1), bindings);
        }
        default:
            return false;
    }
}

// Whether the functions at the top agree; where not, the pattern cannot match.
bool Canonicalizer::tops_agree(const Arena& patterns, TermId pattern, TermId term) const {
    const TermNode* p = &patterns[pattern];
    const TermNode* t = &arena_[term];
    while (p->kind == Kind::function) {
        if (t->kind != Kind::function || t->op != p->op) return false;
        p = &patterns[p->argument];
        t = &arena_[t->argument];
    }
    return true;
}

bool Canonicalizer::match_entry(const Arena& patterns, const Entry& pattern, const Entry& entry,
                                const Rational& multiple, Bindings& bindings) {
    if (pattern.is_free() != entry.is_free() || !tops_agree(patterns, pattern.term, entry.term)) return false;
    if (!pattern.is_free() && !(pattern.ratio * multiple == entry.ratio)) return false;
    if (!match(patterns, pattern.term, entry.term, bindings)) return false;
    return !pattern.is_free() || match(patterns, pattern.other, entry.other, bindings);
}

// Finds for every pattern entry from `next` on an entry of its own; marks those in `used`.
bool Canonicalizer::match_entries(const Arena& patterns, std::span<const Entry> pattern, std::size_t next,
                                  const Scratch<Entry>& entries, Scratch<char>& used, const Rational& multiple,
                                  Bindings& bindings) {
    if (next == pattern.size()) return true;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (used[i]) continue;
        const Bindings before = bindings;
        if (match_entry(patterns, pattern[next], entries[i], multiple, bindings)) {
            used[i] = 1;
            if (match_entries(patterns, pattern, next + 1, entries, used, multiple, bindings)) return true;
            used[i] = 0;
        }
        bindings = before;
    }
    return false;
}

bool Canonicalizer::may_use(const Rule& rule) const {
    return (options_.extend || !rule.extends) &&
           (options_.max_pattern_length < 0 || rule.length <= options_.max_pattern_length);
}

// With preserve, a term that disappears must be defined everywhere. And one that may keep a value on more than a null
// set must not meet a pattern that single values leave undefined: sin(a)/tan(a) for a = x + |x|.
bool Canonicalizer::keeps_domain(const Rule& rule, const Bindings& bindings) const {
    if (options_.extend) return true;
    for (std::size_t k = 0; k < bindings.size(); ++k) {
        if (bindings[k] == no_term) continue;
        if ((rule.dropped >> k & 1U) != 0 && arena_[bindings[k]].partial) return false;
        if (rule.has_gaps && may_be_constant(arena_, bindings[k])) return false;
    }
    return true;
}

bool Canonicalizer::conditions_hold(const Rule& rule, const Bindings& bindings) const {
    return std::all_of(rule.conditions.begin(), rule.conditions.end(), [&](const Condition& condition) {
        return condition.holds(arena_[bindings[condition.variable]]);
    });
}

namespace {

// Rules of a file may undo each other: sin(a) -> cos(b) and back. Then the rewrite is refused like one that overflows.
class Nesting {
  public:
    Nesting() {
        if (++depth() <= limit) return;
        --depth();
        throw_overflow();
    }
    ~Nesting() { --depth(); }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

  private:
    static constexpr int limit = 100;
    static int& depth() {
        thread_local int value = 0;
        return value;
    }
};

// Whether roots of the pattern stay roots of the same degree in its power: u is defined where sqrt(u)^2 is not.
bool keeps_degrees(std::span<const Entry> pattern, int power) {
    return std::all_of(pattern.begin(), pattern.end(), [power](const Entry& entry) {
        return entry.is_free() || (entry.ratio * Rational(power)).q == entry.ratio.q;
    });
}

}  // namespace

TermId Canonicalizer::replacement(const Rule& rule, const Bindings& bindings) {
    constexpr int max_rewrites = 2000;  // rules that undo each other in two places would go on for ever
    const Nesting nesting;
    if (++n_rewrites_ > max_rewrites) throw_overflow();
    note(rule.name.c_str());
    Scratch<Value> stack;
    for (const Node& node : rule.replacement) {
        if (is_operator(node.op)) {
            apply(node.op, stack);
        } else {
            const bool is_metavariable = node.op == Op::variable;
            stack.push_back({Open::closed,
                             is_metavariable ? bindings[static_cast<std::size_t>(node.payload - 1)] : leaf(node),
                             {},
                             {}});
        }
    }
    return close(stack.back());
}

std::optional<TermId> Canonicalizer::apply_function_rules(Op op, TermId argument) {
    if (options_.rules == nullptr || !options_.rules->may_match(op, arena_[argument].kind)) return std::nullopt;
    const Arena& patterns = options_.rules->arena();
    const std::vector<Rule>& rules = options_.rules->functions(op);
    const std::vector<std::uint32_t>& shapes = options_.rules->argument_shapes(op);
    const std::uint32_t shape = RuleSet::shape(arena_, argument);
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (shapes[i] != shape && shapes[i] != RuleSet::any_shape) continue;
        const Rule& rule = rules[i];
        Bindings bindings{};
        if (may_use(rule) && match(patterns, patterns[rule.pattern].argument, argument, bindings) &&
            keeps_domain(rule, bindings) && conditions_hold(rule, bindings))
            return replacement(rule, bindings);
    }
    return std::nullopt;
}

bool Canonicalizer::apply_sum_rules(Scratch<Entry>& list) {
    if (options_.rules == nullptr) return false;
    const Arena& patterns = options_.rules->arena();
    return options_.rules->sums().any(features(arena_, Kind::sum, list), [&](const Rule& rule) {
        const std::span<const Entry> pattern = patterns.entries(rule.pattern);
        if (!may_use(rule) || pattern.size() > list.size()) return false;
        for (const Entry& first : list) {
            if (first.is_free() || first.ratio.is_zero()) continue;
            const TermNode& wanted = patterns[pattern[0].term];
            if (wanted.kind != arena_[first.term].kind || wanted.n_entries != arena_[first.term].n_entries) continue;
            Bindings bindings{};
            if (!match(patterns, pattern[0].term, first.term, bindings)) continue;
            const Rational multiple = first.ratio / pattern[0].ratio;
            Scratch<char> used(list.size(), 0);
            bindings = {};
            if (!match_entries(patterns, pattern, 0, list, used, multiple, bindings) || !keeps_domain(rule, bindings) ||
                !conditions_hold(rule, bindings))
                continue;
            Scratch<Entry> shorter;
            for (std::size_t i = 0; i < list.size(); ++i)
                if (!used[i]) shorter.push_back(list[i]);
            add(shorter, replacement(rule, bindings), multiple);
            merge_terms(shorter);
            if (arena_[make_sum(shorter)].cost.plain >= arena_[make_sum(list)].cost.plain) continue;
            list = std::move(shorter);
            return true;
        }
        return false;
    });
}

bool Canonicalizer::apply_product_rules(Parts& parts) {
    if (options_.rules == nullptr) return false;
    const bool is_alone = parts.factors.size() == 1;
    const bool is_reciprocal = is_alone && !parts.factors[0].is_free() && parts.factors[0].ratio.sign() < 0;
    const Arena& patterns = options_.rules->arena();
    return options_.rules->products().any(features(arena_, Kind::product, parts.factors), [&](const Rule& rule) {
        const std::span<const Entry> pattern = rule.entries;
        if (!may_use(rule) || pattern.size() > parts.factors.size()) return false;
        // a reciprocal alone is shorter as a function; below a numerator it is not
        if (pattern.size() == 1 && !is_root_of_sum(patterns, pattern[0]) && !is_reciprocal) return false;
        for (const Entry& first : parts.factors) {
            const TermNode& base = arena_[first.term];
            const TermNode& wanted = patterns[pattern[0].term];
            if (first.is_free() || pattern[0].is_free() || base.kind != wanted.kind || base.op != wanted.op) continue;
            if (!tops_agree(patterns, pattern[0].term, first.term)) continue;
            // the power of the whole pattern that the first factor asks for
            const Rational multiple = first.ratio / pattern[0].ratio;
            const Rational power(multiple.small());
            if (power.is_zero() || !keeps_degrees(pattern, multiple.small())) continue;
            Bindings bindings{};
            Scratch<char> used(parts.factors.size(), 0);
            if (!match_entries(patterns, pattern, 0, parts.factors, used, power, bindings) ||
                !keeps_domain(rule, bindings) || !conditions_hold(rule, bindings))
                continue;
            Parts shorter;
            shorter.coefficient = parts.coefficient;
            shorter.constant = parts.constant;
            for (std::size_t i = 0; i < parts.factors.size(); ++i)
                if (!used[i]) shorter.factors.push_back(parts.factors[i]);
            multiply(shorter, replacement(rule, bindings), power);
            const TermId before = with_coefficient(parts, make_product(parts.factors));
            merge_all_factors(shorter);
            const TermId after = with_coefficient(shorter, make_product(shorter.factors));
            if (arena_[after].cost.plain >= arena_[before].cost.plain) continue;
            parts = std::move(shorter);
            return true;
        }
        return false;
    });
}

}  // namespace simplipy
