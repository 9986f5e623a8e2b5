// Sums and combinations of whole columns, for the small least-squares problems of the fitter. Compiled like
// elementwise.cpp; a sum has a fixed order on each instruction set.

#include "core/evaluate/vectors.hpp"

namespace simplipy::SIMPLIPY_ISA {
namespace {

double dot(std::size_t n, const double* a, const double* b) {
    constexpr std::size_t n_sums = 2 * lane_count;
    double sums[n_sums] = {};
    std::size_t i = 0;
    for (; i + n_sums <= n; i += n_sums) {
#pragma omp simd
        for (std::size_t k = 0; k < n_sums; ++k) sums[k] += a[i + k] * b[i + k];
    }
    for (; i < n; i += lane_count) {
#pragma omp simd
        for (std::size_t k = 0; k < lane_count; ++k) sums[k] += a[i + k] * b[i + k];
    }
    for (std::size_t width = n_sums / 2; width > 0; width /= 2)
        for (std::size_t k = 0; k < width; ++k) sums[k] += sums[k + width];
    return sums[0];
}

void subtract_multiple(std::size_t n, double factor, const double* a, double* out) {
#pragma omp simd
    for (std::size_t i = 0; i < (n & ~(lane_count - 1)); ++i) out[i] -= factor * a[i];
}

void scale(std::size_t n, double factor, double* out) {
#pragma omp simd
    for (std::size_t i = 0; i < (n & ~(lane_count - 1)); ++i) out[i] *= factor;
}

void add(std::size_t n, const double* a, double* out) {
#pragma omp simd
    for (std::size_t i = 0; i < (n & ~(lane_count - 1)); ++i) out[i] += a[i];
}

void fill(std::size_t n, double value, double* out) {
#pragma omp simd
    for (std::size_t i = 0; i < (n & ~(lane_count - 1)); ++i) out[i] = value;
}

void weigh(std::size_t n, const double* a, const double* weights, double* out) {
#pragma omp simd
    for (std::size_t i = 0; i < (n & ~(lane_count - 1)); ++i) out[i] = a[i] * weights[i];
}

void weigh_difference(std::size_t n, const double* a, const double* b, const double* weights, double* out) {
#pragma omp simd
    for (std::size_t i = 0; i < (n & ~(lane_count - 1)); ++i) out[i] = (a[i] - b[i]) * weights[i];
}

void products(std::size_t n_rows, std::size_t stride, const double* a, const double* b, double* sums) {
    for (std::size_t k = 0; k < lane_count; ++k) sums[k] = 0.0;
    for (std::size_t i = 0; i < n_rows; ++i) {
#pragma omp simd
        for (std::size_t k = 0; k < lane_count; ++k) sums[k] += a[i * stride + k] * b[i * stride + k];
    }
}

void subtract_products(std::size_t n_rows, std::size_t stride, const double* factors, const double* a, double* out) {
    for (std::size_t i = 0; i < n_rows; ++i) {
#pragma omp simd
        for (std::size_t k = 0; k < lane_count; ++k) out[i * stride + k] -= factors[k] * a[i * stride + k];
    }
}

void project_lanes(std::size_t n_rows, std::size_t n_lanes, std::size_t n_bases, double* columns, double* sums) {
    constexpr double dependent = 1e-20;  // part of a square that is left of a column that depends on those before
    const std::size_t size = n_rows * n_lanes;
    for (std::size_t lane = 0; lane < n_lanes; lane += lane_count) {
        double before[lane_count], after[lane_count], part[lane_count];
        double* residual = columns + n_bases * size + lane;
        for (std::size_t i = 0; i < n_bases; ++i) {
            double* basis = columns + i * size + lane;
            products(n_rows, n_lanes, basis, basis, before);
            for (std::size_t j = 0; j < i; ++j) {
                const double* earlier = columns + j * size + lane;
                products(n_rows, n_lanes, earlier, basis, part);
                subtract_products(n_rows, n_lanes, part, earlier, basis);
            }
            products(n_rows, n_lanes, basis, basis, after);
#pragma omp simd
            for (std::size_t k = 0; k < lane_count; ++k)
                part[k] = after[k] > dependent * before[k] ? 1.0 / __builtin_sqrt(after[k]) : 0.0;
            for (std::size_t r = 0; r < n_rows; ++r) {
#pragma omp simd
                for (std::size_t k = 0; k < lane_count; ++k) basis[r * n_lanes + k] *= part[k];
            }
            products(n_rows, n_lanes, basis, residual, part);
            subtract_products(n_rows, n_lanes, part, basis, residual);
        }
        products(n_rows, n_lanes, residual, residual, sums + lane);
    }
}

}  // namespace

extern const VectorKernels vector_kernels = {dot,   subtract_multiple, scale,        add, fill,
                                             weigh, weigh_difference,  project_lanes};

}  // namespace simplipy::SIMPLIPY_ISA
