// An expression as one flat array of nodes in postfix order: children before parents, every node knows the length of
// its subtree, no pointers. The right operand of node i ends at i - 1, the left one right before the right one.
// A Tree owns its variable names; names are unique, all used and in natural order, so equal trees have equal fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/cached.hpp"
#include "core/base/number.hpp"
#include "ops.hpp"

namespace simplipy {

struct Node {
    Op op = Op::nan;
    std::int16_t exponent = 0;  // of a number
    std::uint32_t length = 1;   // nodes in this subtree
    std::int64_t payload = 0;   // mantissa of a number; of a variable k for x_k, -1 - i for names[i]

    friend bool operator==(const Node&, const Node&) = default;

    static Node of(Op op) { return {op, 0, 1, 0}; }
    static Node number(Decimal value) { return {Op::number, value.exponent, 1, value.mantissa}; }
    static Node variable(std::int64_t code) { return {Op::variable, 0, 1, code}; }
    Decimal decimal() const { return {payload, exponent}; }
};

struct Program;

class Tree {
  public:
    Tree();
    Tree(const Tree&);
    Tree(Tree&&) noexcept;
    Tree& operator=(const Tree&);
    Tree& operator=(Tree&&) noexcept;
    ~Tree();

    // Takes nodes in postfix order, lengths not yet set, and the names in any order, used or not.
    Tree(std::vector<Node> postfix, std::vector<std::string> names);

    const std::vector<Node>& nodes() const { return nodes_; }
    const std::vector<std::string>& names() const { return names_; }
    std::size_t size() const { return nodes_.size(); }
    const Node& root() const { return nodes_.back(); }

    std::uint64_t hash() const;
    friend bool operator==(const Tree&, const Tree&) = default;

  private:
    friend const Program& compiled(const Tree& tree);
    std::vector<Node> nodes_;
    std::vector<std::string> names_;
    Cached<Program> program_;
};

// Index of the left operand (the only one of a unary operator is its right one, at i - 1).
inline std::size_t left_of(const std::vector<Node>& nodes, std::size_t i) { return i - 1 - nodes[i - 1].length; }

// Order of variable codes: x_k by number, then names.
inline bool code_less(std::int64_t a, std::int64_t b) {
    // names are stored in natural order, so -1, -2, ... counts upwards through them
    if ((a > 0) != (b > 0)) return a > 0;
    return a > 0 ? a < b : a > b;
}

// Variable codes that occur, in the order of `Expression.variables`: x_k by number, then names in natural order.
std::vector<std::int64_t> variable_codes(const Tree& tree);

std::string variable_name(const Tree& tree, std::int64_t code);

std::size_t depth(const Tree& tree);
std::size_t count(const Tree& tree, Op op);

// The subtree that ends at node i.
Tree subtree(const Tree& tree, std::size_t i);

// Indices of all nodes in prefix order.
std::vector<std::size_t> prefix_order(const Tree& tree);

// Numbers, pi and e become free constants.
Tree skeleton(const Tree& tree);

// Free constants become numbers, filled in prefix order.
Tree with_constants(const Tree& tree, const std::vector<double>& values);

// Variables get new names; `names[i]` replaces the i-th of variable_codes(tree).
Tree rename(const Tree& tree, const std::vector<std::string>& names);

}  // namespace simplipy
