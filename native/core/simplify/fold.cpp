#include "fold.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>

namespace simplipy {
namespace {

long double decimal_value(Decimal number) { return std::strtold(to_string(number).c_str(), nullptr); }

// Values of ground terms in extended precision, so that rounding them gives the nearest double.
long double ground_value(Op op, long double a, long double b) {
    const OpInfo& row = info(op);
    switch (op) {
        case Op::add:
            return a + b;
        case Op::sub:
            return a - b;
        case Op::mul:
            return a * b;
        case Op::div:
            return b == 0 ? NAN : a / b;
        case Op::pow:
            return a == 0 && b < 0 ? NAN : std::pow(a, b);
        case Op::abs:
            return std::fabs(a);
        case Op::inv:
            return a == 0 ? NAN : 1 / a;
        case Op::neg:
            return -a;
        case Op::root2:
            return std::sqrt(a);
        case Op::root3:
            return std::cbrt(a);
        case Op::root4:
            return std::sqrt(std::sqrt(a));
        case Op::root5:
            return std::copysign(std::pow(std::fabs(a), 0.2L), a);
        case Op::sin:
            return std::sin(a);
        case Op::cos:
            return std::cos(a);
        case Op::tan:
            return std::tan(a);
        case Op::asin:
            return std::asin(a);
        case Op::acos:
            return std::acos(a);
        case Op::atan:
            return std::atan(a);
        case Op::sinh:
            return std::sinh(a);
        case Op::cosh:
            return std::cosh(a);
        case Op::tanh:
            return std::tanh(a);
        case Op::asinh:
            return std::asinh(a);
        case Op::acosh:
            return std::acosh(a);
        case Op::atanh:
            return std::fabs(a) < 1 ? std::atanh(a) : static_cast<long double>(NAN);
        case Op::exp:
            return std::exp(a);
        case Op::log:
            return a > 0 ? std::log(a) : static_cast<long double>(NAN);
        default:
            break;
    }
    if (row.form == Form::power) return std::pow(a, row.literal);
    return row.form == Form::scale ? a * row.literal : a / row.literal;
}

// A value in extended precision and how far it may be from the true one.
struct Approximate {
    long double value = 0;
    long double error = 0;
};

constexpr Approximate unknown_value{NAN, 0};

// The same for an operation: rounding, and what the errors of the operands come to, to first order and doubled.
// Unknown where the operands may be beyond a border of the domain.
Approximate ground_value(Op op, const Approximate& a, const Approximate& b) {
    constexpr long double rounding = 4 * std::numeric_limits<long double>::epsilon();
    const long double v = ground_value(op, a.value, b.value);
    const auto with = [&](long double slope) { return Approximate{v, 2 * slope * a.error + rounding * std::fabs(v)}; };
    const long double x = a.value;
    const long double size = std::fabs(x);
    const auto power = [&](long double k) {  // |x^k|
        if (x == 0 && a.error == 0) return Approximate{v, 0};
        return size > 2 * a.error ? with(std::fabs(k * v / x)) : unknown_value;
    };
    switch (op) {
        case Op::add:
        case Op::sub:
            return {v, a.error + b.error + rounding * std::fabs(v)};
        case Op::mul:
            return {v, 2 * (size * b.error + std::fabs(b.value) * a.error) + rounding * std::fabs(v)};
        case Op::div:
            if (std::fabs(b.value) <= 2 * b.error) return unknown_value;
            return {v, 2 * (a.error + std::fabs(v) * b.error) / std::fabs(b.value) + rounding * std::fabs(v)};
        case Op::pow: {
            if (x <= 0 && b.error > 0) return unknown_value;
            const Approximate base = power(b.value);
            if (std::isnan(base.value)) return unknown_value;
            return {v, base.error + (x > 0 ? 2 * std::fabs(v * std::log(x)) * b.error : 0.0L)};
        }
        case Op::abs:
        case Op::neg:
            return {v, a.error};
        case Op::inv:
            return power(-1);
        case Op::root2:
            return x >= 0 ? power(0.5L) : unknown_value;
        case Op::root3:
            return power(1 / 3.0L);
        case Op::root4:
            return x >= 0 ? power(0.25L) : unknown_value;
        case Op::root5:
            return power(0.2L);
        case Op::sin:
        case Op::cos:
            return with(1);
        case Op::tan:
            return with(1 + v * v);
        case Op::asin:
        case Op::acos:
            return size + 2 * a.error < 1 ? with(1 / std::sqrt(1 - x * x)) : (a.error == 0 ? with(0) : unknown_value);
        case Op::atan:
            return with(1 / (1 + x * x));
        case Op::sinh:
            return with(std::cosh(x));
        case Op::cosh:
            return with(std::fabs(std::sinh(x)));
        case Op::tanh:
            return with(1);
        case Op::asinh:
            return with(1 / std::sqrt(1 + x * x));
        case Op::acosh:
            return x - 2 * a.error > 1 ? with(1 / std::sqrt(x * x - 1)) : (a.error == 0 ? with(0) : unknown_value);
        case Op::atanh:
            return size + 2 * a.error < 1 ? with(1 / (1 - x * x)) : unknown_value;
        case Op::exp:
            return with(v);
        case Op::log:
            return x > 2 * a.error ? with(1 / x) : unknown_value;
        default:
            break;
    }
    if (info(op).form == Form::power) return power(info(op).literal);
    return {v, std::fabs(x != 0 ? v / x : 0.0L) * a.error + rounding * std::fabs(v)};
}

// Whether rounding the value gives the nearest double of the true one, or one beside it where that is halfway between.
bool is_known(const Approximate& number) {
    constexpr long double part_of_a_double = 0x1p-57L;
    const auto rounded = static_cast<double>(number.value);
    if (!std::isfinite(rounded)) return false;
    if (number.value == 0) return number.error == 0;
    return std::fabs(rounded) >= std::numeric_limits<double>::min() &&
           number.error <= part_of_a_double * std::fabs(number.value);
}

Approximate literal_value(const Node& node) {
    constexpr long double half = std::numeric_limits<long double>::epsilon() / 2;
    if (node.op == Op::pi) return {3.14159265358979323846264338327950288L, 4 * half};
    if (node.op == Op::e) return {2.71828182845904523536028747135266250L, 4 * half};
    const long double value = decimal_value(node.decimal());
    const bool exact = std::rint(value) == value && std::fabs(value) < 0x1p53L;
    return {value, exact ? 0 : half * std::fabs(value)};
}

}  // namespace

std::vector<Node> folded(std::span<const Node> postfix) {
    struct Part {
        std::size_t start;
        bool ground;
        Approximate number;
    };
    std::vector<Part> parts;  // by node
    std::vector<std::size_t> stack;
    for (std::size_t i = 0; i < postfix.size(); ++i) {
        const Op op = postfix[i].op;
        Part part{i, is_literal(postfix[i]), {}};
        if (const int n_operands = arity(op); n_operands > 0) {
            const Part& b = parts[stack.back()];
            const Part& a = n_operands == 2 ? parts[stack[stack.size() - 2]] : b;
            part = {a.start, a.ground && b.ground, {}};
            if (part.ground) part.number = ground_value(op, a.number, b.number);
            stack.resize(stack.size() - static_cast<std::size_t>(n_operands));
        } else if (part.ground) {
            part.number = literal_value(postfix[i]);
        }
        stack.push_back(i);
        parts.push_back(part);
    }
    std::vector<Node> reversed;
    for (std::size_t end = postfix.size(); end > 0;) {
        const std::size_t i = end - 1;
        const Part& part = parts[i];
        if (part.ground && postfix[i].op != Op::number && is_known(part.number)) {
            reversed.push_back(Node::number(to_decimal(static_cast<double>(part.number.value))));
            end = part.start;
        } else {
            const std::size_t start = part.ground ? part.start : i;
            for (; end > start; --end) reversed.push_back(postfix[end - 1]);
        }
    }
    return {reversed.rbegin(), reversed.rend()};
}

}  // namespace simplipy
