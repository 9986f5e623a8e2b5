#include "number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "errors.hpp"

namespace simplipy {
namespace {

constexpr int max_digits = 17;
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads a literal of checked syntax; a double of that text, infinite or zero where it leaves the range.
double read_double(std::string_view text) {
    double value = 0.0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc::result_out_of_range) return value;
    throw ParseError("number " + std::string(text.substr(0, 40)) +
                     " is outside the double range (5e-324 to 1.8e308); rescale the variables it stands with");
}

Decimal normalised(std::int64_t mantissa, std::int64_t exponent) {
    if (mantissa == 0) return {};
    while (mantissa % 10 == 0) {
        mantissa /= 10;
        ++exponent;
    }
    return {mantissa, static_cast<std::int16_t>(exponent)};
}

std::string scientific(Decimal number) {
    std::array<char, 32> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number.mantissa).ptr;
    return std::string(buffer.data(), end) + 'e' + std::to_string(number.exponent);
}

}  // namespace

std::size_t decimal_prefix(std::string_view text) {
    std::size_t i = 0;
    const auto digits = [&] {
        const std::size_t start = i;
        while (i < text.size() && is_digit(text[i])) ++i;
        return i - start;
    };
    std::size_t n_digits = digits();
    if (i < text.size() && text[i] == '.') {
        ++i;
        n_digits += digits();
    }
    if (n_digits == 0) return 0;
    const std::size_t mantissa_end = i;
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        ++i;
        if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
        if (digits() == 0) return mantissa_end;
    }
    return i;
}

std::optional<Decimal> parse_decimal(std::string_view text) {
    const bool negative = !text.empty() && text[0] == '-';
    if (negative) text.remove_prefix(1);
    if (text.empty() || decimal_prefix(text) != text.size()) return std::nullopt;
    std::int64_t mantissa = 0;
    std::int64_t exponent = 0;
    int n_digits = 0;
    bool after_point = false;
    bool too_long = false;
    std::size_t i = 0;
    for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
        if (text[i] == '.') {
            after_point = true;
            continue;
        }
        const int digit = text[i] - '0';
        if (n_digits < max_digits) {
            mantissa = 10 * mantissa + digit;
            n_digits += mantissa != 0;
            exponent -= after_point;
        } else {
            too_long |= digit != 0;
            exponent += !after_point;
        }
    }
    if (mantissa == 0) return Decimal{};
    const double value = read_double(text);
    if (too_long) return to_decimal(negative ? -value : value);
    if (i < text.size()) {  // the exponent fits: read_double has refused what does not, up to leading zeros
        ++i;
        if (text[i] == '+') ++i;
        std::int64_t written = 0;
        std::from_chars(text.data() + i, text.data() + text.size(), written);
        exponent += written;
    }
    return normalised(negative ? -mantissa : mantissa, exponent);
}

Decimal to_decimal(double value) {
    if (value == 0.0) return {};
    std::array<char, 32> buffer;
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific).ptr;
    const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    const std::size_t mark = text.find('e');
    std::int64_t mantissa = 0;
    std::int64_t exponent = 0;
    std::from_chars(text.data() + mark + (text[mark + 1] == '+' ? 2 : 1), text.data() + text.size(), exponent);
    bool after_point = false;
    for (const char c : text.substr(0, mark)) {
        if (c == '.') after_point = true;
        if (!is_digit(c)) continue;
        mantissa = 10 * mantissa + (c - '0');
        exponent -= after_point;
    }
    return normalised(text[0] == '-' ? -mantissa : mantissa, exponent);
}

double to_double(Decimal number) {
    // integers below 2^53 are exact as they are; all else is rounded once, by from_chars
    constexpr std::int64_t exact = std::int64_t{1} << 53;
    if (number.exponent == 0 && number.mantissa > -exact && number.mantissa < exact)
        return static_cast<double>(number.mantissa);
    return read_double(scientific(number));
}

std::string to_string(Decimal number) {
    if (number.mantissa == 0) return "0";
    std::string digits = std::to_string(number.mantissa);
    std::string sign;
    if (digits[0] == '-') {
        sign = "-";
        digits.erase(0, 1);
    }
    const int n_digits = static_cast<int>(digits.size());
    const int point = n_digits + number.exponent;  // digits before the decimal point
    if (number.exponent >= 0 && point <= 15)
        return sign + digits + std::string(static_cast<std::size_t>(number.exponent), '0');
    if (number.exponent < 0 && point > 0) return sign + digits.insert(static_cast<std::size_t>(point), ".");
    if (number.exponent < 0 && point > -4)
        return sign + "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
    if (n_digits > 1) digits.insert(1, ".");
    return sign + digits + "e" + std::to_string(point - 1);
}

std::string to_string(Decimal number, int precision) {
    std::array<char, 64> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), to_double(number),
                                   std::chars_format::scientific, std::clamp(precision, 1, max_digits) - 1)
                         .ptr;
    double rounded = 0.0;
    if (std::from_chars(buffer.data(), end, rounded).ec != std::errc{}) return to_string(number);
    return to_string(to_decimal(rounded));
}

}  // namespace simplipy
