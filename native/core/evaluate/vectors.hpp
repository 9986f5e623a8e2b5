// Operations on columns of a multiple of `lane_count` doubles, compiled once for each instruction set.
#pragma once

#include <cstddef>

#include "kernels.hpp"

namespace simplipy {

struct VectorKernels {
    double (*dot)(std::size_t n, const double* a, const double* b);
    void (*subtract_multiple)(std::size_t n, double factor, const double* a, double* out);  // out -= factor * a
    void (*scale)(std::size_t n, double factor, double* out);
    void (*add)(std::size_t n, const double* a, double* out);  // out += a
    void (*fill)(std::size_t n, double value, double* out);
    void (*weigh)(std::size_t n, const double* a, const double* weights, double* out);
    void (*weigh_difference)(std::size_t n, const double* a, const double* b, const double* weights, double* out);
    // In every lane: takes the part along `n_bases` columns out of the column behind them, and sums its squares. A
    // column holds n_rows times n_lanes values; bases are overwritten. A basis that depends on those before counts not.
    void (*project_lanes)(std::size_t n_rows, std::size_t n_lanes, std::size_t n_bases, double* columns, double* sums);
};

namespace baseline {
extern const VectorKernels vector_kernels;
}
namespace avx2 {
extern const VectorKernels vector_kernels;
}
namespace avx512 {
extern const VectorKernels vector_kernels;
}

// The set that goes with active_kernels().
const VectorKernels& active_vector_kernels();

}  // namespace simplipy
