#include "term.hpp"

#include <algorithm>

namespace simplipy {
namespace {

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
    return hash ^ (hash >> 29);
}

std::uint64_t mix(std::uint64_t hash, const Rational& value) {
    return mix(mix(hash, static_cast<std::uint64_t>(value.p)), static_cast<std::uint64_t>(value.q) + 7);
}

constexpr std::size_t initial_table = 512;

}  // namespace

Arena::Arena() : table_(initial_table, 0) {
    entries_.reserve(256);
    hashes_.reserve(256);
    reset();
}

void Arena::reset() {
    constexpr std::size_t kept_chunks = 64;  // one huge input must not keep its memory
    if (table_.size() > initial_table) {
        table_.assign(initial_table, 0);
    } else {
        std::fill(table_.begin(), table_.end(), 0U);
    }
    if (chunks_.size() > kept_chunks) {
        chunks_.resize(kept_chunks);
        entries_ = {};
        hashes_ = {};
    }
    n_nodes_ = 0;
    hashes_.clear();
    entries_.clear();
    append(TermNode{});
    hashes_.push_back(0);
}

TermId Arena::append(const TermNode& node) {
    if (n_nodes_ % chunk_size == 0 && n_nodes_ / chunk_size == chunks_.size())
        chunks_.push_back(std::make_unique<TermNode[]>(chunk_size));
    const auto id = static_cast<TermId>(n_nodes_++);
    edit(id) = node;
    return id;
}

bool Arena::same(const TermNode& a, std::span<const Entry> a_entries, TermId b) const {
    const TermNode& node = (*this)[b];
    if (a.kind != node.kind || a.op != node.op || a.argument != node.argument || a.payload != node.payload ||
        a.exponent != node.exponent || !(a.value == node.value) || a_entries.size() != node.n_entries)
        return false;
    return std::equal(a_entries.begin(), a_entries.end(), entries_.begin() + node.first);
}

std::pair<TermId, bool> Arena::intern(const TermNode& node, std::span<const Entry> entries) {
    std::uint64_t hash = mix(static_cast<std::uint64_t>(node.kind), static_cast<std::uint64_t>(node.op));
    std::uint64_t order = hash;
    hash = mix(mix(mix(hash, node.argument), static_cast<std::uint64_t>(node.payload)), node.value);
    const std::uint64_t visible = node.kind == Kind::constant ? 0 : static_cast<std::uint64_t>(node.payload);
    order = mix(mix(mix(order, (*this)[node.argument].order), visible), node.value);
    order = mix(order, static_cast<std::uint64_t>(node.exponent) & 0xffffU);
    for (const Entry& entry : entries) {
        hash = mix(mix(mix(hash, entry.term), entry.other), entry.ratio);
        order = mix(mix(mix(order, (*this)[entry.term].order), (*this)[entry.other].order), entry.ratio);
    }
    const std::size_t mask = table_.size() - 1;
    std::size_t slot = hash & mask;
    for (; table_[slot] != 0; slot = (slot + 1) & mask)
        if (hashes_[table_[slot]] == hash && same(node, entries, table_[slot])) return {table_[slot], false};
    const TermId id = append(node);
    TermNode& stored = edit(id);
    stored.first = static_cast<std::uint32_t>(entries_.size());
    stored.n_entries = static_cast<std::uint32_t>(entries.size());
    stored.order = order;
    entries_.insert(entries_.end(), entries.begin(), entries.end());
    hashes_.push_back(hash);
    table_[slot] = id;
    if (n_nodes_ * 2 > table_.size()) grow();
    return {id, true};
}

void Arena::grow() {
    table_.assign(table_.size() * 2, 0);
    const std::size_t mask = table_.size() - 1;
    for (TermId id = 1; id < n_nodes_; ++id) {
        std::size_t slot = hashes_[id] & mask;
        while (table_[slot] != 0) slot = (slot + 1) & mask;
        table_[slot] = id;
    }
}

void Arena::settle_ties(std::span<Entry> sorted) const {
    const auto alike = [this](const Entry& a, const Entry& b) {
        return (*this)[a.term].kind == (*this)[b.term].kind && (*this)[a.term].order == (*this)[b.term].order;
    };
    const auto by_ratio = [this](const Entry& a, const Entry& b) {
        if (a.is_free() != b.is_free()) return a.is_free();
        if (a.is_free()) return (*this)[a.other].order < (*this)[b.other].order;
        return a.ratio.q != b.ratio.q ? a.ratio.q < b.ratio.q : a.ratio.p < b.ratio.p;
    };
    for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
        if (!(*this)[sorted[i].term].has_constant || !alike(sorted[i], sorted[i + 1])) continue;
        std::size_t end = i + 2;
        while (end < sorted.size() && alike(sorted[i], sorted[end])) ++end;
        std::stable_sort(sorted.begin() + static_cast<std::ptrdiff_t>(i),
                         sorted.begin() + static_cast<std::ptrdiff_t>(end), by_ratio);
        i = end - 1;
    }
}

bool Arena::less(TermId a, TermId b) const {
    const TermNode& x = (*this)[a];
    const TermNode& y = (*this)[b];
    if (x.kind != y.kind) return x.kind < y.kind;
    if (x.kind == Kind::variable) return code_less(x.payload, y.payload);
    if (x.cost.plain != y.cost.plain) return x.cost.plain < y.cost.plain;
    if (x.order != y.order) return x.order < y.order;
    return a < b;  // they differ in their free constants only
}

}  // namespace simplipy
