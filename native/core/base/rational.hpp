// Exact rationals on 128-bit integers. A result that does not fit throws Overflow, and the caller refuses the rewrite
// that needs it.
#pragma once

#include <cstdint>
#include <optional>

#include "number.hpp"

namespace simplipy {

struct Overflow {};

__extension__ using Int128 = __int128;

Int128 gcd(Int128 a, Int128 b);
Int128 checked_product(Int128 a, Int128 b);

struct Rational {
    Int128 p = 0;
    Int128 q = 1;  // > 0, no common factor with p

    constexpr Rational() = default;
    constexpr Rational(std::int64_t value) : p(value) {}
    static Rational reduced(Int128 p, Int128 q);
    static Rational of(std::int64_t p, std::int64_t q) { return reduced(p, q); }

    bool is_integer() const { return q == 1; }
    bool is_zero() const { return p == 0; }
    bool is_one() const { return p == 1 && q == 1; }
    int sign() const { return p > 0 ? 1 : (p < 0 ? -1 : 0); }
    bool odd_denominator() const { return (q & 1) != 0; }
    bool even_integer() const { return q == 1 && (p & 1) == 0; }
    bool even_numerator() const { return (p & 1) == 0; }
    // x^r is a power of x^2, such as x^(2/3): defined everywhere and never negative.
    bool even_power() const { return odd_denominator() && even_numerator(); }
    Rational absolute() const { return p < 0 ? -*this : *this; }
    double value() const {
        // conversion of 128-bit integers is a call
        if (is_small()) return static_cast<double>(static_cast<int>(p)) / static_cast<double>(static_cast<int>(q));
        return static_cast<double>(p) / static_cast<double>(q);
    }
    bool is_double() const {
        constexpr Int128 limit = Int128(1) << 53;
        return (q & (q - 1)) == 0 && p > -limit && p < limit;
    }
    bool is_unit() const { return q == 1 && (p == 1 || p == -1); }
    // The value where it is a small integer, else 0.
    int small() const { return q == 1 && p > -1000000 && p < 1000000 ? static_cast<int>(p) : 0; }

    Rational operator-() const {
        Rational r = *this;
        r.p = -r.p;
        return r;
    }
    friend bool operator==(const Rational&, const Rational&) = default;

    // Both parts small: then products of two such need no check and 64-bit arithmetic does.
    bool is_small() const { return p > -0x7fffffff && p < 0x7fffffff && q < 0x7fffffff; }
};

// The cases that are not between integers. They and the exception stay out of line: spread over every caller they
// would crowd the instruction cache.
Rational general_sum(const Rational& a, const Rational& b);
Rational general_product(const Rational& a, const Rational& b);
bool general_less(const Rational& a, const Rational& b);
[[noreturn]] void throw_overflow();

inline Rational operator+(const Rational& a, const Rational& b) {
    if (a.q != 1 || b.q != 1) return general_sum(a, b);
    Rational r;
    if (__builtin_add_overflow(a.p, b.p, &r.p)) throw_overflow();
    return r;
}
inline Rational operator-(const Rational& a, const Rational& b) { return a + (-b); }
// Nothing where the product does not fit.
std::optional<Rational> product_that_fits(const Rational& a, const Rational& b);

inline Rational operator*(const Rational& a, const Rational& b) {
    if (a.q != 1 || b.q != 1 || !a.is_small() || !b.is_small()) return general_product(a, b);
    return Rational(static_cast<std::int64_t>(a.p) * static_cast<std::int64_t>(b.p));
}
// of a number that is not 0
inline Rational reciprocal(const Rational& a) {
    Rational r;
    r.p = a.p < 0 ? -a.q : a.q;
    r.q = a.p < 0 ? -a.p : a.p;
    return r;
}
inline Rational operator/(const Rational& a, const Rational& b) { return a * reciprocal(b); }
inline bool operator<(const Rational& a, const Rational& b) { return a.q == b.q ? a.p < b.p : general_less(a, b); }

// base^n for an integer n; nothing when it grows beyond what a number token can hold.
std::optional<Rational> integer_power(const Rational& base, int n);

// The exact n-th root, real and, for odd n, also of negative numbers; nothing when it is irrational or undefined.
std::optional<Rational> exact_root(const Rational& base, int n);

// The exact rational of a literal; nothing when it does not fit 128 bits.
std::optional<Rational> to_rational(Decimal number);

// The literal with this value, if it is a decimal of at most 17 digits.
std::optional<Decimal> to_decimal(const Rational& value);

}  // namespace simplipy
