// Random token lists for round-trip and differential tests.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/expression/ops.hpp"
#include "core/expression/prefix.hpp"

inline simplipy::Tree random_tree(std::mt19937_64& random, int n_operators, int n_variables = 3) {
    static const std::vector<std::string> leaves = {"<constant>", "pi",  "e",    "1",    "2",        "5",   "-3", "0",
                                                    "0.25",       "inf", "-inf", "1e-9", "`my var`", "rho", "nan"};
    std::vector<std::string> tokens;
    std::vector<int> pending = {n_operators};  // operators still to place in each open operand
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
    while (!pending.empty()) {
        const int n = pending.back();
        pending.pop_back();
        if (n == 0) {
            if (below(2) == 0) {
                tokens.push_back("x" + std::to_string(1 + below(n_variables)));
            } else {
                tokens.push_back(leaves[static_cast<std::size_t>(below(static_cast<int>(leaves.size())))]);
            }
            continue;
        }
        const auto& row =
            simplipy::operators()[static_cast<std::size_t>(below(static_cast<int>(simplipy::operators().size())))];
        tokens.emplace_back(row.token);
        if (row.arity == 1) {
            pending.push_back(n - 1);
        } else {
            const int left = below(n);
            pending.push_back(n - 1 - left);
            pending.push_back(left);
        }
    }
    const std::vector<std::string_view> views(tokens.begin(), tokens.end());
    return simplipy::parse_prefix(views);
}

// The same tree over x1, x2, x3 only.
inline simplipy::Tree named_as_columns(const simplipy::Tree& tree) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < variable_codes(tree).size(); ++i) names.push_back("x" + std::to_string(1 + i % 3));
    return rename(tree, names);
}
