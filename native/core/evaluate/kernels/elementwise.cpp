// Compiled once for each instruction set with SIMPLIPY_ISA naming it. Only C headers and internal functions here: an
// inline function shared with other files would be emitted with these instructions and could run on an older CPU.

#include <math.h>

#include "core/evaluate/kernels.hpp"

namespace simplipy::SIMPLIPY_ISA {
namespace {

constexpr std::size_t strip = 64;  // lanes of a guarded kernel at a time

#define SIMPLIPY_EACH for (std::size_t i = 0; i < (n & ~(lane_count - 1)); ++i)

constexpr double undefined = __builtin_nan("");
constexpr double infinity = __builtin_inf();

// Vector functions leave the vector unit for lanes outside their comfortable range, at ten times the cost. Undefined
// and extreme lanes are common in candidate formulas, so a guarded kernel treats strips with such lanes in three loops:
// `prepare` gives them a harmless argument, `call` is the library's function, `finish` selects their result. In one
// loop the compiler would see that the harmless argument is never used, and drop it. Either way a lane's value depends
// on its own argument alone.

double within(bool inside, double a, double harmless) { return inside ? a : harmless; }

struct Sum {
    double high;
    double low;
};

Sum two_sum(double a, double b) {
    const double s = a + b;
    const double t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}

// a - k * 2 pi with k the nearest integer, as an unevaluated sum; for |a| up to 2^50, where k is exact.
Sum reduce_angle(double a) {
    constexpr double two_pi_1 = 6.283185307179586;
    constexpr double two_pi_2 = 2.4492935982947064e-16;
    constexpr double two_pi_3 = -5.989539619436679e-33;
    const double k = __builtin_nearbyint(a * 0.15915494309189535);
    const double p = k * two_pi_1;
    const double p_low = __builtin_fma(k, two_pi_1, -p);
    const double q = k * two_pi_2;
    const double q_low = __builtin_fma(k, two_pi_2, -q);
    const Sum first = two_sum(a - p, -p_low);  // a - p is exact: p is within a factor of two of a
    const Sum second = two_sum(first.high, -q);
    return {second.high, first.low + second.low - q_low - k * two_pi_3};
}

constexpr double small_angle = 1e4;     // below, the library's own reduction is fast
constexpr double large_angle = 0x1p50;  // above, a double's neighbours are further apart than a turn's digits; rare

// Values: one struct an operator, one line where it fits.
// clang-format off

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
        const double guess = exp(0.2 * log(within(magnitude > 0.0 && magnitude < infinity, magnitude, 1.0)));
        const double square = guess * guess;
        const double root = guess - 0.2 * (guess - magnitude / (square * square));  // one Newton step to full precision
        const double finite = magnitude > 0.0 && magnitude < infinity ? root : magnitude;
        return copysign(finite, a);
    }
};
struct Sin {
    static double call(double a) { return sin(a); }
    static double quarter(double a) { return cos(a); }
    static double whole(double a) { return sin(a); }
};
struct Cos {
    static double call(double a) { return cos(a); }
    static double quarter(double a) { return -sin(a); }
    static double whole(double a) { return cos(a); }
};
struct Tan {
    static bool inside(double a) { return fabs(a) < infinity; }
    static double prepare(double a) { return within(inside(a), a, 0.0); }
    static double call(double a) { return tan(a); }
    static double finish(double a, double v) { return within(inside(a), v, undefined); }
};
struct OnUnitInterval {
    static bool inside(double a) { return fabs(a) <= 1.0; }
    static double prepare(double a) { return within(inside(a), a, 0.0); }
    static double finish(double a, double v) { return within(inside(a), v, undefined); }
};
struct Asin : OnUnitInterval { static double call(double a) { return asin(a); } };
struct Acos : OnUnitInterval { static double call(double a) { return acos(a); } };
struct Atan { static double f(double a) { return atan(a); } };
struct Hyperbolic {
    static constexpr double largest = 710.4758600739439;
    static bool inside(double a) { return fabs(a) <= largest; }
    static double prepare(double a) { return within(inside(a), a, 0.0); }
};
struct Sinh : Hyperbolic {
    static double call(double a) { return sinh(a); }
    static double finish(double a, double v) { return within(inside(a), v, a * infinity); }
};
struct Cosh : Hyperbolic {
    static double call(double a) { return cosh(a); }
    static double finish(double a, double v) { return within(inside(a), v, fabs(a) * infinity); }
};
struct Tanh { static double f(double a) { return tanh(a); } };
struct Asinh { static double f(double a) { return asinh(a); } };
struct Acosh {
    static bool inside(double a) { return a >= 1.0; }
    static double prepare(double a) { return within(inside(a), a, 2.0); }
    static double call(double a) { return acosh(a); }
    static double finish(double a, double v) { return within(inside(a), v, undefined); }
};
struct Atanh {
    static bool inside(double a) { return fabs(a) < 1.0; }
    static double prepare(double a) { return within(inside(a), a, 0.0); }
    static double call(double a) { return atanh(a); }
    static double finish(double a, double v) { return within(inside(a), v, undefined); }
};
struct Exp {  // subnormal results come from a shifted argument, scaled back
    static constexpr double largest = 709.782712893384;
    static constexpr double smallest = -708.0;
    static constexpr double shift = 44.3614195558365;  // 64 log 2
    static bool inside(double a) { return a >= smallest && a <= largest; }
    static double prepare(double a) {
        const double shifted = a > -752.0 ? a + shift : smallest;
        return within(a <= largest, a < smallest ? shifted : a, 0.0);
    }
    static double call(double a) { return exp(a); }
    static double finish(double a, double v) {
        const double scaled = v * (a < smallest ? 0x1p-64 : 1.0);
        return within(a <= largest, a > -752.0 ? scaled : 0.0, a > 0.0 ? infinity : undefined);
    }
};
struct Log {
    static bool inside(double a) { return a > 0.0 && a < infinity; }
    static double prepare(double a) { return within(inside(a), a, 1.0); }
    static double call(double a) { return log(a); }
    static double finish(double a, double v) { return within(a < infinity, a > 0.0 ? v : undefined, a + infinity); }
};
template <int k>
struct Mult { static double f(double a) { return k * a; } };
template <int k>
struct Div { static double f(double a) { return a / k; } };

