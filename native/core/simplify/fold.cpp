#include "fold.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>

namespace simplipy {
namespace {

long double decimal_value(Decimal number) { return std::strtold(to_string(number).c_str(), nullptr); }

long double function_value(Op op, long double a) {
    switch (op) {
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
        case Op::erf:
            return std::erf(a);
        default:
            return NAN;
    }
}

long double unary_value(Op op, long double a) {
    switch (op) {
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
        default:
            break;
    }
    const OpInfo& row = info(op);
    if (row.form == Form::power) return std::pow(a, row.literal);
    if (row.form == Form::scale) return a * row.literal;
    if (row.form == Form::quotient) return a / row.literal;
    return function_value(op, a);
}

long double binary_value(Op op, long double a, long double b) {
    switch (op) {
        case Op::add:
            return a + b;
        case Op::sub:
            return a - b;
        case Op::mul:
            return a * b;
        case Op::div:
            return b == 0 ? NAN : a / b;
        case Op::min:
            return std::fmin(a, b);
        case Op::max:
            return std::fmax(a, b);
        default:
            return a == 0 && b < 0 ? NAN : std::pow(a, b);
    }
}

// A value in extended precision, so that rounding it gives the nearest double, and how far it may be from the true one.
struct Approximate {
    long double value = 0;
    long double error = 0;
};

constexpr Approximate unknown_value{NAN, 0};
constexpr long double rounding = 4 * std::numeric_limits<long double>::epsilon();

// The error of an operation's value v: rounding, and what the errors of the operands come to, to first order and
// doubled. Unknown where the operands may be beyond a border of the domain.
class ErrorBound {
  public:
    ErrorBound(const Approximate& a, long double v) : a_(a), v_(v), x_(a.value) {}

    Approximate binary(Op op, const Approximate& b) const {
        switch (op) {
            case Op::add:
            case Op::sub:
                return with_error(a_.error + b.error);
            case Op::mul:
                return with_error(2 * (std::fabs(x_) * b.error + std::fabs(b.value) * a_.error));
            case Op::div:
                if (std::fabs(b.value) <= 2 * b.error) return unknown_value;
                return with_error(2 * (a_.error + std::fabs(v_) * b.error) / std::fabs(b.value));
            case Op::min:
            case Op::max:
                if (std::isnan(x_) || std::isnan(b.value)) return unknown_value;
                return {v_, std::max(a_.error, b.error)};
            default:
                break;
        }
        if (x_ <= 0 && b.error > 0) return unknown_value;
        const Approximate base = power(b.value);
        if (std::isnan(base.value)) return unknown_value;
        return {v_, base.error + (x_ > 0 ? 2 * std::fabs(v_ * std::log(x_)) * b.error : 0.0L)};
    }

    Approximate unary(Op op) const {
        const OpInfo& row = info(op);
        if (op == Op::abs || op == Op::neg) return {v_, a_.error};
        if (op == Op::inv) return power(-1);
        if (row.form == Form::power) return power(row.literal);
        if (row.form == Form::scale || row.form == Form::quotient)
            return with_error(std::fabs(x_ != 0 ? v_ / x_ : 0.0L) * a_.error);
        if (op == Op::root3 || op == Op::root5) return power(op == Op::root3 ? 1 / 3.0L : 0.2L);
        if (op == Op::root2 || op == Op::root4) return x_ >= 0 ? power(op == Op::root2 ? 0.5L : 0.25L) : unknown_value;
        return function(op);
    }

  private:
    Approximate with_error(long double error) const { return {v_, error + rounding * std::fabs(v_)}; }
    Approximate with_slope(long double slope) const { return with_error(2 * slope * a_.error); }

    // |x^k|
    Approximate power(long double k) const {
        if (x_ == 0 && a_.error == 0) return {v_, 0};
        return std::fabs(x_) > 2 * a_.error ? with_slope(std::fabs(k * v_ / x_)) : unknown_value;
    }

    Approximate function(Op op) const {
        const long double size = std::fabs(x_);
        const Approximate at_border = a_.error == 0 ? with_slope(0) : unknown_value;
        switch (op) {
            case Op::sin:
            case Op::cos:
            case Op::tanh:
                return with_slope(1);
            case Op::tan:
                return with_slope(1 + v_ * v_);
            case Op::asin:
            case Op::acos:
                return size + 2 * a_.error < 1 ? with_slope(1 / std::sqrt(1 - x_ * x_)) : at_border;
            case Op::atan:
                return with_slope(1 / (1 + x_ * x_));
            case Op::sinh:
                return with_slope(std::cosh(x_));
            case Op::cosh:
                return with_slope(std::fabs(std::sinh(x_)));
            case Op::asinh:
                return with_slope(1 / std::sqrt(1 + x_ * x_));
            case Op::acosh:
                return x_ - 2 * a_.error > 1 ? with_slope(1 / std::sqrt(x_ * x_ - 1)) : at_border;
            case Op::atanh:
                return size + 2 * a_.error < 1 ? with_slope(1 / (1 - x_ * x_)) : unknown_value;
            case Op::exp:
                return with_slope(v_);
            case Op::log:
                return x_ > 2 * a_.error ? with_slope(1 / x_) : unknown_value;
            case Op::erf:
                return with_slope(2 * std::numbers::inv_sqrtpi_v<long double> * std::exp(-x_ * x_));
            default:
                return unknown_value;
        }
    }

    const Approximate& a_;
    long double v_;
    long double x_;
};

// `b`: the second operand, where there is one.
Approximate ground_value(Op op, const Approximate& a, const Approximate& b) {
    if (arity(op) == 2) return ErrorBound(a, binary_value(op, a.value, b.value)).binary(op, b);
    return ErrorBound(a, unary_value(op, a.value)).unary(op);
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
