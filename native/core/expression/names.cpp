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

std::size_t skip_blanks(std::string_view text, std::size_t at) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
    return at;
}

// Bytes of a text that begins with a quote, those inside doubled, to the quote that closes it; 0 if none does.
std::size_t quoted_size(std::string_view text) {
    const char quote = text.empty() ? '\0' : text[0];
    std::size_t end = 1;
    while (end < text.size() && (text[end] != quote || (end + 1 < text.size() && text[end + 1] == quote)))
        end += text[end] == quote ? 2 : 1;
    return end < text.size() ? end + 1 : 0;
}

std::string doubled(std::string_view text, char quote) {
    std::string result(1, quote);
    for (const char c : text) {
        result += c;
        if (c == quote) result += c;
    }
    return result + quote;
}

std::string undoubled(std::string_view text, char quote) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        result += text[i];
        if (text[i] == quote) ++i;
    }
    return result;
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
    if (!name.empty() && name[0] == '(') return indicator_named(name).has_value();
    return !name.empty() && identifier_prefix(name) == name.size() && !find_symbol(name) && !find_call(name) &&
           !is_greek_pi(name);
}

std::string quoted(std::string_view name) { return is_plain_name(name) ? std::string(name) : doubled(name, '`'); }

std::optional<std::string> unquoted(std::string_view token) {
    if (token.size() < 3 || token.front() != '`' || quoted_size(token) != token.size()) return std::nullopt;
    return undoubled(token.substr(1, token.size() - 2), '`');
}

std::string Indicator::name() const { return "(" + quoted(column) + " == " + doubled(level, '"') + ")"; }

std::optional<std::pair<Indicator, std::size_t>> indicator_prefix(std::string_view text) {
    if (text.empty() || text[0] != '(') return std::nullopt;
    std::size_t at = skip_blanks(text, 1);
    const std::string_view rest = text.substr(at);
    const bool has_quotes = rest.starts_with('`');
    const std::string_view column = rest.substr(0, has_quotes ? quoted_size(rest) : identifier_prefix(rest));
    if (column.empty() || column == "``") return std::nullopt;
    at = skip_blanks(text, at + column.size());
    if (!text.substr(at).starts_with("==")) return std::nullopt;
    at = skip_blanks(text, at + 2);
    if (!text.substr(at).starts_with('"')) return std::nullopt;
    const std::string_view level = text.substr(at, quoted_size(text.substr(at)));
    if (level.empty()) return std::nullopt;
    at = skip_blanks(text, at + level.size());
    if (!text.substr(at).starts_with(')')) return std::nullopt;
    Indicator indicator{has_quotes ? *unquoted(column) : std::string(column),
                        undoubled(level.substr(1, level.size() - 2), '"')};
    return std::pair{std::move(indicator), at + 1};
}

std::optional<Indicator> indicator_named(std::string_view name) {
    auto found = indicator_prefix(name);
    if (!found || found->second != name.size() || found->first.name() != name) return std::nullopt;
    return std::move(found->first);
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