struct Add { static double f(double a, double b) { return a + b; } };
struct Sub { static double f(double a, double b) { return a - b; } };
struct Mul { static double f(double a, double b) { return a * b; } };
struct Quotient { static double f(double a, double b) { return b == 0.0 ? undefined : a / b; } };
// clang-format on

struct Pow {
    static bool regular(double a, double b) { return a != 0.0 && fabs(a) < infinity && fabs(b) < infinity; }
    static double prepare_base(double a, double b) { return within(regular(a, b), fabs(a), 1.0); }
    static double prepare_exponent(double a, double b) { return within(regular(a, b), b, 1.0); }
    static double call(double a, double b) { return pow(a, b); }
    static double finish(double a, double b, double v) {
        const double half = 0.5 * b;
        const bool integer = floor(b) == b;
        const bool odd = integer && floor(half) != half;
        const double negative = within(integer, odd ? -v : v, undefined);
        const double at_zero = b > 0.0 ? 0.0 : within(b == 0.0, 1.0, undefined);
        return regular(a, b) ? (a < 0.0 ? negative : v) : (a == 0.0 ? at_zero : overflown(a, b));
    }
    // an operand that has overflown: the size of the result is known, its digits and sign are not
    static double overflown(double a, double b) {
        const double size = (a > 1.0) == (b > 0.0) ? infinity : 0.0;
        const bool known = b == b && a > 0.0 && a != 1.0;
        return within(b == 0.0 && a == a, 1.0, known ? size : undefined);
    }
};

// Adjoints: d(value)/d(operand) from operand a (and b) and value v.
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

template <class F>
void unary(std::size_t n, const double* a, double* out) {
#pragma omp simd
    SIMPLIPY_EACH out[i] = F::f(a[i]);
}

template <class F>
void guarded(std::size_t n, const double* a, double* out) {
    alignas(64) double buffer[strip];
    for (std::size_t start = 0; start < n; start += strip, a += strip, out += strip) {
        const std::size_t m = (n - start < strip ? n - start : strip) & ~(lane_count - 1);
        double n_outside = 0.0;
#pragma omp simd reduction(+ : n_outside)
        for (std::size_t i = 0; i < m; ++i) n_outside += F::inside(a[i]) ? 0.0 : 1.0;
        if (n_outside == 0.0) {
#pragma omp simd
            for (std::size_t i = 0; i < m; ++i) out[i] = F::call(a[i]);
            continue;
        }
#pragma omp simd
        for (std::size_t i = 0; i < m; ++i) buffer[i] = F::prepare(a[i]);
#pragma omp simd
        for (std::size_t i = 0; i < m; ++i) buffer[i] = F::call(buffer[i]);
#pragma omp simd
        for (std::size_t i = 0; i < m; ++i) out[i] = F::finish(a[i], buffer[i]);
    }
}

