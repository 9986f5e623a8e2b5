// The operator table: one row an operator, with what parsers, printers, evaluators, samplers and simplifiers need.
// Ids are given by hand and stable: they are what TokenBatch, checkpoints and data files store. A new operator takes
// the next free id below max_symbols.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace simplipy {

enum class Op : std::uint16_t {
    add = 0,
    sub = 1,
    mul = 2,
    div = 3,
    pow = 4,
    abs = 5,
    inv = 6,
    neg = 7,
    pow2 = 8,
    pow3 = 9,
    pow4 = 10,
    pow5 = 11,
    root2 = 12,
    root3 = 13,
    root4 = 14,
    root5 = 15,
    sin = 16,
    cos = 17,
    tan = 18,
    asin = 19,
    acos = 20,
    atan = 21,
    sinh = 22,
    cosh = 23,
    tanh = 24,
    asinh = 25,
    acosh = 26,
    atanh = 27,
    exp = 28,
    log = 29,
    mult2 = 30,
    mult3 = 31,
    mult4 = 32,
    mult5 = 33,
    div2 = 34,
    div3 = 35,
    div4 = 36,
    div5 = 37,
    // leaves
    constant = 38,
    pi = 39,
    e = 40,
    inf = 41,
    neg_inf = 42,
    nan = 43,
    number = 44,
    variable = 45,
    // operators that are off unless they are asked for
    erf = 46,
    min = 47,
    max = 48,
};

inline constexpr std::size_t max_symbols = 64;  // arrays by id have this size; ids of tokens from here on are variables

// How the infix printer writes a node, and which syntax the infix parser turns into it.
enum class Form : std::uint8_t { infix, prefix_minus, power, scale, quotient, reciprocal, call, leaf };

// The roles of an operator for rewriters, fitters and samplers.
namespace role {
inline constexpr std::uint8_t commutative = 1;     // its operands can be swapped
inline constexpr std::uint8_t scale_factor = 2;    // multiplies by the number in its token: neg, mult2, div2
inline constexpr std::uint8_t root = 4;            // the real root whose order is in its token
inline constexpr std::uint8_t transcendental = 8;  // neither arithmetic nor a power or root
inline constexpr std::uint8_t wave = 16;           // sin, cos, tan
inline constexpr std::uint8_t arithmetic = 32;     // + - * /
inline constexpr std::uint8_t extremum = 64;       // min, max: one of the operands, in any order and nesting
}  // namespace role

enum class Parity : std::uint8_t { none, odd, even };

// Binding strength in infix text; a call or a leaf never needs brackets.
enum Precedence : std::int8_t { prec_sum = 1, prec_product = 2, prec_minus = 3, prec_power = 4, prec_atom = 5 };

struct OpInfo {
    Op op;
    std::string_view token;
    int arity;
    int precedence;
    Form form;
    std::string_view call;  // the name in infix calls
    int literal;            // the integer inside a hyperoperator token: 2 in mult2, div2, pow2 and pow1_2; else 0
    std::uint8_t roles;     // see role
    Parity parity;
    std::array<std::string_view, 2> derivative;  // infix, operands `a` and `b`, by operand
    std::string_view domain;                     // condition on the operands under which it is defined, "" = everywhere
    double weight;  // relative weight in the paper's skeleton prior; 0: off unless the user asks for it
    std::string_view description;

    constexpr bool has(std::uint8_t asked) const { return (roles & asked) != 0; }
};

constexpr OpInfo call_row(Op op, std::string_view token, Parity parity, std::string_view derivative,
                          std::string_view domain, std::string_view description, std::uint8_t roles) {
    return {op, token, 1, prec_atom, Form::call, token, 0, roles, parity, {derivative, ""}, domain, 1.0, description};
}

// An operator that no prior draws and no search uses unless the user asks for it.
constexpr OpInfo off(OpInfo row) {
    row.weight = 0.0;
    return row;
}

constexpr OpInfo extremum_row(Op op, std::string_view token, std::array<std::string_view, 2> derivative,
                              std::string_view description) {
    constexpr std::uint8_t roles = role::commutative | role::extremum;
    return {op, token, 2, prec_atom, Form::call, token, 0, roles, Parity::none, derivative, "", 0.0, description};
}

constexpr OpInfo power_row(Op op, std::string_view token, int k, std::string_view derivative) {
    return {
        op, token, 1,      prec_power, Form::power, token, k, 0, k % 2 ? Parity::odd : Parity::even, {derivative, ""},
        "", 1.0,   "power"};
}

