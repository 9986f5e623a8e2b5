// Rules at work: matching patterns against canonical terms, modulo order of operands, and building replacements.

#include <algorithm>

#include "canonical.hpp"
#include "rules.hpp"

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

bool Canonicalizer::match_entry(const Arena& patterns, const Entry& pattern, const Entry& entry,
                                const Rational& multiple, Bindings& bindings) {
    if (pattern.is_free() != entry.is_free()) return false;
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

// With preserve, a term that disappears must be defined everywhere.
bool Canonicalizer::keeps_domain(const Rule& rule, const Bindings& bindings) const {
    if (options_.extend) return true;
    for (std::size_t k = 0; k < bindings.size(); ++k)
        if ((rule.dropped >> k & 1U) != 0 && bindings[k] != no_term && arena_[bindings[k]].partial) return false;
    return true;
}

bool Canonicalizer::conditions_hold(const Rule& rule, const Bindings& bindings) const {
    return std::all_of(rule.conditions.begin(), rule.conditions.end(), [&](const Condition& condition) {
        return condition.holds(arena_[bindings[condition.variable]]);
    });
}

TermId Canonicalizer::replacement(const Rule& rule, const Bindings& bindings) {
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
    for (const Rule& rule : options_.rules->functions(op)) {
        Bindings bindings{};
        if (may_use(rule) && match(patterns, patterns[rule.pattern].argument, argument, bindings) &&
            keeps_domain(rule, bindings) && conditions_hold(rule, bindings))
            return replacement(rule, bindings);
    }
    return std::nullopt;
}

bool Canonicalizer::apply_sum_rules(Scratch<Entry>& list) {
    if (options_.rules == nullptr) return false;
    const std::uint64_t found = features(arena_, Kind::sum, list);
    const Arena& patterns = options_.rules->arena();
    for (const Rule& rule : options_.rules->sums()) {
        if ((rule.features & ~found) != 0) continue;
        const std::span<const Entry> pattern = patterns.entries(rule.pattern);
        if (!may_use(rule) || pattern.size() > list.size()) continue;
        for (const Entry& first : list) {
            if (first.is_free() || first.ratio.is_zero()) continue;
            if (patterns[pattern[0].term].kind != arena_[first.term].kind) continue;
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
    }
    return false;
}

bool Canonicalizer::apply_product_rules(Parts& parts) {
    if (options_.rules == nullptr) return false;
    const std::uint64_t found = features(arena_, Kind::product, parts.factors);
    const bool is_reciprocal = parts.factors.size() == 1;
    if (is_reciprocal && (parts.factors[0].is_free() || parts.factors[0].ratio.sign() > 0)) return false;
    const Arena& patterns = options_.rules->arena();
    for (const Rule& rule : options_.rules->products()) {
        if ((rule.features & ~found) != 0) continue;
        const std::span<const Entry> pattern = patterns.entries(rule.pattern);
        // a reciprocal alone is shorter as a function; below a numerator it is not
        if (!may_use(rule) || pattern.size() > parts.factors.size() || is_reciprocal != (pattern.size() == 1)) continue;
        for (const Entry& first : parts.factors) {
            if (first.is_free() || !first.ratio.is_integer()) continue;
            // as high a power of the whole pattern as the first factor and its partner share
            for (const std::int64_t power : {first.ratio.small() / pattern[0].ratio.small()}) {
                if (power == 0) continue;
                Bindings bindings{};
                Scratch<char> used(parts.factors.size(), 0);
                if (!match_entries(patterns, pattern, 0, parts.factors, used, Rational(power), bindings) ||
                    !keeps_domain(rule, bindings) || !conditions_hold(rule, bindings))
                    continue;
                Parts shorter;
                shorter.coefficient = parts.coefficient;
                shorter.constant = parts.constant;
                for (std::size_t i = 0; i < parts.factors.size(); ++i)
                    if (!used[i]) shorter.factors.push_back(parts.factors[i]);
                multiply(shorter, replacement(rule, bindings), Rational(power));
                const TermId before = with_coefficient(parts, make_product(parts.factors));
                Parts copy = shorter;
                while (merge_factors(copy)) continue;
                const TermId after = with_coefficient(copy, make_product(copy.factors));
                if (arena_[after].cost.plain >= arena_[before].cost.plain) continue;
                parts = std::move(copy);
                return true;
            }
        }
    }
    return false;
}

}  // namespace simplipy
