// The derivative of each operator's value by each operand, d(a, v) or d(a, b, v), for one lane: from the operands a and
// b and the value v. For kernel files alone, as their internal functions.
#pragma once

#include <math.h>

#include "core/evaluate/kernels/values.hpp"

namespace simplipy::SIMPLIPY_ISA {
namespace {

// clang-format off

struct AbsD { static double d(double a, double) { return a > 0.0 ? 1.0 : (a < 0.0 ? -1.0 : 0.0); } };
struct InvD { static double d(double, double v) { return -v * v; } };
struct NegD { static double d(double, double) { return -1.0; } };
struct Pow2D { static double d(double a, double) { return 2.0 * a; } };
struct Pow3D { static double d(double a, double) { return 3.0 * a * a; } };
struct Pow4D { static double d(double a, double) { return 4.0 * a * a * a; } };
struct Pow5D { static double d(double a, double) { const double s = a * a; return 5.0 * s * s; } };
struct Root2D { static double d(double, double v) { return 0.5 / v; } };
struct Root3D { static double d(double, double v) { return 1.0 / (3.0 * v * v); } };
struct Root4D { static double d(double, double v) { return 0.25 / (v * v * v); } };
struct Root5D { static double d(double, double v) { const double s = v * v; return 0.2 / (s * s); } };
struct SinD { static double d(double a, double) { return cos(a); } };
struct CosD { static double d(double a, double) { return -sin(a); } };
struct TanD { static double d(double, double v) { return 1.0 + v * v; } };
struct AsinD { static double d(double a, double) { return 1.0 / sqrt((1.0 - a) * (1.0 + a)); } };
struct AcosD { static double d(double a, double) { return -1.0 / sqrt((1.0 - a) * (1.0 + a)); } };
struct AtanD { static double d(double a, double) { return 1.0 / (1.0 + a * a); } };
struct SinhD { static double d(double a, double) { return cosh(a); } };
struct CoshD { static double d(double a, double) { return sinh(a); } };
struct TanhD { static double d(double, double v) { return (1.0 - v) * (1.0 + v); } };
struct AsinhD { static double d(double a, double) { return 1.0 / sqrt(a * a + 1.0); } };
struct AcoshD { static double d(double a, double) { return 1.0 / (sqrt(a - 1.0) * sqrt(a + 1.0)); } };
struct AtanhD { static double d(double a, double) { return 1.0 / ((1.0 - a) * (1.0 + a)); } };
struct ExpD { static double d(double, double v) { return v; } };
struct LogD { static double d(double a, double) { return 1.0 / a; } };
struct ErfD { static double d(double a, double) { return 1.1283791670955126 * exp(-a * a); } };  // 2/sqrt(pi)
template <int k>
struct MultD { static double d(double, double) { return k; } };
template <int k>
struct DivD { static double d(double, double) { return 1.0 / k; } };

struct One { static double d(double, double, double) { return 1.0; } };
struct MinusOne { static double d(double, double, double) { return -1.0; } };
struct Left { static double d(double a, double, double) { return a; } };
struct Right { static double d(double, double b, double) { return b; } };
struct Above { static double d(double a, double b, double) { return a > b ? 1.0 : (a < b ? 0.0 : 0.5); } };
struct Below { static double d(double a, double b, double) { return a < b ? 1.0 : (a > b ? 0.0 : 0.5); } };
struct QuotientDa { static double d(double, double b, double) { return 1.0 / b; } };
struct QuotientDb { static double d(double, double b, double v) { return -v / b; } };
// clang-format on

struct PowDa {  // b a^(b-1); v / a where that is safe, for it costs no second power
    static double d(double a, double b, double v) {
        const double at_zero = b == 1.0 ? 1.0 : (b > 1.0 || b == 0.0 ? 0.0 : infinity);
        return a == 0.0 ? at_zero : b * v / a;
    }
};
struct PowDb {  // v log a; at a = 0 the limit 0 for b > 0; undefined for a < 0, where only integers b have a value
    static double d(double a, double b, double v) {
        const double slope = v * log(within(a > 0.0, a, 1.0));
        return a == 0.0 && b > 0.0 ? 0.0 : (a > 0.0 ? slope : undefined);
    }
};

}  // namespace
}  // namespace simplipy::SIMPLIPY_ISA