constexpr OpInfo root_row(Op op, std::string_view token, std::string_view name, int k, std::string_view derivative) {
    const std::string_view domain = k % 2 ? "" : "a >= 0";
    const Parity parity = k % 2 ? Parity::odd : Parity::none;
    return {op,     token, 1,          prec_atom, Form::call, name, k, role::root, parity, {derivative, ""},
            domain, 1.0,   "real root"};
}

constexpr OpInfo scale_row(Op op, std::string_view token, int k, std::string_view derivative) {
    return {op,
            token,
            1,
            prec_product,
            Form::scale,
            token,
            k,
            role::scale_factor,
            Parity::odd,
            {derivative, ""},
            "",
            1.0,
            "integer multiple"};
}

constexpr OpInfo quotient_row(Op op, std::string_view token, int k, std::string_view derivative) {
    return {op,
            token,
            1,
            prec_product,
            Form::quotient,
            token,
            k,
            role::scale_factor,
            Parity::odd,
            {derivative, ""},
            "",
            1.0,
            "integer quotient"};
}

// clang-format off: one operator a row
inline constexpr OpInfo operator_table[] = {
    {Op::add, "+", 2, prec_sum, Form::infix, "", 0, role::commutative | role::arithmetic, Parity::none, {"1", "1"}, "", 10.0, "sum"},
    {Op::sub, "-", 2, prec_sum, Form::infix, "", 0, role::arithmetic, Parity::none, {"1", "-1"}, "", 10.0, "difference"},
    {Op::mul, "*", 2, prec_product, Form::infix, "", 0, role::commutative | role::arithmetic, Parity::none, {"b", "a"}, "", 10.0,
     "product"},
    {Op::div, "/", 2, prec_product, Form::infix, "", 0, role::arithmetic, Parity::none, {"1/b", "-a/b^2"}, "b != 0", 10.0, "quotient"},
    {Op::pow, "pow", 2, prec_power, Form::infix, "pow", 0, 0, Parity::none, {"b*a^(b - 1)", "a^b*log(a)"},
     "a > 0 or (a = 0 and b >= 0) or (a < 0 and b integer)", 1.0, "power"},
    call_row(Op::abs, "abs", Parity::even, "a/abs(a)", "", "absolute value", 0),
    {Op::inv, "inv", 1, prec_product, Form::reciprocal, "inv", 1, 0, Parity::odd, {"-1/a^2", ""}, "a != 0", 1.0, "reciprocal"},
    {Op::neg, "neg", 1, prec_minus, Form::prefix_minus, "neg", 0, role::scale_factor, Parity::odd, {"-1", ""}, "", 1.0, "negative"},
    power_row(Op::pow2, "pow2", 2, "2*a"),
    power_row(Op::pow3, "pow3", 3, "3*a^2"),
    power_row(Op::pow4, "pow4", 4, "4*a^3"),
    power_row(Op::pow5, "pow5", 5, "5*a^4"),
    root_row(Op::root2, "pow1_2", "sqrt", 2, "1/(2*sqrt(a))"),
    root_row(Op::root3, "pow1_3", "cbrt", 3, "1/(3*cbrt(a)^2)"),
    root_row(Op::root4, "pow1_4", "pow1_4", 4, "1/(4*pow1_4(a)^3)"),
    root_row(Op::root5, "pow1_5", "pow1_5", 5, "1/(5*pow1_5(a)^4)"),
    call_row(Op::sin, "sin", Parity::odd, "cos(a)", "", "sine", role::transcendental | role::wave),
    call_row(Op::cos, "cos", Parity::even, "-sin(a)", "", "cosine", role::transcendental | role::wave),
    call_row(Op::tan, "tan", Parity::odd, "1 + tan(a)^2", "cos(a) != 0", "tangent", role::transcendental | role::wave),
    call_row(Op::asin, "asin", Parity::odd, "1/sqrt(1 - a^2)", "-1 <= a <= 1", "inverse sine", role::transcendental),
    call_row(Op::acos, "acos", Parity::none, "-1/sqrt(1 - a^2)", "-1 <= a <= 1", "inverse cosine", role::transcendental),
    call_row(Op::atan, "atan", Parity::odd, "1/(1 + a^2)", "", "inverse tangent", role::transcendental),
    call_row(Op::sinh, "sinh", Parity::odd, "cosh(a)", "", "hyperbolic sine", role::transcendental),
    call_row(Op::cosh, "cosh", Parity::even, "sinh(a)", "", "hyperbolic cosine", role::transcendental),
    call_row(Op::tanh, "tanh", Parity::odd, "1 - tanh(a)^2", "", "hyperbolic tangent", role::transcendental),
    call_row(Op::asinh, "asinh", Parity::odd, "1/sqrt(a^2 + 1)", "", "inverse hyperbolic sine", role::transcendental),
    call_row(Op::acosh, "acosh", Parity::none, "1/(sqrt(a - 1)*sqrt(a + 1))", "a >= 1", "inverse hyperbolic cosine", role::transcendental),
    call_row(Op::atanh, "atanh", Parity::odd, "1/(1 - a^2)", "-1 < a < 1", "inverse hyperbolic tangent", role::transcendental),
    call_row(Op::exp, "exp", Parity::none, "exp(a)", "", "exponential", role::transcendental),
    call_row(Op::log, "log", Parity::none, "1/a", "a > 0", "natural logarithm", role::transcendental),
    scale_row(Op::mult2, "mult2", 2, "2"),
    scale_row(Op::mult3, "mult3", 3, "3"),
    scale_row(Op::mult4, "mult4", 4, "4"),
    scale_row(Op::mult5, "mult5", 5, "5"),
    quotient_row(Op::div2, "div2", 2, "1/2"),
    quotient_row(Op::div3, "div3", 3, "1/3"),
    quotient_row(Op::div4, "div4", 4, "1/4"),
    quotient_row(Op::div5, "div5", 5, "1/5"),
    off(call_row(Op::erf, "erf", Parity::odd, "2/sqrt(pi)*exp(-a^2)", "", "error function", role::transcendental)),
    extremum_row(Op::min, "min", {"(1 - (a - b)/abs(a - b))/2", "(1 + (a - b)/abs(a - b))/2"}, "smaller operand"),
    extremum_row(Op::max, "max", {"(1 + (a - b)/abs(a - b))/2", "(1 - (a - b)/abs(a - b))/2"}, "larger operand"),
};
// clang-format on

