#include "interval.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/base/rational.hpp"
#include "rounding.hpp"

namespace simplipy {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double two_pi = 2.0 * std::numbers::pi;
constexpr double slack = 2e-15;       // relative; more than the error of any function of the C library
constexpr double root_slack = 2e-14;  // of a power whose exponent 1/5 is rounded
constexpr double turn_slack = 1e-15;  // of a number of turns, relative to it

// A value that carries the error of a function, rounded down. Zero is exact: what underflows has an image above it.
double below(double v, double relative = slack) {
    if (v == 0.0) return 0.0;
    return finite_floor(v) - (std::fabs(v) < infinite ? relative * std::fabs(v) : 0.0) - smallest;
}

struct Ends {
    double low;
    double high;
};

Ends around(double v, double relative = slack) { return {below(v, relative), -below(-v, relative)}; }

// Bounds of a function at one number.
using At = Ends (*)(double);

template <double (*function)(double)>
Ends library(double x) {
    return around(function(x));
}

Ends exponential(double x) {
    if (x == 0.0) return {1.0, 1.0};
    const double v = std::exp(x);
    return v == 0.0 ? Ends{0.0, smallest} : around(v);
}

Ends square_root(double x) {
    const double v = std::sqrt(x);
    if (!(x > error_is_exact && x < infinite)) return v == 0.0 || v == infinite ? Ends{finite_floor(v), v} : around(v);
    const double error = std::fma(-v, v, x);
    return {error < 0.0 ? next_down(v) : v, error > 0.0 ? -next_down(-v) : v};
}

Ends fourth_root(double x) { return {square_root(square_root(x).low).low, square_root(square_root(x).high).high}; }

Ends fifth_root(double x) { return around(std::copysign(std::pow(std::fabs(x), 0.2), x), root_slack); }

// Of an even power of a number >= 0, and of an odd one of any.
template <int k>
Ends power(double x) {
    double low = std::fabs(x);
    double high = low;
    for (int i = 1; i < k; ++i) {
        low = multiply_down(low, std::fabs(x));
        high = multiply_up(high, std::fabs(x));
    }
    low = finite_floor(low);
    return x < 0.0 ? Ends{-high, -low} : Ends{low, high};
}

Ends same(double x) { return {x, x}; }
Ends minus(double x) { return {-x, -x}; }

template <int k>
Ends multiple(double x) {
    return {multiply_down(k, x), multiply_up(k, x)};
}

template <int k>
Ends part(double x) {
    return {divide_down(x, k), divide_up(x, k)};
}

// How a function maps intervals: even ones rise with the absolute value.
enum class Course : std::uint8_t { special, rising, falling, even };

struct Shape {
    Course course = Course::special;
    At at = nullptr;
    Ends domain = {-infinite, infinite};
    bool is_open = false;  // the ends of the domain do not belong to it
    Ends image = {-infinite, infinite};
};

constexpr Ends all = {-infinite, infinite};
constexpr Ends non_negative = {0.0, infinite};
constexpr Ends from_one = {1.0, infinite};
constexpr Ends unit = {-1.0, 1.0};

// One row an operator; those that are not here have functions of their own.
constexpr std::array<Shape, max_symbols> shapes = [] {
    std::array<Shape, max_symbols> table{};
    const auto set = [&](Op op, Shape shape) { table[index(op)] = shape; };
    set(Op::neg, {Course::falling, minus});
    set(Op::abs, {Course::even, same, all, false, non_negative});
    set(Op::pow2, {Course::even, power<2>, all, false, non_negative});
    set(Op::pow3, {Course::rising, power<3>});
    set(Op::pow4, {Course::even, power<4>, all, false, non_negative});
    set(Op::pow5, {Course::rising, power<5>});
    set(Op::root2, {Course::rising, square_root, non_negative, false, non_negative});
    set(Op::root3, {Course::rising, library<std::cbrt>});
    set(Op::root4, {Course::rising, fourth_root, non_negative, false, non_negative});
    set(Op::root5, {Course::rising, fifth_root});
    set(Op::asin, {Course::rising, library<std::asin>, unit});
    set(Op::acos, {Course::falling, library<std::acos>, unit, false, non_negative});
    set(Op::atan, {Course::rising, library<std::atan>});
    set(Op::sinh, {Course::rising, library<std::sinh>});
    set(Op::cosh, {Course::even, library<std::cosh>, all, false, from_one});
    set(Op::tanh, {Course::rising, library<std::tanh>, all, false, unit});
    set(Op::asinh, {Course::rising, library<std::asinh>});
    set(Op::acosh, {Course::rising, library<std::acosh>, from_one, false, non_negative});
    set(Op::atanh, {Course::rising, library<std::atanh>, unit, true});
    set(Op::exp, {Course::rising, exponential, all, false, non_negative});
    set(Op::log, {Course::rising, library<std::log>, non_negative, true});
    set(Op::erf, {Course::rising, library<std::erf>, all, false, unit});
    set(Op::mult2, {Course::rising, multiple<2>});
    set(Op::mult3, {Course::rising, multiple<3>});
    set(Op::mult4, {Course::rising, multiple<4>});
    set(Op::mult5, {Course::rising, multiple<5>});
    set(Op::div2, {Course::rising, part<2>});
    set(Op::div3, {Course::rising, part<3>});
    set(Op::div4, {Course::rising, part<4>});
    set(Op::div5, {Course::rising, part<5>});
    return table;
}();

Defined restricted(Defined defined, bool is_inside, bool is_outside) {
    if (is_outside) return Defined::nowhere;
    return is_inside ? defined : std::min(defined, Defined::maybe);
}

Interval image_of(const Shape& shape, const Interval& a) {
    const auto [least, greatest] = shape.domain;
    const bool is_inside = shape.is_open ? a.low > least && (a.high < greatest || greatest == infinite)
                                         : a.low >= least && a.high <= greatest;
    const bool is_outside = shape.is_open ? a.high <= least || a.low >= greatest : a.high < least || a.low > greatest;
    const Defined defined = restricted(a.defined, is_inside, is_outside);
    double low = std::clamp(a.low, least, greatest);
    double high = std::clamp(a.high, least, greatest);
    if (shape.course == Course::even) {
        const double nearest = low <= 0.0 && high >= 0.0 ? 0.0 : std::min(std::fabs(low), std::fabs(high));
        high = std::max(std::fabs(low), std::fabs(high));
        low = nearest;
    }
    if (shape.course == Course::falling) std::swap(low, high);
    return {std::max(shape.at(low).low, shape.image.low), std::min(shape.at(high).high, shape.image.high), defined};
}

// Of the number x of turns: the whole numbers below it, with room for rounding on the side that is safe.
double turns_down(double x) { return std::floor(x - turn_slack * (std::fabs(x) + 1.0)); }
double turns_up(double x) { return std::floor(x + turn_slack * (std::fabs(x) + 1.0)); }

// Sine and cosine: 1 at `top` turns and whole turns from it, -1 half a turn further.
Interval wave(double (*function)(double), double top, const Interval& a) {
    if (!a.is_bounded()) return {-1.0, 1.0, std::min(a.defined, Defined::maybe)};
    const auto reaches = [&](double turn) {
        return turns_up(a.high / two_pi - turn) > turns_down(a.low / two_pi - turn);
    };
    const Ends first = around(function(a.low));
    const Ends last = around(function(a.high));
    const double low = reaches(top + 0.5) ? -1.0 : std::max(-1.0, std::min(first.low, last.low));
    const double high = reaches(top) ? 1.0 : std::min(1.0, std::max(first.high, last.high));
    return {low, high, a.defined};
}

Interval tangent(const Interval& a) {
    const double branch = tangent_branch(a);
    if (branch != branch) return {-infinite, infinite, std::min(a.defined, Defined::maybe)};
    return {around(std::tan(a.low)).low, around(std::tan(a.high)).high, a.defined};
}

Interval negative(const Interval& a) { return {-a.high, -a.low, a.defined}; }

Interval sum(const Interval& a, const Interval& b) {
    const bool may_cancel = (a.high == infinite && b.low == -infinite) || (a.low == -infinite && b.high == infinite);
    const Defined defined = restricted(std::min(a.defined, b.defined), !may_cancel, false);
    return {add_down(a.low, b.low), add_up(a.high, b.high), defined};
}

Interval product(const Interval& a, const Interval& b) {
    const bool may_vanish = (!a.is_bounded() && b.holds(0.0)) || (!b.is_bounded() && a.holds(0.0));
    const Defined defined = restricted(std::min(a.defined, b.defined), !may_vanish, false);
    if (a.low >= 0.0 && b.low >= 0.0) return {multiply_down(a.low, b.low), multiply_up(a.high, b.high), defined};
    return {std::min({multiply_down(a.low, b.low), multiply_down(a.low, b.high), multiply_down(a.high, b.low),
                      multiply_down(a.high, b.high)}),
            std::max({multiply_up(a.low, b.low), multiply_up(a.low, b.high), multiply_up(a.high, b.low),
                      multiply_up(a.high, b.high)}),
            defined};
}

Interval quotient(const Interval& a, const Interval& b) {
    if (b.high <= 0.0 && b.low < 0.0) return quotient(negative(a), negative(b));
    const bool may_fail = b.holds(0.0) || (!a.is_bounded() && !b.is_bounded());
    const Defined defined = restricted(std::min(a.defined, b.defined), !may_fail, b.low == 0.0 && b.high == 0.0);
    if (b.low < 0.0 || b.high == 0.0) return {-infinite, infinite, defined};
    return {divide_down(a.low, a.low >= 0.0 ? b.high : b.low), divide_up(a.high, a.high > 0.0 ? b.low : b.high),
            defined};
}

// Bounds of a^b for a base that is not negative: over a rectangle of log a and b the extremes are at the corners.
Interval positive_power(const Interval& a, const Interval& b) {
    double low = infinite;
    double high = 0.0;
    for (const double base : {a.low, a.high}) {
        for (const double exponent : {b.low, b.high}) {
            const double v = std::pow(base, exponent);
            const Ends ends = v == 0.0 && base > 0.0 ? Ends{0.0, smallest} : around(v);
            low = std::min(low, base == 1.0 ? 1.0 : ends.low);
            high = std::max(high, base == 1.0 ? 1.0 : ends.high);
        }
    }
    return {low, high, Defined::everywhere};
}

Interval whole_power(const Interval& a, double exponent) {
    if (exponent == 0.0) return {1.0, 1.0, a.defined};
    const Interval k = {exponent, exponent};
    const bool is_odd = std::floor(exponent / 2.0) * 2.0 != exponent;
    const bool has_zero = a.holds(0.0);
    const bool is_pole = exponent < 0.0 && has_zero;
    const Defined defined = restricted(a.defined, !is_pole, is_pole && a.is_point());
    if (a.low >= 0.0) {
        const Interval found = positive_power(a, k);
        return {found.low, found.high, defined};
    }
    const double farthest = std::max(-a.low, a.high);
    if (!is_odd) {
        const double nearest = has_zero ? 0.0 : std::min(-a.low, std::fabs(a.high));
        const Interval found = positive_power({nearest, farthest}, k);
        return {found.low, found.high, defined};
    }
    if (is_pole) return {-infinite, infinite, defined};
    const Interval below_zero = positive_power({has_zero ? 0.0 : -a.high, -a.low}, k);
    const double high = has_zero ? positive_power({0.0, a.high}, k).high : -below_zero.low;
    return {-below_zero.high, high, defined};
}

Interval general_power(const Interval& a, const Interval& b) {
    const Defined defined = std::min(a.defined, b.defined);
    if (b.is_point() && std::floor(b.low) == b.low && b.is_bounded())
        return whole_power({a.low, a.high, defined}, b.low);
    const bool has_whole = std::floor(b.high) >= std::ceil(b.low);
    const bool is_inside = b.is_bounded() && (a.low > 0.0 || (a.low == 0.0 && b.low >= 0.0));
    const bool is_outside = (a.high < 0.0 && !has_whole) || (a.low == 0.0 && a.high == 0.0 && b.high < 0.0);
    const Defined where = restricted(defined, is_inside, is_outside);
    if (a.low >= 0.0 || !has_whole) {
        const Interval found = positive_power({std::max(a.low, 0.0), std::max(a.high, 0.0)}, b);
        return {found.low, found.high, where};
    }
    const double nearest = a.holds(0.0) ? 0.0 : -a.high;
    const double size = positive_power({nearest, std::max(-a.low, std::fabs(a.high))}, b).high;
    return {-size, size, where};
}

}  // namespace

