// Prefix tokens, as text and as ids, to trees and back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tree.hpp"

namespace simplipy {

// Token ids: those of operators and fixed leaves are below max_symbols, first_variable + k - 1 is x_k, first_extra + i
// is extras[i] (a number or a named variable of that batch), -1 is padding.
inline constexpr int first_variable = static_cast<int>(max_symbols);
inline constexpr int first_extra = 16384;
inline constexpr int max_id = 32767;

Tree parse_prefix(std::span<const std::string_view> tokens);

// Tokens in prefix order.
std::vector<std::string> prefix_tokens(const Tree& tree);

std::string token_of(const Tree& tree, const Node& node);

Tree parse_ids(std::span<const std::int16_t> ids, std::span<const std::string> extras);

// Ids of one token list; unknown numbers and names are appended to `extras`. Throws ParseError when ids run out.
class Interner {
  public:
    explicit Interner(std::vector<std::string>& extras) : extras_(extras) {}
    std::int16_t id(const std::string& token);
    void append(const Tree& tree, std::vector<std::int16_t>& ids);

  private:
    std::vector<std::string>& extras_;
    std::unordered_map<std::string, std::int16_t> known_;
};

// Token text of an id.
std::string token_of_id(std::int16_t id, std::span<const std::string> extras);

}  // namespace simplipy
