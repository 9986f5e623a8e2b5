#include "tree.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/base/errors.hpp"
#include "core/evaluate/program.hpp"
#include "names.hpp"

namespace simplipy {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
    hash *= 0xff51afd7ed558ccdULL;
    return hash ^ (hash >> 32);
}

void set_lengths(std::vector<Node>& nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        std::uint32_t length = 1;
        for (int operand = 0; operand < arity(nodes[i].op); ++operand) length += nodes[i - length].length;
        nodes[i].length = length;
    }
}

// Keeps the names that occur, unique and in natural order, and points the nodes at their new places.
std::vector<std::string> settle_names(std::vector<Node>& nodes, std::vector<std::string> names) {
    if (names.empty()) return names;
    std::vector<char> used(names.size(), 0);
    for (const Node& node : nodes)
        if (node.op == Op::variable && node.payload < 0) used[static_cast<std::size_t>(-1 - node.payload)] = 1;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (used[i]) order.push_back(i);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return natural_less(names[a], names[b]); });
    std::vector<std::string> kept;
    std::vector<std::int64_t> place(names.size(), 0);
    for (const std::size_t i : order) {
        if (kept.empty() || kept.back() != names[i]) kept.push_back(names[i]);
        place[i] = static_cast<std::int64_t>(kept.size()) - 1;
    }
    for (Node& node : nodes)
        if (node.op == Op::variable && node.payload < 0)
            node.payload = -1 - place[static_cast<std::size_t>(-1 - node.payload)];
    return kept;
}

}  // namespace

// A tree owns its program, so its special members stand where Program is complete.
Tree::Tree() = default;
Tree::Tree(const Tree&) = default;
Tree::Tree(Tree&&) noexcept = default;
Tree& Tree::operator=(const Tree&) = default;
Tree& Tree::operator=(Tree&&) noexcept = default;
Tree::~Tree() = default;

Tree::Tree(std::vector<Node> postfix, std::vector<std::string> names) : nodes_(std::move(postfix)) {
    set_lengths(nodes_);
    names_ = settle_names(nodes_, std::move(names));
}

std::uint64_t Tree::hash() const {
    std::uint64_t hash = nodes_.size();
    for (const Node& node : nodes_) {
        hash = mix(hash, index(node.op) | static_cast<std::uint64_t>(static_cast<std::uint16_t>(node.exponent)) << 16);
        hash = mix(hash, static_cast<std::uint64_t>(node.payload));
    }
    for (const std::string& name : names_)
        for (const char c : name) hash = mix(hash, static_cast<unsigned char>(c));
    return hash;
}

std::vector<std::int64_t> variable_codes(const Tree& tree) {
    std::vector<std::int64_t> codes;
    codes.reserve(16);
    std::int64_t last = 0;
    for (const Node& node : tree.nodes()) {
        if (node.op != Op::variable || node.payload == last) continue;
        last = node.payload;
        codes.push_back(last);
    }
    std::sort(codes.begin(), codes.end(), code_less);
    codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
    return codes;
}

std::string variable_name(const Tree& tree, std::int64_t code) {
    return code > 0 ? "x" + std::to_string(code) : tree.names()[static_cast<std::size_t>(-1 - code)];
}

std::size_t depth(const Tree& tree) {
    std::vector<std::size_t> depths(tree.size());
    for (std::size_t i = 0; i < tree.size(); ++i) {
        std::size_t below = 0;
        if (arity(tree.nodes()[i].op) > 0) below = depths[i - 1];
        if (arity(tree.nodes()[i].op) > 1) below = std::max(below, depths[left_of(tree.nodes(), i)]);
        depths[i] = below + 1;
    }
    return depths.back();
}

std::size_t count(const Tree& tree, Op op) {
    return static_cast<std::size_t>(
        std::count_if(tree.nodes().begin(), tree.nodes().end(), [op](const Node& node) { return node.op == op; }));
}

Tree subtree(const Tree& tree, std::size_t i) {
    const auto end = tree.nodes().begin() + static_cast<std::ptrdiff_t>(i) + 1;
    return Tree(std::vector<Node>(end - tree.nodes()[i].length, end), tree.names());
}

std::vector<std::size_t> prefix_order(const Tree& tree) {
    const std::vector<Node>& nodes = tree.nodes();
    const std::size_t n = nodes.size();
    std::vector<std::size_t> order(2 * n);
    std::size_t* place = order.data() + n;  // of each node, known from its parent, which stands to its right
    place[n - 1] = 0;
    for (std::size_t i = n; i-- > 0;) {
        order[place[i]] = i;
        const int n_operands = arity(nodes[i].op);
        if (n_operands == 0) continue;
        place[i - 1] = place[i] + 1;
        if (n_operands == 1) continue;
        const std::size_t left = left_of(nodes, i);
        place[left] = place[i] + 1;
        place[i - 1] += nodes[left].length;
    }
    order.resize(n);
    return order;
}

Tree skeleton(const Tree& tree) {
    std::vector<Node> nodes = tree.nodes();
    for (Node& node : nodes)
        if (node.op == Op::number || node.op == Op::pi || node.op == Op::e) node = Node::of(Op::constant);
    return Tree(std::move(nodes), tree.names());
}

Tree with_constants(const Tree& tree, const std::vector<double>& values) {
    std::vector<Node> nodes = tree.nodes();
    std::size_t next = 0;
    for (Node& node : nodes) {  // leaves stand in the same order in postfix as in prefix
        if (node.op != Op::constant) continue;
        if (next < values.size()) {
            if (!std::isfinite(values[next]))
                throw EvaluationError("constant " + std::to_string(next + 1) + " is " + std::to_string(values[next]) +
                                      "; constants must be finite");
            node = Node::number(to_decimal(values[next]));
        }
        ++next;
    }
    if (next != values.size())
        throw EvaluationError("the expression has " + std::to_string(next) + " free constants, got " +
                              std::to_string(values.size()) + " values");
    return Tree(std::move(nodes), tree.names());
}

Tree rename(const Tree& tree, const std::vector<std::string>& names) {
    const std::vector<std::int64_t> codes = variable_codes(tree);
    std::unordered_map<std::int64_t, std::int64_t> renamed;
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < codes.size(); ++i) {
        std::int64_t code = column_number(names[i]);
        if (code == 0) {
            kept.push_back(names[i]);
            code = -static_cast<std::int64_t>(kept.size());
        }
        renamed[codes[i]] = code;
    }
    std::vector<Node> nodes = tree.nodes();
    for (Node& node : nodes)
        if (node.op == Op::variable) node.payload = renamed[node.payload];
    return Tree(std::move(nodes), std::move(kept));
}

}  // namespace simplipy
