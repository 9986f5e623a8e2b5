#include "ops.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace simplipy {
namespace {

using enum Form;
constexpr auto odd = Parity::odd;
constexpr auto even = Parity::even;
constexpr auto none = Parity::none;

constexpr OpInfo call_row(Op op, std::string_view token, Parity parity, std::string_view derivative,
                          std::string_view domain, std::string_view description) {
    return {op, token, 1, prec_atom, call, token, 0, false, parity, {derivative, ""}, domain, 1.0, description};
}

constexpr OpInfo power_row(Op op, std::string_view token, int k, std::string_view derivative) {
    return {op, token, 1, prec_power, power, token, k, false, k % 2 ? odd : even, {derivative, ""}, "", 1.0, "power"};
}

constexpr OpInfo root_row(Op op, std::string_view token, std::string_view name, int k, std::string_view derivative) {
    const std::string_view domain = k % 2 ? "" : "a >= 0";
    const Parity parity = k % 2 ? odd : none;
    return {op, token, 1, prec_atom, call, name, k, false, parity, {derivative, ""}, domain, 1.0, "real root"};
}

constexpr OpInfo scale_row(Op op, std::string_view token, int k, std::string_view derivative) {
    return {op, token, 1, prec_product, scale, token, k, false, odd, {derivative, ""}, "", 1.0, "integer multiple"};
}

constexpr OpInfo quotient_row(Op op, std::string_view token, int k, std::string_view derivative) {
    return {op, token, 1, prec_product, quotient, token, k, false, odd, {derivative, ""}, "", 1.0, "integer quotient"};
}

// clang-format off: one operator a row
constexpr std::array<OpInfo, n_operators> table = {{
    {Op::add, "+", 2, prec_sum, infix, "", 0, true, none, {"1", "1"}, "", 10.0, "sum"},
    {Op::sub, "-", 2, prec_sum, infix, "", 0, false, none, {"1", "-1"}, "", 10.0, "difference"},
    {Op::mul, "*", 2, prec_product, infix, "", 0, true, none, {"b", "a"}, "", 10.0, "product"},
    {Op::div, "/", 2, prec_product, infix, "", 0, false, none, {"1/b", "-a/b^2"}, "b != 0", 10.0, "quotient"},
    {Op::pow, "pow", 2, prec_power, infix, "pow", 0, false, none, {"b*a^(b - 1)", "a^b*log(a)"},
     "a > 0 or (a = 0 and b >= 0) or (a < 0 and b integer)", 1.0, "power"},
    call_row(Op::abs, "abs", even, "a/abs(a)", "", "absolute value"),
    {Op::inv, "inv", 1, prec_product, reciprocal, "inv", 1, false, odd, {"-1/a^2", ""}, "a != 0", 1.0, "reciprocal"},
    {Op::neg, "neg", 1, prec_minus, prefix_minus, "neg", 0, false, odd, {"-1", ""}, "", 1.0, "negative"},
    power_row(Op::pow2, "pow2", 2, "2*a"),
    power_row(Op::pow3, "pow3", 3, "3*a^2"),
    power_row(Op::pow4, "pow4", 4, "4*a^3"),
    power_row(Op::pow5, "pow5", 5, "5*a^4"),
    root_row(Op::root2, "pow1_2", "sqrt", 2, "1/(2*sqrt(a))"),
    root_row(Op::root3, "pow1_3", "cbrt", 3, "1/(3*cbrt(a)^2)"),
    root_row(Op::root4, "pow1_4", "pow1_4", 4, "1/(4*pow1_4(a)^3)"),
    root_row(Op::root5, "pow1_5", "pow1_5", 5, "1/(5*pow1_5(a)^4)"),
    call_row(Op::sin, "sin", odd, "cos(a)", "", "sine"),
    call_row(Op::cos, "cos", even, "-sin(a)", "", "cosine"),
    call_row(Op::tan, "tan", odd, "1 + tan(a)^2", "cos(a) != 0", "tangent"),
    call_row(Op::asin, "asin", odd, "1/sqrt(1 - a^2)", "-1 <= a <= 1", "inverse sine"),
    call_row(Op::acos, "acos", none, "-1/sqrt(1 - a^2)", "-1 <= a <= 1", "inverse cosine"),
    call_row(Op::atan, "atan", odd, "1/(1 + a^2)", "", "inverse tangent"),
    call_row(Op::sinh, "sinh", odd, "cosh(a)", "", "hyperbolic sine"),
    call_row(Op::cosh, "cosh", even, "sinh(a)", "", "hyperbolic cosine"),
    call_row(Op::tanh, "tanh", odd, "1 - tanh(a)^2", "", "hyperbolic tangent"),
    call_row(Op::asinh, "asinh", odd, "1/sqrt(a^2 + 1)", "", "inverse hyperbolic sine"),
    call_row(Op::acosh, "acosh", none, "1/(sqrt(a - 1)*sqrt(a + 1))", "a >= 1", "inverse hyperbolic cosine"),
    call_row(Op::atanh, "atanh", odd, "1/(1 - a^2)", "-1 < a < 1", "inverse hyperbolic tangent"),
    call_row(Op::exp, "exp", none, "exp(a)", "", "exponential"),
    call_row(Op::log, "log", none, "1/a", "a > 0", "natural logarithm"),
    scale_row(Op::mult2, "mult2", 2, "2"),
    scale_row(Op::mult3, "mult3", 3, "3"),
    scale_row(Op::mult4, "mult4", 4, "4"),
    scale_row(Op::mult5, "mult5", 5, "5"),
    quotient_row(Op::div2, "div2", 2, "1/2"),
    quotient_row(Op::div3, "div3", 3, "1/3"),
    quotient_row(Op::div4, "div4", 4, "1/4"),
    quotient_row(Op::div5, "div5", 5, "1/5"),
}};
// clang-format on

static_assert([] {
    for (std::size_t i = 0; i < n_operators; ++i)
        if (index(table[i].op) != i || table[i].arity != arity(table[i].op)) return false;
    return true;
}());

constexpr std::array<std::string_view, n_symbols - n_operators> leaf_tokens = {"<constant>", "pi",   "e",
                                                                               "inf",        "-inf", "nan"};

using Names = std::unordered_map<std::string_view, Op>;

// Where the search for a token starts in the table of symbols.
constexpr std::size_t symbol_place(std::string_view token) {
    const auto letter = [token](std::size_t i) {
        return static_cast<std::size_t>(static_cast<unsigned char>(token[i]));
    };
    return letter(0) + 37 * letter(token.size() / 2) + 11 * letter(token.size() - 1) + 71 * token.size();
}

const Names& call_names() {
    static const Names names = [] {
        Names map;
        for (const OpInfo& row : table) {
            if (row.call.empty()) continue;
            map.emplace(row.call, row.op);
            map.emplace(row.token, row.op);
        }
        return map;
    }();
    return names;
}

// Swapped neighbours cost 1, a letter too many or too few 2, a wrong letter 3: "tahn" is tanh, "sinn" is sin.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                d[i][j] = 2 * (i + j);
                continue;
            }
            const std::size_t wrong = a[i - 1] == b[j - 1] ? 0 : 3;
            d[i][j] = std::min({d[i - 1][j] + 2, d[i][j - 1] + 2, d[i - 1][j - 1] + wrong});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[a.size()][b.size()];
}

