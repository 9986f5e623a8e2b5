#include "hints.hpp"

#include <array>

#include "ops.hpp"

namespace simplipy {
namespace {

struct Hint {
    std::string_view theirs;
    std::string_view ours;
};

constexpr std::array spellings = {
    Hint{"ln", "ln(x) is log(x)"},           Hint{"log10", "log10(x) is log(x)/log(10)"},
    Hint{"lg", "lg(x) is log(x)/log(10)"},   Hint{"log2", "log2(x) is log(x)/log(2)"},
    Hint{"log1p", "log1p(x) is log(1 + x)"}, Hint{"expm1", "expm1(x) is exp(x) - 1"},
    Hint{"exp2", "exp2(x) is 2^x"},          Hint{"exp10", "exp10(x) is 10^x"},
    Hint{"sign", "sign(x) is x/abs(x)"},     Hint{"sgn", "sgn(x) is x/abs(x)"},
    Hint{"sec", "sec(x) is 1/cos(x)"},       Hint{"csc", "csc(x) is 1/sin(x)"},
    Hint{"cot", "cot(x) is 1/tan(x)"},       Hint{"square", "square(x) is x^2"},
    Hint{"cube", "cube(x) is x^3"},
};

constexpr std::array characters = {
    Hint{"²", "^2"},    Hint{"³", "^3"},    Hint{"⁴", "^4"},        Hint{"⁵", "^5"},  Hint{"⁶", "^6"}, Hint{"⁷", "^7"},
    Hint{"⁸", "^8"},    Hint{"⁹", "^9"},    Hint{"×", "*"},         Hint{"·", "*"},   Hint{"⋅", "*"},  Hint{"∙", "*"},
    Hint{"∗", "*"},     Hint{"÷", "/"},     Hint{"∕", "/"},         Hint{"−", "-"},   Hint{"–", "-"},  Hint{"—", "-"},
    Hint{"½", "(1/2)"}, Hint{"¼", "(1/4)"}, Hint{"√", "sqrt(...)"}, Hint{"∞", "inf"},
};

}  // namespace

std::string_view other_spelling(std::string_view function) {
    for (const Hint& hint : spellings)
        if (hint.theirs == function) return hint.ours;
    return "";
}

std::string_view ascii_form(std::string_view text) {
    for (const Hint& hint : characters)
        if (text.starts_with(hint.theirs)) return hint.ours;
    return "";
}

bool is_greek_pi(std::string_view name) { return name == "π"; }

std::string known_functions() {
    std::string names = "sqrt cbrt";
    for (const OpInfo& row : operators())
        if (!row.call.empty()) names += " " + std::string(row.token);
    return names;
}

}  // namespace simplipy
