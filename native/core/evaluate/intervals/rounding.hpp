// Arithmetic on doubles rounded down or up, in any rounding mode of the processor: error-free transformations tell
// whether a result is exact, so that exact results stay as they are. An infinite operand stands for a number beyond
// the doubles; a lower bound is never +inf, an upper bound never -inf.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace simplipy {

inline constexpr double infinite = std::numeric_limits<double>::infinity();
inline constexpr double largest = std::numeric_limits<double>::max();
inline constexpr double smallest = std::numeric_limits<double>::denorm_min();
// of this size and above, the rounding error of a product or a quotient is a double itself
inline constexpr double error_is_exact = 1e-280;

// The next double towards -inf; infinities stay.
inline double next_down(double x) {
    if (x == 0.0) return -smallest;
    if (!(std::fabs(x) < infinite)) return x;
    const auto bits = std::bit_cast<std::int64_t>(x);
    return std::bit_cast<double>(x > 0.0 ? bits - 1 : bits + 1);
}

// A bound that no number reached: +inf from finite operands is an overflow.
inline double finite_floor(double x) { return x == infinite ? largest : x; }

inline double add_down(double a, double b) {
    const double sum = a + b;
    if (sum != sum) return -infinite;
    if (!(std::fabs(sum) < infinite)) return finite_floor(sum);
    const double part = sum - a;
    const double error = (a - (sum - part)) + (b - part);
    return error < 0.0 ? next_down(sum) : sum;
}

inline double multiply_down(double a, double b) {
    if (a == 0.0 || b == 0.0) return 0.0;  // also beside a number beyond the doubles
    const double product = a * b;
    if (!(std::fabs(product) < infinite)) return finite_floor(product);
    if (std::fabs(product) < error_is_exact) return product == 0.0 && (a > 0.0) == (b > 0.0) ? 0.0 : next_down(product);
    return std::fma(a, b, -product) < 0.0 ? next_down(product) : product;
}

// Of a divisor b >= 0, which is infinite beside a >= 0 alone.
inline double divide_down(double a, double b) {
    if (a == 0.0 || b == infinite) return 0.0;
    if (b == 0.0) return a > 0.0 ? largest : -infinite;  // b may be -0
    const double quotient = a / b;
    if (!(std::fabs(quotient) < infinite)) return finite_floor(quotient);
    if (std::fabs(quotient) < error_is_exact || std::fabs(a) < error_is_exact)
        return quotient == 0.0 && a > 0.0 ? 0.0 : next_down(quotient);
    return std::fma(-quotient, b, a) < 0.0 ? next_down(quotient) : quotient;
}

inline double add_up(double a, double b) { return -add_down(-a, -b); }
inline double multiply_up(double a, double b) { return -multiply_down(-a, b); }
inline double divide_up(double a, double b) { return -divide_down(-a, b); }

}  // namespace simplipy