// Sine and cosine of large arguments take an exact reduction. Which way a lane goes depends on its own value alone.
template <class F>
void large_angles(std::size_t m, const double* a, double* out) {
    alignas(64) double high[strip];
    alignas(64) double low[strip];
#pragma omp simd
    for (std::size_t i = 0; i < m; ++i) {
        const Sum r = reduce_angle(within(fabs(a[i]) <= large_angle, a[i], 0.0));
        high[i] = r.high;
        low[i] = r.low;
    }
#pragma omp simd
    for (std::size_t i = 0; i < m; ++i) low[i] *= F::quarter(high[i]);
#pragma omp simd
    for (std::size_t i = 0; i < m; ++i) high[i] = F::whole(high[i]);
#pragma omp simd
    for (std::size_t i = 0; i < m; ++i) {
        const double size = fabs(a[i]);
        const double v = within(size <= large_angle, high[i] + low[i], undefined);
        out[i] = size <= small_angle ? out[i] : v;
    }
    for (std::size_t i = 0; i < m; ++i)
        if (fabs(a[i]) > large_angle && fabs(a[i]) < infinity) out[i] = F::whole(a[i]);
}

template <class F>
void periodic(std::size_t n, const double* a, double* out) {
    alignas(64) double buffer[strip];
    for (std::size_t start = 0; start < n; start += strip, a += strip, out += strip) {
        const std::size_t m = (n - start < strip ? n - start : strip) & ~(lane_count - 1);
        double n_small = 0.0;
        double n_large = 0.0;
#pragma omp simd reduction(+ : n_small, n_large)
        for (std::size_t i = 0; i < m; ++i) {
            n_small += fabs(a[i]) <= small_angle ? 1.0 : 0.0;
            n_large += fabs(a[i]) > small_angle ? 1.0 : 0.0;
        }
        if (n_small == static_cast<double>(m)) {
#pragma omp simd
            for (std::size_t i = 0; i < m; ++i) out[i] = F::call(a[i]);
            continue;
        }
#pragma omp simd
        for (std::size_t i = 0; i < m; ++i) buffer[i] = within(fabs(a[i]) <= small_angle, a[i], 0.0);
#pragma omp simd
        for (std::size_t i = 0; i < m; ++i) buffer[i] = F::call(buffer[i]);
        if (n_large > 0.0) large_angles<F>(m, a, buffer);
#pragma omp simd
        for (std::size_t i = 0; i < m; ++i) out[i] = within(fabs(a[i]) < infinity, buffer[i], undefined);
    }
}

// Powers: operands are blocks or single numbers, told apart by their strides.
template <std::size_t a_stride, std::size_t b_stride>
void power(std::size_t n, const double* a, const double* b, double* out) {
    alignas(64) double base[strip];
    alignas(64) double exponent[strip];
    for (std::size_t start = 0; start < n; start += strip) {
        const std::size_t m = (n - start < strip ? n - start : strip) & ~(lane_count - 1);
#pragma omp simd
        for (std::size_t i = 0; i < m; ++i) {
            base[i] = Pow::prepare_base(a[i * a_stride], b[i * b_stride]);
            exponent[i] = Pow::prepare_exponent(a[i * a_stride], b[i * b_stride]);
        }
#pragma omp simd
        for (std::size_t i = 0; i < m; ++i) base[i] = Pow::call(base[i], exponent[i]);
#pragma omp simd
        for (std::size_t i = 0; i < m; ++i) out[i] = Pow::finish(a[i * a_stride], b[i * b_stride], base[i]);
        a += strip * a_stride;
        b += strip * b_stride;
        out += strip;
    }
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

// An infinite input is as undefined as a NaN: v - v is 0 for finite v only.
template <class T>
void load(std::size_t n, const T* first, std::ptrdiff_t stride, double* out) {
    if (stride == 1) {
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const double v = first[i];
            out[i] = within(v - v == 0.0, v, undefined);
        }
        return;
    }
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) {
        const double v = first[static_cast<std::ptrdiff_t>(i) * stride];
        out[i] = within(v - v == 0.0, v, undefined);
    }
}

#define SIMPLIPY_STRING(x) #x
#define SIMPLIPY_NAME(x) SIMPLIPY_STRING(x)

struct BinaryKernels {
    BinaryKernel values[n_shapes];
    BinaryAdjoint left[n_shapes];
    BinaryAdjoint right[n_shapes];
};

template <class Da, class Db>
constexpr BinaryKernels with_adjoints(BinaryKernel both, BinaryKernel left, BinaryKernel right) {
    return {{both, left, right},
            {block_block_adjoint<Da>, block_number_adjoint<Da>, number_block_adjoint<Da>},
            {block_block_adjoint<Db>, block_number_adjoint<Db>, number_block_adjoint<Db>}};
}

template <class F, class Da, class Db>
constexpr BinaryKernels elementwise() {
    return with_adjoints<Da, Db>(block_block<F>, block_number<F>, number_block<F>);
}

