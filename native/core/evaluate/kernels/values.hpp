// The value of each operator for one lane.
//
// A plain operator has f(a). A guarded one has inside(), prepare(), call() and finish(), a periodic one call(),
// quarter() and whole(): loops.hpp says which loop takes which. For kernel files alone, as their internal functions.
#pragma once

#include <math.h>

namespace simplipy::SIMPLIPY_ISA {
namespace {

constexpr double undefined = __builtin_nan("");
constexpr double infinity = __builtin_inf();

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
struct Erf { static double f(double a) { return erf(a); } };
template <int k>
struct Mult { static double f(double a) { return k * a; } };
template <int k>
struct Div { static double f(double a) { return a / k; } };

struct Add { static double f(double a, double b) { return a + b; } };
struct Sub { static double f(double a, double b) { return a - b; } };
struct Mul { static double f(double a, double b) { return a * b; } };
struct Min { static double f(double a, double b) { return a < b || a != a ? a : b; } };  // undefined where one is
struct Max { static double f(double a, double b) { return a > b || a != a ? a : b; } };
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

}  // namespace
}  // namespace simplipy::SIMPLIPY_ISA
