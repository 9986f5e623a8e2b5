// Keys of spellings, and sets of them: which terms stand for each other by another name or order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/expression/tree.hpp"

namespace simplipy {

// A hash of a postfix with operands of + and * in any order, and metavariables numbered in the order of their first
// occurrence. `prefix`: the nodes in prefix order.
std::uint64_t renamed_content(std::vector<Node> nodes, const std::vector<std::size_t>& prefix);

// A set of hashes that only grows; 0 is no hash.
class KeySet {
  public:
    // Whether the key is new.
    bool insert(std::uint64_t key);
    void clear() { *this = KeySet(); }

  private:
    std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(1024);
    std::size_t n_ = 0;
};

}  // namespace simplipy
