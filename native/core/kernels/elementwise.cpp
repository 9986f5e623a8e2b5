// Compiled once for each instruction set with SIMPLIPY_ISA naming it. Only C headers and internal functions here: an
// inline function shared with other files would be emitted with these instructions and could run on an older CPU.

#include <math.h>

#include "../kernels.hpp"

namespace simplipy::SIMPLIPY_ISA {
namespace {

#define SIMPLIPY_EACH for (std::size_t i = 0; i < (n & ~(lane_count - 1)); ++i)

constexpr double undefined = __builtin_nan("");

// ---- values: one struct an operator

struct Abs { static double f(double a) { return fabs(a); } };
struct Inv { static double f(double a) { return a == 0.0 ? undefined : 1.0 / a; } };
struct Neg { static double f(double a) { return -a; } };
struct Pow2 { static double f(double a) { return a * a; } };
struct Pow3 { static double f(double a) { return a * a * a; } };
struct Pow4 { static double f(double a) { const double s = a * a; return s * s; } };
struct Pow5 { static double f(double a) { const double s = a * a; return s * s * a; } };
struct Root2 { static double f(double a) { return sqrt(a); } };
struct Root3 { static double f(double a) { return cbrt(a); } };
struct Root4 { static double f(double a) { return sqrt(sqrt(a)); } };
struct Root5 {
    static double f(double a) {
        const double magnitude = fabs(a);
        const double guess = exp(0.2 * log(magnitude));
        const double square = guess * guess;
        const double root = guess - 0.2 * (guess - magnitude / (square * square));  // one Newton step to full precision
        const double finite = magnitude > 0.0 && magnitude < __builtin_inf() ? root : magnitude;
        return copysign(finite, a);
    }
};
struct Sin { static double f(double a) { return sin(a); } };
struct Cos { static double f(double a) { return cos(a); } };
struct Tan { static double f(double a) { return tan(a); } };
struct Asin { static double f(double a) { return asin(a); } };
struct Acos { static double f(double a) { return acos(a); } };
struct Atan { static double f(double a) { return atan(a); } };
struct Sinh { static double f(double a) { return sinh(a); } };
struct Cosh { static double f(double a) { return cosh(a); } };
struct Tanh { static double f(double a) { return tanh(a); } };
struct Asinh { static double f(double a) { return asinh(a); } };
struct Acosh { static double f(double a) { return acosh(a); } };
struct Atanh { static double f(double a) { const double v = atanh(a); return fabs(a) < 1.0 ? v : undefined; } };
struct Exp { static double f(double a) { return exp(a); } };
struct Log { static double f(double a) { const double v = log(a); return a > 0.0 ? v : undefined; } };
template <int k>
struct Mult { static double f(double a) { return k * a; } };
template <int k>
struct Div { static double f(double a) { return a / k; } };

struct Add { static double f(double a, double b) { return a + b; } };
struct Sub { static double f(double a, double b) { return a - b; } };
struct Mul { static double f(double a, double b) { return a * b; } };
struct Quotient { static double f(double a, double b) { return b == 0.0 ? undefined : a / b; } };
struct Pow {
    static double f(double a, double b) {
        const double v = pow(a, b);
        const bool pole = a == 0.0 && b < 0.0;
        return pole || a != a || b != b ? undefined : v;
    }
};

// ---- adjoints: d(value)/d(operand) from operand a (and b) and value v

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
template <int k>
struct MultD { static double d(double, double) { return k; } };
template <int k>
struct DivD { static double d(double, double) { return 1.0 / k; } };

struct One { static double d(double, double, double) { return 1.0; } };
struct MinusOne { static double d(double, double, double) { return -1.0; } };
struct Left { static double d(double a, double, double) { return a; } };
struct Right { static double d(double, double b, double) { return b; } };
struct QuotientDa { static double d(double, double b, double) { return 1.0 / b; } };
struct QuotientDb { static double d(double, double b, double v) { return -v / b; } };
struct PowDa {  // b a^(b-1); v / a where that is safe, for it costs no second power
    static double d(double a, double b, double v) {
        const double at_zero = b == 1.0 ? 1.0 : (b > 1.0 || b == 0.0 ? 0.0 : __builtin_inf());
        return a == 0.0 ? at_zero : b * v / a;
    }
};
struct PowDb {  // v log a; at a = 0 the limit 0 for b > 0; undefined for a < 0, where only integers b have a value
    static double d(double a, double b, double v) {
        const double slope = v * log(a);
        return a == 0.0 && b > 0.0 ? 0.0 : (a > 0.0 ? slope : undefined);
    }
};

// ---- loops

template <class F>
void unary(std::size_t n, const double* a, double* out) {
#pragma omp simd
    SIMPLIPY_EACH out[i] = F::f(a[i]);
}

template <class F>
void block_block(std::size_t n, const double* a, const double* b, double* out) {
#pragma omp simd
    SIMPLIPY_EACH out[i] = F::f(a[i], b[i]);
}

template <class F>
void block_number(std::size_t n, const double* a, const double* b, double* out) {
    const double number = *b;
#pragma omp simd
    SIMPLIPY_EACH out[i] = F::f(a[i], number);
}

template <class F>
void number_block(std::size_t n, const double* a, const double* b, double* out) {
    const double number = *a;
#pragma omp simd
    SIMPLIPY_EACH out[i] = F::f(number, b[i]);
}

template <class D>
void unary_adjoint(std::size_t n, const double* a, const double* v, const double* g, double* out) {
#pragma omp simd
    SIMPLIPY_EACH out[i] = g[i] * D::d(a[i], v[i]);
}

template <class D>
void block_block_adjoint(std::size_t n, const double* a, const double* b, const double* v, const double* g,
                         double* out) {
#pragma omp simd
    SIMPLIPY_EACH out[i] = g[i] * D::d(a[i], b[i], v[i]);
}

template <class D>
void block_number_adjoint(std::size_t n, const double* a, const double* b, const double* v, const double* g,
                          double* out) {
    const double number = *b;
#pragma omp simd
    SIMPLIPY_EACH out[i] = g[i] * D::d(a[i], number, v[i]);
}

template <class D>
void number_block_adjoint(std::size_t n, const double* a, const double* b, const double* v, const double* g,
                          double* out) {
    const double number = *a;
#pragma omp simd
    SIMPLIPY_EACH out[i] = g[i] * D::d(number, b[i], v[i]);
}

#define SIMPLIPY_SHAPES(F) {block_block<F>, block_number<F>, number_block<F>}
#define SIMPLIPY_ADJOINTS(D) {block_block_adjoint<D>, block_number_adjoint<D>, number_block_adjoint<D>}
#define SIMPLIPY_STRING(x) #x
#define SIMPLIPY_NAME(x) SIMPLIPY_STRING(x)

}  // namespace

// clang-format off
extern const Kernels kernels = {
    SIMPLIPY_NAME(SIMPLIPY_ISA),
    {nullptr, nullptr, nullptr, nullptr, nullptr,
     unary<Abs>, unary<Inv>, unary<Neg>, unary<Pow2>, unary<Pow3>, unary<Pow4>, unary<Pow5>,
     unary<Root2>, unary<Root3>, unary<Root4>, unary<Root5>,
     unary<Sin>, unary<Cos>, unary<Tan>, unary<Asin>, unary<Acos>, unary<Atan>,
     unary<Sinh>, unary<Cosh>, unary<Tanh>, unary<Asinh>, unary<Acosh>, unary<Atanh>, unary<Exp>, unary<Log>,
     unary<Mult<2>>, unary<Mult<3>>, unary<Mult<4>>, unary<Mult<5>>,
     unary<Div<2>>, unary<Div<3>>, unary<Div<4>>, unary<Div<5>>},
    {SIMPLIPY_SHAPES(Add), SIMPLIPY_SHAPES(Sub), SIMPLIPY_SHAPES(Mul), SIMPLIPY_SHAPES(Quotient), SIMPLIPY_SHAPES(Pow)},
    {nullptr, nullptr, nullptr, nullptr, nullptr,
     unary_adjoint<AbsD>, unary_adjoint<InvD>, unary_adjoint<NegD>, unary_adjoint<Pow2D>, unary_adjoint<Pow3D>,
     unary_adjoint<Pow4D>, unary_adjoint<Pow5D>, unary_adjoint<Root2D>, unary_adjoint<Root3D>, unary_adjoint<Root4D>,
     unary_adjoint<Root5D>, unary_adjoint<SinD>, unary_adjoint<CosD>, unary_adjoint<TanD>, unary_adjoint<AsinD>,
     unary_adjoint<AcosD>, unary_adjoint<AtanD>, unary_adjoint<SinhD>, unary_adjoint<CoshD>, unary_adjoint<TanhD>,
     unary_adjoint<AsinhD>, unary_adjoint<AcoshD>, unary_adjoint<AtanhD>, unary_adjoint<ExpD>, unary_adjoint<LogD>,
     unary_adjoint<MultD<2>>, unary_adjoint<MultD<3>>, unary_adjoint<MultD<4>>, unary_adjoint<MultD<5>>,
     unary_adjoint<DivD<2>>, unary_adjoint<DivD<3>>, unary_adjoint<DivD<4>>, unary_adjoint<DivD<5>>},
    {SIMPLIPY_ADJOINTS(One), SIMPLIPY_ADJOINTS(One), SIMPLIPY_ADJOINTS(Right), SIMPLIPY_ADJOINTS(QuotientDa),
     SIMPLIPY_ADJOINTS(PowDa)},
    {SIMPLIPY_ADJOINTS(One), SIMPLIPY_ADJOINTS(MinusOne), SIMPLIPY_ADJOINTS(Left), SIMPLIPY_ADJOINTS(QuotientDb),
     SIMPLIPY_ADJOINTS(PowDb)},
};
// clang-format on

}  // namespace simplipy::SIMPLIPY_ISA
