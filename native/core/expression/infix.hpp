// Infix text to trees and back. Reading and printing are inverse: parse_infix(to_infix(t)) == t.
//
// A bare literal fuses with its operator into the paper's hyperoperator: x^2 is pow2 x, 3*x is mult3 x, x/2 is div2 x,
// 1/x is inv x, -3 is one number. A literal in brackets does not: x^(2) is pow x 2. So each tree has its own text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tree.hpp"

namespace simplipy {

// Throws ParseError with the position (counted in characters from 1) and a caret line.
Tree parse_infix(std::string_view text);

// Fewest brackets. With a precision numbers are rounded and the text is for reading: literals need no brackets.
std::string to_infix(const Tree& tree, std::optional<int> precision = std::nullopt);

}  // namespace simplipy
