// Sums and combinations of whole columns, for the small least-squares problems of the fitter. Compiled like
// elementwise.cpp; a sum has a fixed order on each instruction set.

#include "../vectors.hpp"

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

}  // namespace

extern const VectorKernels vector_kernels = {dot, subtract_multiple, scale, add, fill, weigh, weigh_difference};

}  // namespace simplipy::SIMPLIPY_ISA
