#include "store.hpp"

#include <algorithm>

#include "analysis.hpp"

namespace simplipy::canonical {
namespace {

TermNode node_of(Kind kind) {
    TermNode node;
    node.kind = kind;
    return node;
}

TermNode function_node(Op op, TermId argument) {
    TermNode node = node_of(Kind::function);
    node.op = op;
    node.argument = argument;
    return node;
}

}  // namespace

TermStore::TermStore(Arena& arena, const CanonicalOptions& options)
    : arena_(arena), speller_(arena, options.extend), ranges_(options.ranges) {
    ScratchBuffer::of_thread().reset();
    if (options.keep_arena) return;
    arena_.reset();
    if (arena_.size() > zero_term) return;
    number(1);  // one_term
    number(0);  // zero_term
    arena_.keep_first(zero_term + 1);
}

TermId TermStore::intern(const TermNode& content, std::span<const Entry> entries) {
    const auto [id, is_new] = arena_.intern(content, entries);
    if (!is_new) return id;
    try {
        TermNode& node = arena_.edit(id);
        analyse(arena_, node, ranges_);
        speller_.set_cost(node, arena_.entries(id));
    } catch (const Overflow&) {  // of its cost: whoever refuses this term may go on with others
        arena_.forget_last();
        throw;
    }
    return id;
}

TermId TermStore::number(const Rational& value) {
    TermNode node = node_of(Kind::number);
    node.value = value;
    return intern(node, {});
}

TermId TermStore::opaque(const Node& literal) {
    TermNode node = node_of(Kind::opaque);
    node.payload = literal.payload;
    node.exponent = literal.exponent;
    return intern(node, {});
}

TermId TermStore::symbol(Op op) {
    TermNode node = node_of(Kind::symbol);
    node.op = op;
    return intern(node, {});
}

TermId TermStore::variable(std::int64_t code) {
    TermId* known = arena_.variable(code);
    if (known != nullptr && *known != no_term) return *known;
    TermNode node = node_of(Kind::variable);
    node.payload = code;
    const TermId id = intern(node, {});
    if (known != nullptr) *known = id;
    return id;
}

TermId TermStore::constant(std::int64_t number) {
    TermNode node = node_of(Kind::constant);
    node.payload = number;
    return intern(node, {});
}

TermId TermStore::function(Op op, TermId argument) { return intern(function_node(op, argument), {}); }

TermId TermStore::sum(const Scratch<Entry>& sorted) {
    if (sorted.empty()) return zero_term;
    if (sorted.size() == 1) {
        const Entry& entry = sorted[0];
        if (entry.term == one_term) return entry.is_free() ? entry.other : number(entry.ratio);
        if (!entry.is_free() && entry.ratio.is_one()) return entry.term;
    }
    const auto has_constant = [this](const Entry& e) { return arena_[e.term].has_constant; };
    const TermNode node = node_of(Kind::sum);
    if (std::none_of(sorted.begin(), sorted.end(), has_constant)) return intern(node, sorted);
    Scratch<Entry> settled = sorted;
    arena_.settle_ties(settled);
    return intern(node, settled);
}

TermId TermStore::product(const Scratch<Entry>& factors) {
    if (factors.empty()) return one_term;
    if (factors.size() == 1 && !factors[0].is_free() && factors[0].ratio.is_one()) return factors[0].term;
    const TermNode node = node_of(Kind::product);
    if (factors.size() == 1) return intern(node, factors);
    Scratch<Entry> sorted = factors;
    arena_.sort(sorted);
    arena_.settle_ties(sorted);
    return intern(node, sorted);
}

TermId TermStore::extremum(Op op, const Scratch<Entry>& sorted) {
    TermNode node = node_of(Kind::extremum);
    node.op = op;
    return intern(node, sorted);
}

TermId TermStore::find_function(Op op, TermId argument) const { return arena_.find(function_node(op, argument), {}); }

TermId TermStore::find_sum(std::span<const Entry> sorted) const { return arena_.find(node_of(Kind::sum), sorted); }

TermId TermStore::find_product(std::span<const Entry> sorted) const {
    return arena_.find(node_of(Kind::product), sorted);
}

}  // namespace simplipy::canonical
