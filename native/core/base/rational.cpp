#include "rational.hpp"

#include <bit>
#include <cmath>

namespace simplipy {
namespace {

constexpr Int128 largest_literal = 100000000000000000;  // 10^17: beyond, an integer is no literal

// p / q in lowest terms for 64-bit numbers, q > 0.
Rational reduced_small(std::int64_t p, std::int64_t q) {
    auto a = static_cast<std::uint64_t>(p < 0 ? -p : p);
    auto b = static_cast<std::uint64_t>(q);
    while (b != 0) {
        const std::uint64_t t = a % b;
        a = b;
        b = t;
    }
    Rational r;
    r.p = p / static_cast<std::int64_t>(a);
    r.q = q / static_cast<std::int64_t>(a);
    return r;
}

Int128 checked_sum(Int128 a, Int128 b) {
    Int128 result = 0;
    if (__builtin_add_overflow(a, b, &result)) throw_overflow();
    return result;
}

std::optional<Int128> integer_root(Int128 value, int n) {
    if (value < 0) {
        if (n % 2 == 0) return std::nullopt;
        const auto root = integer_root(-value, n);
        return root ? std::optional(-*root) : std::nullopt;
    }
    if (value <= 1) return n > 0 ? std::optional(value) : std::nullopt;
    if (n < 1 || n > 127) return std::nullopt;  // a power of 2 or more would not fit
    const auto guess = static_cast<Int128>(std::llround(std::pow(static_cast<double>(value), 1.0 / n)));
    for (Int128 root = guess > 0 ? guess - 1 : 0; root <= guess + 1; ++root) {
        Int128 product = 1;
        bool fits = true;
        for (int i = 0; i < n && fits; ++i) fits = !__builtin_mul_overflow(product, root, &product);
        if (fits && product == value) return root;
    }
    return std::nullopt;
}

}  // namespace

void throw_overflow() { throw Overflow{}; }

Int128 gcd(Int128 a, Int128 b) {
    if (a < 0) a = -a;
    if (b < 0) b = -b;
    while (b != 0) {
        if (a <= INT64_MAX && b <= INT64_MAX) {  // 128-bit division is ten times as slow
            auto x = static_cast<std::uint64_t>(a);
            auto y = static_cast<std::uint64_t>(b);
            while (y != 0) {
                const std::uint64_t t = x % y;
                x = y;
                y = t;
            }
            return static_cast<Int128>(x);
        }
        const Int128 t = a % b;
        a = b;
        b = t;
    }
    return a;
}

Int128 checked_product(Int128 a, Int128 b) {
    Int128 result = 0;
    if (__builtin_mul_overflow(a, b, &result)) throw_overflow();
    return result;
}

Rational Rational::reduced(Int128 p, Int128 q) {
    if (q < 0) {
        p = -p;
        q = -q;
    }
    if (q != 1) {
        const Int128 g = gcd(p, q);
        if (g != 1) {
            p /= g;
            q /= g;
        }
    }
    Rational r;
    r.p = p;
    r.q = q;
    return r;
}

Rational general_sum(const Rational& a, const Rational& b) {
    if (a.is_small() && b.is_small()) {
        const auto ap = static_cast<std::int64_t>(a.p);
        const auto aq = static_cast<std::int64_t>(a.q);
        const auto bp = static_cast<std::int64_t>(b.p);
        const auto bq = static_cast<std::int64_t>(b.q);
        return reduced_small(ap * bq + bp * aq, aq * bq);
    }
    const Int128 common = gcd(a.q, b.q);
    const Int128 b_rest = b.q / common;
    return Rational::reduced(checked_sum(checked_product(a.p, b_rest), checked_product(b.p, a.q / common)),
                             checked_product(a.q, b_rest));
}

Rational general_product(const Rational& a, const Rational& b) {
    if (a.is_small() && b.is_small())
        return reduced_small(static_cast<std::int64_t>(a.p) * static_cast<std::int64_t>(b.p),
                             static_cast<std::int64_t>(a.q) * static_cast<std::int64_t>(b.q));
    const auto product = product_that_fits(a, b);
    if (!product) throw_overflow();
    return *product;
}

std::optional<Rational> product_that_fits(const Rational& a, const Rational& b) {
    if (a.is_small() && b.is_small()) return a * b;
    if (a.is_zero() || b.is_zero()) return Rational(0);
    const Int128 above = gcd(a.p, b.q);
    const Int128 below = gcd(b.p, a.q);
    Rational r;
    if (__builtin_mul_overflow(a.p / above, b.p / below, &r.p)) return std::nullopt;
    if (__builtin_mul_overflow(a.q / below, b.q / above, &r.q)) return std::nullopt;
    return r;
}

// By integer parts, then by the reciprocals of what is left over: nothing grows.
bool general_less(const Rational& a, const Rational& b) {
    const auto floor = [](const Rational& x) { return x.p / x.q - (x.p % x.q < 0 ? 1 : 0); };
    Rational x = a;
    Rational y = b;
    for (bool turned = false;; turned = !turned) {
        const Int128 whole = floor(x);
        const Int128 other = floor(y);
        if (whole != other) return (whole < other) != turned;
        x.p -= whole * x.q;
        y.p -= other * y.q;
        if (x.p == 0 || y.p == 0) return turned ? x.p != 0 && y.p == 0 : x.p == 0 && y.p != 0;
        x = reciprocal(x);
        y = reciprocal(y);
    }
}

std::optional<Rational> integer_power(const Rational& base, int n) {
    if (n < 0) {
        if (base.is_zero()) return std::nullopt;
        return integer_power(reciprocal(base), -n);
    }
    if (base.is_unit()) return n % 2 == 0 ? Rational(1) : base;
    if (base.is_zero()) return Rational(n == 0 ? 1 : 0);
    Rational result(1);
    for (int i = 0; i < n; ++i) {
        result = result * base;
        if (result.absolute().p > largest_literal || result.q > largest_literal) return std::nullopt;
    }
    return result;
}

std::optional<Rational> exact_root(const Rational& base, int n) {
    const auto p = integer_root(base.p, n);
    const auto q = integer_root(base.q, n);
    if (!p || !q) return std::nullopt;
    return Rational::reduced(*p, *q);
}

std::optional<Rational> to_rational(Decimal number) {
    Int128 p = number.mantissa;
    Int128 q = 1;
    for (int e = number.exponent; e != 0; e += e > 0 ? -1 : 1) {
        Int128& grown = e > 0 ? p : q;
        if (__builtin_mul_overflow(grown, Int128{10}, &grown)) return std::nullopt;
    }
    return Rational::reduced(p, q);
}

std::optional<Decimal> to_decimal(const Rational& value) {
    if (value.q == 1 && value.p > -1000 && value.p < 1000 && value.p % 10 != 0)
        return Decimal{static_cast<std::int64_t>(value.p), 0};
    if (value.is_small()) {  // most are a few halves or thirds, and 128-bit division is slow
        auto rest = static_cast<std::uint32_t>(value.q);
        rest >>= std::countr_zero(rest);
        while (rest % 5 == 0) rest /= 5;
        if (rest != 1) return std::nullopt;
        for (int digits = 1, scale = 10; digits <= 3; ++digits, scale *= 10) {
            const auto scaled = static_cast<std::int64_t>(value.p) * scale;
            if (const auto q = static_cast<std::int64_t>(value.q); value.q != 1 && scaled % q == 0)
                return Decimal{scaled / q, static_cast<std::int16_t>(-digits)};
        }
    }
    Int128 p = value.p;
    Int128 q = value.q;
    int exponent = 0;
    while (q % 10 == 0) {
        q /= 10;
        --exponent;
    }
    while (q % 2 == 0 || q % 5 == 0) {
        const Int128 factor = q % 2 == 0 ? 2 : 5;
        q /= factor;
        if (__builtin_mul_overflow(p, 10 / factor, &p)) return std::nullopt;
        --exponent;
    }
    if (q != 1) return std::nullopt;
    if (p == 0) return Decimal{};
    while (p % 10 == 0) {
        p /= 10;
        ++exponent;
    }
    if (p >= largest_literal || p <= -largest_literal) return std::nullopt;
    return Decimal{static_cast<std::int64_t>(p), static_cast<std::int16_t>(exponent)};
}

}  // namespace simplipy
