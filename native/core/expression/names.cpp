#include "names.hpp"

#include <algorithm>
#include <charconv>

#include "hints.hpp"
#include "ops.hpp"

namespace simplipy {
namespace {

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct CodePoint {
    char32_t value;
    std::size_t n_bytes;  // 0: no valid UTF-8
};

CodePoint decode(std::string_view text) {
    const auto byte = [&](std::size_t i) -> unsigned {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const auto trail = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
    const unsigned b = byte(0);
    if (b < 0x80) return {b, 1};
    if ((b & 0xe0U) == 0xc0U && trail(1)) return {(b & 0x1fU) << 6 | (byte(1) & 0x3fU), 2};
    if ((b & 0xf0U) == 0xe0U && trail(1) && trail(2))
        return {(b & 0x0fU) << 12 | (byte(1) & 0x3fU) << 6 | (byte(2) & 0x3fU), 3};
    if ((b & 0xf8U) == 0xf0U && trail(1) && trail(2) && trail(3))
        return {(b & 0x07U) << 18 | (byte(1) & 0x3fU) << 12 | (byte(2) & 0x3fU) << 6 | (byte(3) & 0x3fU), 4};
    return {0, 0};
}

// Blocks of punctuation, operators, raised digits and spaces: a typed minus sign (U+2212) must not join a name.
bool is_symbol_character(char32_t c) {
    if (c < 0xc0) return c != 0xaa && c != 0xb5 && c != 0xba;
    return c == 0xd7 || c == 0xf7 || (c >= 0x2000 && c <= 0x207e && c != 0x2071) || (c >= 0x2190 && c <= 0x2bff) ||
           (c >= 0x3000 && c <= 0x3004) || (c >= 0x3008 && c <= 0x3020) || (c >= 0xfe00 && c <= 0xfe6f) ||
           c == 0xfeff || (c >= 0xff00 && c <= 0xff0f);
}

}  // namespace

std::int64_t column_number(std::string_view name) {
    if (name.size() < 2 || name.size() > 10 || name[0] != 'x' || name[1] == '0') return 0;
    std::int64_t k = 0;
    const auto result = std::from_chars(name.data() + 1, name.data() + name.size(), k);
    const bool whole = result.ec == std::errc{} && result.ptr == name.data() + name.size();
    return whole && k > 0 ? k : 0;
}

bool natural_less(std::string_view a, std::string_view b) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() && j < b.size()) {
        if (is_digit(a[i]) && is_digit(b[j])) {
            const auto digits = [](std::string_view text, std::size_t& at) {
                while (at < text.size() && text[at] == '0') ++at;
                const std::size_t start = at;
                while (at < text.size() && is_digit(text[at])) ++at;
                return text.substr(start, at - start);
            };
            const std::string_view left = digits(a, i);
            const std::string_view right = digits(b, j);
            if (left.size() != right.size()) return left.size() < right.size();
            if (left != right) return left < right;
        } else {
            if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
            ++i;
            ++j;
        }
    }
    if ((i < a.size()) != (j < b.size())) return j < b.size();
    return a < b;  // differ at most in leading zeros
}

std::size_t identifier_prefix(std::string_view text) {
    std::size_t i = 0;
    while (i < text.size()) {
        if (is_letter(text[i]) || (i > 0 && is_digit(text[i]))) {
            ++i;
            continue;
        }
        const CodePoint point = decode(text.substr(i));
        if (point.value < 0x80 || point.n_bytes == 0 || is_symbol_character(point.value)) break;
        i += point.n_bytes;
    }
    return i;
}

bool is_plain_name(std::string_view name) {
    return !name.empty() && identifier_prefix(name) == name.size() && !find_symbol(name) && !find_call(name) &&
           !is_greek_pi(name);
}

std::string quoted(std::string_view name) {
    if (is_plain_name(name)) return std::string(name);
    std::string text = "`";
    for (const char c : name) {
        text += c;
        if (c == '`') text += c;
    }
    return text + "`";
}

std::optional<std::string> unquoted(std::string_view token) {
    if (token.size() < 3 || token.front() != '`' || token.back() != '`') return std::nullopt;
    std::string name;
    for (std::size_t i = 1; i + 1 < token.size(); ++i) {
        name += token[i];
        if (token[i] != '`') continue;
        if (i + 2 >= token.size() || token[i + 1] != '`') return std::nullopt;
        ++i;
    }
    return name;
}

std::size_t n_characters(std::string_view text) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < text.size(); i += character_size(text.substr(i))) ++n;
    return n;
}

std::size_t character_size(std::string_view text) {
    const std::size_t n_bytes = decode(text).n_bytes;
    return n_bytes == 0 ? 1 : n_bytes;
}

std::string shown(std::string_view text) {
    constexpr std::size_t most = 60;
    std::size_t end = 0;
    while (end < text.size() && end < most) end += character_size(text.substr(end));
    std::string line(text.substr(0, end));
    std::replace_if(line.begin(), line.end(), [](char c) { return c >= 0 && c < 0x20; }, ' ');
    return end < text.size() ? line + "..." : line;
}

std::int64_t NameTable::code(std::string_view name) {
    if (const std::int64_t k = column_number(name)) return k;
    const auto [entry, is_new] = places_.try_emplace(std::string(name), names_.size());
    if (is_new) names_.emplace_back(name);
    return -1 - static_cast<std::int64_t>(entry->second);
}

}  // namespace simplipy
