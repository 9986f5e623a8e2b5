// The operator table: one row an operator, with what parsers, printers, evaluators, samplers and simplifiers need.
// Ids are stable: they are what TokenBatch, checkpoints and data files store.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace simplipy {

enum class Op : std::uint16_t {
    add,
    sub,
    mul,
    div,
    pow,
    abs,
    inv,
    neg,
    pow2,
    pow3,
    pow4,
    pow5,
    root2,
    root3,
    root4,
    root5,
    sin,
    cos,
    tan,
    asin,
    acos,
    atan,
    sinh,
    cosh,
    tanh,
    asinh,
    acosh,
    atanh,
    exp,
    log,
    mult2,
    mult3,
    mult4,
    mult5,
    div2,
    div3,
    div4,
    div5,
    // leaves
    constant,
    pi,
    e,
    inf,
    neg_inf,
    nan,
    number,
    variable,
};

inline constexpr std::size_t n_operators = 38;
inline constexpr std::size_t n_symbols = 44;  // operators and the leaves that are written by one fixed token

// How the infix printer writes a node, and which syntax the infix parser turns into it.
enum class Form : std::uint8_t { infix, prefix_minus, power, scale, quotient, reciprocal, call, leaf };

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
    bool commutative;
    Parity parity;
    std::array<std::string_view, 2> derivative;  // infix, operands `a` and `b`, by operand
    std::string_view domain;                     // condition on the operands under which it is defined, "" = everywhere
    double weight;                               // relative weight in the paper's skeleton prior
    std::string_view description;
};

const std::array<OpInfo, n_operators>& operators();

constexpr std::size_t index(Op op) { return static_cast<std::size_t>(op); }
constexpr bool is_operator(Op op) { return index(op) < n_operators; }
inline const OpInfo& info(Op op) { return operators()[index(op)]; }

// Arity without the table's cache line: the operators are ordered binary first.
constexpr int arity(Op op) { return op <= Op::pow ? 2 : (is_operator(op) ? 1 : 0); }

// The token of an operator or of a fixed leaf (`<constant>`, pi, ...); not for numbers and variables.
std::string_view symbol_token(Op op);

// The operator or fixed leaf with exactly this token.
std::optional<Op> find_symbol(std::string_view token);

// The operator that `name(...)` calls in infix text: every token name, `sqrt` and `cbrt`.
std::optional<Op> find_call(std::string_view name);

// The known name that is nearest to a misspelt one, or "" when none is near.
std::string_view nearest_name(std::string_view name);

// The value inside `op` when it is multk, divk, powk: mult3 -> 3; and the reverse look-ups.
std::optional<Op> scale_op(int literal);
std::optional<Op> quotient_op(int literal);
std::optional<Op> power_op(int literal);

}  // namespace simplipy
