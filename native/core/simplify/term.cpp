#include "term.hpp"

#include <algorithm>

namespace simplipy {
namespace {

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
    return hash ^ (hash >> 29);
}

// Words of one hash step are sums with different odd multipliers, so that no small change of one part undoes another's.
constexpr std::uint64_t spread = 0xd6e8feb86659fd93ULL;

std::uint64_t word(const Rational& value) {
    return static_cast<std::uint64_t>(value.p) * 0xa0761d6478bd642fULL +
           static_cast<std::uint64_t>(value.q) * 0xe7037ed1a0b428dbULL;
}

std::uint64_t parts_of(const Entry& entry) { return entry.term | std::uint64_t{entry.other} << 32; }

std::uint64_t head_of(const TermNode& node) {
    return static_cast<std::uint64_t>(node.kind) + (static_cast<std::uint64_t>(node.op) << 8) +
           ((static_cast<std::uint64_t>(node.exponent) & 0xffffU) << 16) + word(node.value);
}

std::uint64_t hash_of(const TermNode& node, std::span<const Entry> entries) {
    std::uint64_t hash = mix(head_of(node), node.argument + static_cast<std::uint64_t>(node.payload) * spread);
    for (const Entry& entry : entries) hash = mix(hash, parts_of(entry) + word(entry.ratio));
    return hash;
}

constexpr std::size_t initial_table = 512;

}  // namespace

Arena::Arena() : table_(initial_table, 0) {
    entries_.reserve(256);
    hashes_.reserve(256);
    reset();
}

void Arena::reset() {
    thread_local std::uint64_t n_resets = 0;  // an arena stays on its thread while it is in use
    generation_ = ++n_resets;
    constexpr std::size_t kept_chunks = 64;  // one huge input must not keep its memory
    if (table_.size() > initial_table) {
        table_.assign(initial_table, 0);
    } else {
        std::fill(table_.begin(), table_.end(), 0U);
    }
    if (chunks_.size() > kept_chunks) {
        chunks_.resize(kept_chunks);
        entries_ = {};
        hashes_.resize(n_kept_);
        hashes_.shrink_to_fit();
    }
    variables_.fill(no_term);
    entries_.clear();
    if (n_kept_ == 0) {
        n_nodes_ = 0;
        hashes_.clear();
        append(TermNode{});
        hashes_.push_back(0);
        return;
    }
    n_nodes_ = n_kept_;
    hashes_.resize(n_kept_);
    for (TermId id = 1; id < n_kept_; ++id) table_[free_slot(hashes_[id])] = id;
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

// Where the content stands in the table, or the free slot for it.
std::size_t Arena::slot_of(std::uint64_t hash, const TermNode& node, std::span<const Entry> entries) const {
    const std::size_t mask = table_.size() - 1;
    std::size_t slot = hash & mask;
    while (table_[slot] != 0 && !(hashes_[table_[slot]] == hash && same(node, entries, table_[slot])))
        slot = (slot + 1) & mask;
    return slot;
}

TermId Arena::find(const TermNode& node, std::span<const Entry> entries) const {
    return table_[slot_of(hash_of(node, entries), node, entries)];
}

std::pair<TermId, bool> Arena::intern(const TermNode& node, std::span<const Entry> entries) {
    const std::uint64_t hash = hash_of(node, entries);
    const std::size_t slot = slot_of(hash, node, entries);
    if (table_[slot] != 0) return {table_[slot], false};
    const std::uint64_t payload = node.kind == Kind::constant ? 0 : static_cast<std::uint64_t>(node.payload);
    std::uint64_t order = mix(head_of(node), (*this)[node.argument].order + payload * spread);
    for (const Entry& entry : entries)
        order = mix(order, (*this)[entry.term].order + (*this)[entry.other].order * spread + word(entry.ratio));
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

void Arena::forget_last() {
    const auto id = static_cast<TermId>(n_nodes_ - 1);
    std::size_t slot = hashes_.back() & (table_.size() - 1);
    while (table_[slot] != id) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = 0;  // no other term was put behind it
    hashes_.pop_back();
    entries_.resize((*this)[id].first);
    --n_nodes_;
}

std::size_t Arena::free_slot(std::uint64_t hash) const {
    const std::size_t mask = table_.size() - 1;
    std::size_t slot = hash & mask;
    while (table_[slot] != 0) slot = (slot + 1) & mask;
    return slot;
}

void Arena::grow() {
    table_.assign(table_.size() * 2, 0);
    for (TermId id = 1; id < n_nodes_; ++id) table_[free_slot(hashes_[id])] = id;
}

void Arena::sort(std::span<Entry> entries) const {
    const auto before = [this](const Entry& a, const Entry& b) { return less(a.term, b.term); };
    if (!std::is_sorted(entries.begin(), entries.end(), before)) std::sort(entries.begin(), entries.end(), before);
}

void Arena::settle_ties(std::span<Entry> sorted) const {
    const auto alike = [this](const Entry& a, const Entry& b) {
        return (*this)[a.term].kind == (*this)[b.term].kind && (*this)[a.term].order == (*this)[b.term].order;
    };
    const auto by_ratio = [this](const Entry& a, const Entry& b) {
        if (a.is_free() != b.is_free()) return a.is_free();
        if (a.is_free() && (*this)[a.other].order != (*this)[b.other].order)
            return (*this)[a.other].order < (*this)[b.other].order;
        return a.ratio.q != b.ratio.q ? a.ratio.q < b.ratio.q : a.ratio.p < b.ratio.p;
    };
    for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
        if (!alike(sorted[i], sorted[i + 1])) continue;
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
    if (x.kind == Kind::variable && y.kind == Kind::variable) return code_less(x.payload, y.payload);
    constexpr int levels = 8;  // what differs only further down stands in the order of its hash
    const int order = compare(x, y, levels);
    return order != 0 ? order < 0 : a < b;  // they differ in their free constants only
}

int Arena::compare(const TermNode& x, const TermNode& y, int levels) const {
    const auto three_way = [](auto a, auto b) { return a < b ? -1 : (b < a ? 1 : 0); };
    if (x.kind != y.kind) return three_way(x.kind, y.kind);
    if (x.order == y.order) return 0;
    if (x.kind == Kind::variable) return code_less(x.payload, y.payload) ? -1 : 1;
    if (x.cost.plain != y.cost.plain) return three_way(x.cost.plain, y.cost.plain);
    if (x.op != y.op) return three_way(x.op, y.op);
    int order = 0;
    if (levels > 0 && x.kind == Kind::function) order = compare((*this)[x.argument], (*this)[y.argument], levels - 1);
    for (std::uint32_t i = 0; levels > 0 && order == 0 && i < std::min(x.n_entries, y.n_entries); ++i) {
        const Entry& a = entries_[x.first + i];
        const Entry& b = entries_[y.first + i];
        order = compare((*this)[a.term], (*this)[b.term], levels - 1);
        if (order == 0) order = compare((*this)[a.other], (*this)[b.other], levels - 1);
        if (order == 0) order = three_way(a.ratio.q, b.ratio.q);
        if (order == 0) order = three_way(a.ratio.p, b.ratio.p);
    }
    return order != 0 ? order : three_way(x.order, y.order);
}

}  // namespace simplipy