constexpr std::size_t index(Op op) { return static_cast<std::size_t>(op); }

// The ids whose rows satisfy a condition, as bits.
template <class Condition>
consteval std::uint64_t ids_where(Condition condition) {
    std::uint64_t ids = 0;
    for (const OpInfo& row : operator_table)
        if (condition(row)) ids |= std::uint64_t{1} << index(row.op);
    return ids;
}
inline constexpr std::uint64_t unary_ids = ids_where([](const OpInfo& row) { return row.arity == 1; });
inline constexpr std::uint64_t binary_ids = ids_where([](const OpInfo& row) { return row.arity == 2; });
inline constexpr std::uint64_t commutative_ids =
    ids_where([](const OpInfo& row) { return row.has(role::commutative); });
inline constexpr std::uint64_t extremum_ids = ids_where([](const OpInfo& row) { return row.has(role::extremum); });

constexpr bool is_operator(Op op) { return ((unary_ids | binary_ids) >> index(op) & 1U) != 0; }
constexpr int arity(Op op) {
    return static_cast<int>((unary_ids >> index(op) & 1U) | (binary_ids >> index(op) & 1U) << 1U);
}

constexpr bool is_commutative(Op op) { return (commutative_ids >> index(op) & 1U) != 0; }
constexpr bool is_extremum(Op op) { return (extremum_ids >> index(op) & 1U) != 0; }

// max of min, min of max.
constexpr Op opposite_extremum(Op op) { return op == Op::max ? Op::min : Op::max; }

// All rows; the paper's operators first.
constexpr std::span<const OpInfo> operators() { return operator_table; }

// The row of an operator.
const OpInfo& info(Op op);

// The token of an operator or of a fixed leaf (`<constant>`, pi, ...); "" for numbers, variables and free ids.
std::string_view symbol_token(Op op);

// The operator or fixed leaf with exactly this token.
std::optional<Op> find_symbol(std::string_view token);

// The operator that `name(...)` calls in infix text: every token name, `sqrt` and `cbrt`.
std::optional<Op> find_call(std::string_view name);

// The known name that is nearest to a misspelt one, or "" when none is near.
std::string_view nearest_name(std::string_view name);

// The operator that differs from this one only in the number in its token: (mult2, 3) is mult3.
std::optional<Op> sibling(Op op, int literal);

}  // namespace simplipy
