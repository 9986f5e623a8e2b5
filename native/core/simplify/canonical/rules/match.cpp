#include "match.hpp"

#include "core/simplify/canonical/sum/sum.hpp"

namespace simplipy::canonical {

Scratch<Entry> EntryMatch::left_over() const {
    Scratch<Entry> result;
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (!used[i]) result.push_back(entries[i]);
    return result;
}

// Binds the metavariable to ratio^-1 * term, or checks that it is bound so.
bool Matcher::bind(std::int64_t variable, TermId term, const Rational& ratio) {
    TermId& bound = bindings_[static_cast<std::size_t>(variable - 1)];
    if (bound == no_term) {
        bound = ratio.is_one() ? term : scaled(c_, term, reciprocal(ratio));
        return true;
    }
    return (ratio.is_one() ? bound : scaled(c_, bound, ratio)) == term;
}

bool Matcher::match(TermId pattern, TermId term) {
    const TermNode& p = patterns_[pattern];
    const TermNode& t = c_.terms[term];
    if (p.kind == Kind::variable) return bind(p.payload, term, Rational(1));
    if (p.is_multiple()) {
        const Entry entry = patterns_.entries(pattern)[0];
        if (patterns_[entry.term].kind == Kind::variable) return bind(patterns_[entry.term].payload, term, entry.ratio);
    }
    if (p.kind != t.kind) return false;
    switch (p.kind) {
        case Kind::number:
            return p.value == t.value;
        case Kind::symbol:
            return p.op == t.op;
        case Kind::function:
            return p.op == t.op && match(p.argument, t.argument);
        case Kind::sum:
        case Kind::product:
        case Kind::extremum: {
            if (p.op != t.op || p.n_entries != t.n_entries) return false;
            const Scratch<Entry> entries = c_.terms.copied_entries(term);
            EntryMatch all{entries, Rational(1)};
            return match_entries(patterns_.entries(pattern), all);
        }
        default:
            return false;
    }
}

bool Matcher::tops_agree(TermId pattern, TermId term) const {
    const TermNode* p = &patterns_[pattern];
    const TermNode* t = &c_.terms[term];
    while (p->kind == Kind::function) {
        if (t->kind != Kind::function || t->op != p->op) return false;
        p = &patterns_[p->argument];
        t = &c_.terms[t->argument];
    }
    return true;
}

bool Matcher::match_entry(const Entry& pattern, const Entry& entry, const Rational& multiple) {
    if (pattern.is_free() != entry.is_free() || !tops_agree(pattern.term, entry.term)) return false;
    if (!pattern.is_free() && !(pattern.ratio * multiple == entry.ratio)) return false;
    if (!match(pattern.term, entry.term)) return false;
    return !pattern.is_free() || match(pattern.other, entry.other);
}

bool Matcher::match_entries(std::span<const Entry> pattern, EntryMatch& found) {
    if (pattern.empty()) return true;
    for (std::size_t i = 0; i < found.entries.size(); ++i) {
        if (found.used[i]) continue;
        const Bindings before = bindings_;
        if (match_entry(pattern[0], found.entries[i], found.multiple)) {
            found.used[i] = 1;
            if (match_entries(pattern.subspan(1), found)) return true;
            found.used[i] = 0;
        }
        bindings_ = before;
    }
    return false;
}

}  // namespace simplipy::canonical
