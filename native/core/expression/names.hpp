// Variable names: what is a plain identifier, how others are quoted, and in which order they stand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace simplipy {

// k when the name is x_k with k >= 1 written without leading zeros, else 0.
std::int64_t column_number(std::string_view name);

// Runs of digits compare as numbers: b2 < b10.
bool natural_less(std::string_view a, std::string_view b);

// Length of the plain identifier at the start of `text`; letters beyond ASCII count, punctuation and symbols do not.
std::size_t identifier_prefix(std::string_view text);

// Whether the name needs no backquotes: an identifier that is no token and no function, or the name of an indicator.
bool is_plain_name(std::string_view name);

// The variable that is 1 where a column of texts has a level, and 0 elsewhere. Its name, which needs no backquotes, is
// (column == "level"), with the column as `quoted` writes it and quotes inside the level doubled.
struct Indicator {
    std::string column;
    std::string level;

    std::string name() const;
};

// The indicator at the start of `text`, which may have blanks between its parts, and the bytes that it takes.
std::optional<std::pair<Indicator, std::size_t>> indicator_prefix(std::string_view text);

// The indicator that has this name.
std::optional<Indicator> indicator_named(std::string_view name);

// A variable name as it is written: as it is, or in backquotes, those inside doubled.
std::string quoted(std::string_view name);

// The name inside a token in backquotes; nullopt when the quotes do not match or nothing is inside.
std::optional<std::string> unquoted(std::string_view token);

// Number of characters (code points) in UTF-8 text.
std::size_t n_characters(std::string_view text);

// Bytes of the character at the start of `text`; 1 for what is no UTF-8.
std::size_t character_size(std::string_view text);

// Text as an error message shows it: about 60 bytes at most, cut between characters, control characters as spaces.
// A message is a C string that Python decodes: half a character would fail there, a NUL would end it.
std::string shown(std::string_view text);

// Gives each variable its node payload (see tree.hpp) and collects the names that are not x_k.
class NameTable {
  public:
    std::int64_t code(std::string_view name);
    std::vector<std::string> take() { return std::move(names_); }

  private:
    std::unordered_map<std::string, std::size_t> places_;
    std::vector<std::string> names_;
};

}  // namespace simplipy
