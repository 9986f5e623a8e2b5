#include "bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace simplipy {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = std::numbers::pi;
constexpr double slack = 4e-15;  // more than the error of any function of the C library

// Outwards; 0 stays, and what underflows to 0 as an upper bound does not.
double below(double x) { return x - slack * std::fabs(x == -infinity ? 0.0 : x); }
double above(double x) { return x + slack * std::fabs(x == infinity ? 0.0 : x); }
double positive(double x) { return std::max(x, std::numeric_limits<double>::min()); }
Bounds outwards(double low, double high) {
    return {std::isnan(low) ? -infinity : below(low), std::isnan(high) ? infinity : above(high)};
}

Bounds clipped(Bounds b, double low, double high) { return {std::max(b.low, low), std::min(b.high, high)}; }

// pi as a bound is the number, which is larger than its double
Bounds argument_of(Bounds b) {
    if (b.low == -pi || b.low == -pi / 2) b.low = below(b.low);
    if (b.high == pi || b.high == pi / 2) b.high = above(b.high);
    return b;
}

Bounds finite_image(Op function, Bounds argument);

Bounds cosine(Bounds b) {
    const double farthest = std::max(std::fabs(b.low), std::fabs(b.high));
    if (!(farthest < 3.14)) return {-1.0, 1.0};
    const bool has_zero = b.low <= 0.0 && b.high >= 0.0;
    const double nearest = has_zero ? 0.0 : std::min(std::fabs(b.low), std::fabs(b.high));
    return clipped(outwards(std::cos(farthest), std::cos(nearest)), -1.0, 1.0);
}

Bounds hyperbolic_cosine(Bounds b) {
    const bool has_zero = b.low <= 0.0 && b.high >= 0.0;
    const double nearest = has_zero ? 0.0 : std::min(std::fabs(b.low), std::fabs(b.high));
    const double farthest = std::max(std::fabs(b.low), std::fabs(b.high));
    return clipped(outwards(std::cosh(nearest), std::cosh(farthest)), 1.0, infinity);
}

}  // namespace

Bounds image(Op function, Bounds argument) {
    static const std::array<Bounds, max_symbols> anywhere = [] {
        std::array<Bounds, max_symbols> table{};
        for (const OpInfo& row : operators()) table[index(row.op)] = finite_image(row.op, {-infinity, infinity});
        return table;
    }();
    const bool unbounded = argument.low == -infinity && argument.high == infinity;
    return unbounded ? anywhere[index(function)] : finite_image(function, argument);
}