bool Interval::is_bounded() const { return low > -infinite && high < infinite; }

double tangent_branch(const Interval& a) {
    if (!a.is_bounded()) return std::nan("");
    const double first = turns_down(a.low / pi - 0.5);
    return first == turns_up(a.high / pi - 0.5) ? first : std::nan("");
}

Interval leaf_interval(const Node& node) {
    const auto rounded = [](double v) { return Interval{next_down(v), -next_down(-v)}; };
    switch (node.op) {
        case Op::pi:
            return rounded(pi);
        case Op::e:
            return rounded(std::numbers::e);
        case Op::number: {
            const double v = to_double(node.decimal());
            const std::optional<Rational> exact = to_rational(node.decimal());
            return exact && exact->is_double() ? Interval{v, v} : rounded(v);
        }
        case Op::constant:
            return {-infinite, infinite};
        default:  // inf, -inf and nan are no real numbers
            return {-infinite, infinite, Defined::nowhere};
    }
}

Interval apply(Op op, const Interval& a) {
    const Shape& shape = shapes[index(op)];
    if (shape.course != Course::special) return image_of(shape, a);
    if (op == Op::inv) return quotient({1.0, 1.0}, a);
    if (op == Op::sin) return wave(std::sin, 0.25, a);
    if (op == Op::cos) return wave(std::cos, 0.0, a);
    return tangent(a);
}

Interval apply(Op op, const Interval& a, const Interval& b) {
    switch (op) {
        case Op::add:
            return sum(a, b);
        case Op::sub:
            return sum(a, negative(b));
        case Op::mul:
            return product(a, b);
        case Op::div:
            return quotient(a, b);
        case Op::pow:
            return general_power(a, b);
        case Op::min:
            return {std::min(a.low, b.low), std::min(a.high, b.high), std::min(a.defined, b.defined)};
        default:
            return {std::max(a.low, b.low), std::max(a.high, b.high), std::min(a.defined, b.defined)};
    }
}

}  // namespace simplipy
