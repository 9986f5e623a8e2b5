// Loops over the lanes of a block. For kernel files alone, as their internal functions.
//
// Vector functions leave the vector unit for lanes outside their comfortable range, at ten times the cost. Undefined
// and extreme lanes are common in candidate formulas, so a guarded kernel treats strips with such lanes in three loops:
// `prepare` gives them a harmless argument, `call` is the library's function, `finish` selects their result. In one
// loop the compiler would see that the harmless argument is never used, and drop it. Either way a lane's value depends
// on its own argument alone.
#pragma once

#include <math.h>

#include "core/evaluate/kernels.hpp"
#include "core/evaluate/kernels/values.hpp"

namespace simplipy::SIMPLIPY_ISA {
namespace {

constexpr std::size_t strip = 64;  // lanes of a guarded kernel at a time

#define SIMPLIPY_EACH for (std::size_t i = 0; i < (n & ~(lane_count - 1)); ++i)

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

#undef SIMPLIPY_EACH

}  // namespace
}  // namespace simplipy::SIMPLIPY_ISA