namespace {

Bounds finite_image(Op function, Bounds argument) {
    const Bounds b = argument_of(argument);
    switch (function) {
        case Op::sin:
            if (b.low >= -1.57 && b.high <= 1.57) return outwards(std::sin(b.low), std::sin(b.high));
            return {b.low >= 0.0 && argument.high <= pi ? 0.0 : -1.0, b.high <= 0.0 && argument.low >= -pi ? 0.0 : 1.0};
        case Op::cos:
            if (argument.low >= -pi / 2 && argument.high <= pi / 2) return clipped(cosine(b), 0.0, 1.0);
            return cosine(b);
        case Op::tan:
            if (b.low >= -1.57 && b.high <= 1.57) return outwards(std::tan(b.low), std::tan(b.high));
            if (argument.low >= -pi / 2 && argument.high <= pi / 2)
                return {b.low >= 0.0 ? 0.0 : -infinity, b.high <= 0.0 ? 0.0 : infinity};
            return {-infinity, infinity};
        case Op::asin: {
            const Bounds in = clipped(b, -1.0, 1.0);
            return clipped(outwards(std::asin(in.low), std::asin(in.high)), -pi / 2, pi / 2);
        }
        case Op::acos: {
            const Bounds in = clipped(b, -1.0, 1.0);
            return clipped(outwards(std::acos(in.high), std::acos(in.low)), 0.0, pi);
        }
        case Op::atan:
            return clipped(outwards(std::atan(b.low), std::atan(b.high)), -pi / 2, pi / 2);
        case Op::sinh:
            return outwards(std::sinh(b.low), std::sinh(b.high));
        case Op::cosh:
            return hyperbolic_cosine(b);
        case Op::tanh:
            return clipped(outwards(std::tanh(b.low), std::tanh(b.high)), -1.0, 1.0);
        case Op::erf:
            return clipped(outwards(std::erf(b.low), std::erf(b.high)), -1.0, 1.0);
        case Op::asinh:
            return outwards(std::asinh(b.low), std::asinh(b.high));
        case Op::acosh:
            return outwards(std::acosh(std::max(b.low, 1.0)), std::acosh(std::max(b.high, 1.0)));
        case Op::atanh: {
            const Bounds in = clipped(b, -1.0, 1.0);
            return outwards(std::atanh(in.low), std::atanh(in.high));
        }
        case Op::log:
            return outwards(std::log(std::max(b.low, 0.0)), std::log(std::max(b.high, 0.0)));
        case Op::exp:
            return {b.low == 0.0 ? 1.0 : below(std::exp(b.low)),
                    b.high == 0.0 ? 1.0 : above(positive(std::exp(b.high)))};
        case Op::abs: {
            const bool has_zero = b.low <= 0.0 && b.high >= 0.0;
            return {has_zero ? 0.0 : std::min(std::fabs(b.low), std::fabs(b.high)),
                    std::max(std::fabs(b.low), std::fabs(b.high))};
        }
        default:
            return {-infinity, infinity};
    }
}

}  // namespace

Bounds power_image(Bounds base, const Rational& exponent) {
    if (exponent.is_one()) return base;
    const double k = exponent.value();
    const auto is_exact = [](double x) { return x == 0.0 || x == 1.0 || x == infinity; };
    const auto power = [k](double x) {  // of 0, 1 or inf
        if (x == 1.0) return 1.0;
        return (x == 0.0) == (k > 0) ? 0.0 : infinity;
    };
    const double at_low = k > 0 ? base.low : base.high;
    const double at_high = k > 0 ? base.high : base.low;
    return {is_exact(at_low) ? power(at_low) : below(std::pow(at_low, k)),
            is_exact(at_high) ? power(at_high) : above(positive(std::pow(at_high, k)))};
}

Bounds power_image(Bounds base, Bounds exponent) {
    if (!(base.low >= 1.0) || std::isinf(base.high) || std::isinf(exponent.low) || std::isinf(exponent.high))
        return {0.0, infinity};
    const double low = std::pow(exponent.low >= 0.0 ? base.low : base.high, exponent.low);
    const double high = std::pow(exponent.high >= 0.0 ? base.high : base.low, exponent.high);
    return outwards(low, positive(high));
}

Bounds times(Bounds a, Bounds b) {
    if (a.low == 1.0 && a.high == 1.0) return b;
    const bool exact = a.low == 1.0 || b.low == 1.0;
    const double low = a.low == 0.0 || b.low == 0.0 ? 0.0 : (exact ? a.low * b.low : below(a.low * b.low));
    const bool unbounded = a.high == infinity || b.high == infinity;  // 0 * inf may be anything
    if (unbounded) return {low, infinity};
    return {low, a.high == 0.0 || b.high == 0.0 ? 0.0 : above(positive(a.high * b.high))};
}

bool is_undefined_on(Op function, Bounds b) {
    switch (function) {
        case Op::log:
            return b.high <= 0.0;
        case Op::acosh:
            return b.high < 1.0;
        case Op::asin:
        case Op::acos:
            return b.low > 1.0 || b.high < -1.0;
        case Op::atanh:
            return b.low >= 1.0 || b.high <= -1.0;
        default:
            return false;
    }
}

}  // namespace simplipy
