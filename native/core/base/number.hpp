// Number literals: exact decimals mantissa * 10^exponent of at most 17 significant digits, inside the double range.
// The mantissa has no trailing zero, zero is 0 * 10^0, so equal values have equal fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace simplipy {

struct Decimal {
    std::int64_t mantissa = 0;
    std::int16_t exponent = 0;
    friend bool operator==(const Decimal&, const Decimal&) = default;
};

// An unsigned or signed decimal literal, whole text; nullopt when it is none. Throws ParseError outside the double
// range. More than 17 digits are rounded to the nearest double and written as its shortest decimal.
std::optional<Decimal> parse_decimal(std::string_view text);

// Length of the unsigned decimal literal that `text` starts with, 0 when it starts with none.
std::size_t decimal_prefix(std::string_view text);

// The shortest decimal that reads back as `value`, which must be finite.
Decimal to_decimal(double value);

double to_double(Decimal number);

std::string to_string(Decimal number);

// Rounded to `precision` significant digits, for display.
std::string to_string(Decimal number, int precision);

}  // namespace simplipy