std::optional<Op> shifted(Op first, int literal) {
    if (literal < 2 || literal > 5) return std::nullopt;
    return static_cast<Op>(index(first) + static_cast<std::size_t>(literal - 2));
}

}  // namespace

const std::array<OpInfo, n_operators>& operators() { return table; }

std::string_view symbol_token(Op op) {
    return is_operator(op) ? table[index(op)].token : leaf_tokens[index(op) - n_operators];
}

std::optional<Op> find_symbol(std::string_view token) {
    constexpr std::size_t mask = 255;  // open addressing
    static const auto places = [] {
        std::array<std::uint8_t, mask + 1> by_place{};
        for (std::size_t i = 0; i < n_symbols; ++i) {
            std::size_t place = symbol_place(symbol_token(static_cast<Op>(i))) & mask;
            while (by_place[place] != 0) place = (place + 1) & mask;
            by_place[place] = static_cast<std::uint8_t>(i + 1);
        }
        return by_place;
    }();
    if (token.empty()) return std::nullopt;
    for (std::size_t place = symbol_place(token) & mask; places[place] != 0; place = (place + 1) & mask) {
        const auto op = static_cast<Op>(places[place] - 1);
        if (symbol_token(op) == token) return op;
    }
    return std::nullopt;
}

std::optional<Op> find_call(std::string_view name) {
    const auto found = call_names().find(name);
    return found == call_names().end() ? std::nullopt : std::optional(found->second);
}

std::string_view nearest_name(std::string_view name) {
    if (name.size() > 32) return "";
    std::string_view best;
    std::size_t best_distance = name.size() + 3;  // further away it is another word
    for (const OpInfo& row : table) {
        for (const std::string_view candidate : {row.call, row.token}) {
            const std::size_t distance = candidate.empty() ? best_distance : edit_distance(name, candidate);
            if (distance < best_distance) {
                best = candidate;
                best_distance = distance;
            }
        }
    }
    return best;
}

std::optional<Op> scale_op(int literal) { return shifted(Op::mult2, literal); }
std::optional<Op> quotient_op(int literal) { return shifted(Op::div2, literal); }
std::optional<Op> power_op(int literal) { return shifted(Op::pow2, literal); }

}  // namespace simplipy
