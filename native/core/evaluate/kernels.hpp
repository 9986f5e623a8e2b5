// Elementwise kernels, compiled once for each instruction set and chosen at run time.
//
// Every block holds a multiple of `lane_count` doubles, so a row's value does not depend on where it stands in a block.
// Undefined is NaN and stays NaN: where IEEE arithmetic would give an infinity at a pole (1/0, log 0, atanh 1) or hide
// a NaN (pow(nan, 0)), the kernel returns NaN. An infinity in a block means that doubles overflowed, nothing else.
#pragma once

#include <cstddef>

#include "core/expression/ops.hpp"

namespace simplipy {

inline constexpr std::size_t lane_count = 8;

// Operands of binary kernels: two blocks, or one block and one number.
enum class Shape : std::size_t { block_block, block_number, number_block };
inline constexpr std::size_t n_shapes = 3;

using UnaryKernel = void (*)(std::size_t n, const double* a, double* out);
using BinaryKernel = void (*)(std::size_t n, const double* a, const double* b, double* out);

// Adjoint of an operand from the operator's own adjoint g and value v.
using UnaryAdjoint = void (*)(std::size_t n, const double* a, const double* v, const double* g, double* out);
using BinaryAdjoint = void (*)(std::size_t n, const double* a, const double* b, const double* v, const double* g,
                               double* out);

struct Kernels {
    const char* name;
    // n values of a column, `stride` elements apart; here n is any number
    void (*load_float64)(std::size_t n, const double* first, std::ptrdiff_t stride, double* out);
    void (*load_float32)(std::size_t n, const float* first, std::ptrdiff_t stride, double* out);
    // by id of the operator
    UnaryKernel unary[max_symbols];
    BinaryKernel binary[max_symbols][n_shapes];
    UnaryAdjoint unary_adjoint[max_symbols];
    BinaryAdjoint left_adjoint[max_symbols][n_shapes];
    BinaryAdjoint right_adjoint[max_symbols][n_shapes];
};

namespace baseline {
extern const Kernels kernels;
}
namespace avx2 {
extern const Kernels kernels;
}
namespace avx512 {
extern const Kernels kernels;
}

// The widest set that this CPU has.
const Kernels& active_kernels();

}  // namespace simplipy