// One row an operator: its value, and the adjoints of its operands.
constexpr Kernels all_kernels() {
    Kernels k{SIMPLIPY_NAME(SIMPLIPY_ISA), load<double>, load<float>, {}, {}, {}, {}, {}};
    const auto unary_row = [&k](Op op, UnaryKernel value, UnaryAdjoint adjoint) {
        k.unary[static_cast<std::size_t>(op)] = value;
        k.unary_adjoint[static_cast<std::size_t>(op)] = adjoint;
    };
    const auto binary_row = [&k](Op op, const BinaryKernels& row) {
        for (std::size_t shape = 0; shape < n_shapes; ++shape) {
            k.binary[static_cast<std::size_t>(op)][shape] = row.values[shape];
            k.left_adjoint[static_cast<std::size_t>(op)][shape] = row.left[shape];
            k.right_adjoint[static_cast<std::size_t>(op)][shape] = row.right[shape];
        }
    };
    binary_row(Op::add, elementwise<Add, One, One>());
    binary_row(Op::sub, elementwise<Sub, One, MinusOne>());
    binary_row(Op::mul, elementwise<Mul, Right, Left>());
    binary_row(Op::div, elementwise<Quotient, QuotientDa, QuotientDb>());
    binary_row(Op::pow, with_adjoints<PowDa, PowDb>(power<1, 1>, power<1, 0>, power<0, 1>));
    unary_row(Op::abs, unary<Abs>, unary_adjoint<AbsD>);
    unary_row(Op::inv, unary<Inv>, unary_adjoint<InvD>);
    unary_row(Op::neg, unary<Neg>, unary_adjoint<NegD>);
    unary_row(Op::pow2, unary<Pow2>, unary_adjoint<Pow2D>);
    unary_row(Op::pow3, unary<Pow3>, unary_adjoint<Pow3D>);
    unary_row(Op::pow4, unary<Pow4>, unary_adjoint<Pow4D>);
    unary_row(Op::pow5, unary<Pow5>, unary_adjoint<Pow5D>);
    unary_row(Op::root2, unary<Root2>, unary_adjoint<Root2D>);
    unary_row(Op::root3, unary<Root3>, unary_adjoint<Root3D>);
    unary_row(Op::root4, unary<Root4>, unary_adjoint<Root4D>);
    unary_row(Op::root5, unary<Root5>, unary_adjoint<Root5D>);
    unary_row(Op::sin, periodic<Sin>, unary_adjoint<SinD>);
    unary_row(Op::cos, periodic<Cos>, unary_adjoint<CosD>);
    unary_row(Op::tan, guarded<Tan>, unary_adjoint<TanD>);
    unary_row(Op::asin, guarded<Asin>, unary_adjoint<AsinD>);
    unary_row(Op::acos, guarded<Acos>, unary_adjoint<AcosD>);
    unary_row(Op::atan, unary<Atan>, unary_adjoint<AtanD>);
    unary_row(Op::sinh, guarded<Sinh>, unary_adjoint<SinhD>);
    unary_row(Op::cosh, guarded<Cosh>, unary_adjoint<CoshD>);
    unary_row(Op::tanh, unary<Tanh>, unary_adjoint<TanhD>);
    unary_row(Op::asinh, unary<Asinh>, unary_adjoint<AsinhD>);
    unary_row(Op::acosh, guarded<Acosh>, unary_adjoint<AcoshD>);
    unary_row(Op::atanh, guarded<Atanh>, unary_adjoint<AtanhD>);
    unary_row(Op::exp, guarded<Exp>, unary_adjoint<ExpD>);
    unary_row(Op::log, guarded<Log>, unary_adjoint<LogD>);
    unary_row(Op::mult2, unary<Mult<2>>, unary_adjoint<MultD<2>>);
    unary_row(Op::mult3, unary<Mult<3>>, unary_adjoint<MultD<3>>);
    unary_row(Op::mult4, unary<Mult<4>>, unary_adjoint<MultD<4>>);
    unary_row(Op::mult5, unary<Mult<5>>, unary_adjoint<MultD<5>>);
    unary_row(Op::div2, unary<Div<2>>, unary_adjoint<DivD<2>>);
    unary_row(Op::div3, unary<Div<3>>, unary_adjoint<DivD<3>>);
    unary_row(Op::div4, unary<Div<4>>, unary_adjoint<DivD<4>>);
    unary_row(Op::div5, unary<Div<5>>, unary_adjoint<DivD<5>>);
    return k;
}

}  // namespace

extern constexpr Kernels kernels = all_kernels();

}  // namespace simplipy::SIMPLIPY_ISA
