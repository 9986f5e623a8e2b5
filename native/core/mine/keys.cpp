#include "keys.hpp"

#include <algorithm>

namespace simplipy {
namespace {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    std::uint64_t z = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Content of a postfix; operands that may be swapped in any order.
std::uint64_t content(const std::vector<Node>& nodes) {
    std::vector<std::uint64_t> stack;
    for (const Node& node : nodes) {
        std::uint64_t hash = mix(index(node.op), static_cast<std::uint64_t>(node.payload));
        if (arity(node.op) == 1) {
            hash = mix(hash, stack.back());
            stack.pop_back();
        } else if (arity(node.op) == 2) {
            const std::uint64_t right = stack.back();
            stack.pop_back();
            const std::uint64_t left = stack.back();
            stack.pop_back();
            hash = is_commutative(node.op) ? mix(hash, left + right) : mix(mix(hash, left), right);
        }
        stack.push_back(hash);
    }
    return stack.back();
}

}  // namespace

std::uint64_t renamed_content(std::vector<Node> nodes, const std::vector<std::size_t>& prefix) {
    std::vector<std::int64_t> seen;
    for (const std::size_t i : prefix) {
        if (nodes[i].op != Op::variable) continue;
        auto place = std::find(seen.begin(), seen.end(), nodes[i].payload);
        if (place == seen.end()) place = seen.insert(seen.end(), nodes[i].payload);
        nodes[i].payload = place - seen.begin() + 1;
    }
    return content(nodes);
}

bool KeySet::insert(std::uint64_t key) {
    if (2 * n_ >= slots_.size()) {
        std::vector<std::uint64_t> old(4 * slots_.size());
        old.swap(slots_);
        n_ = 0;
        for (const std::uint64_t known : old)
            if (known != 0) insert(known);
    }
    key += key == 0;
    std::size_t place = key & (slots_.size() - 1);
    for (; slots_[place] != 0; place = (place + 1) & (slots_.size() - 1))
        if (slots_[place] == key) return false;
    slots_[place] = key;
    ++n_;
    return true;
}

}  // namespace simplipy
