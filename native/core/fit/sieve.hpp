// Values many starts on few rows at once. Starts stand side by side in the lanes, one copy of them a row, so that an
// operator is one kernel call for all starts and rows, and the linear parameters of all starts are solved together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/aligned.hpp"
#include "core/evaluate/kernels.hpp"
#include "core/evaluate/vectors.hpp"
#include "model.hpp"

namespace simplipy {

class FitSieve {
  public:
    FitSieve();

    // These rows of what the model is bound to; the model must stay bound. `weights`: root weights of these rows.
    void bind(const FitModel& model, std::span<const std::uint32_t> rows, std::span<const double> weights);

    std::size_t n_lanes() const { return n_lanes_; }

    // Nonlinear parameter j of n_lanes() starts, to be filled before each call of costs().
    double* parameter(std::size_t j) { return points_.data() + j * n_lanes_; }

    // The sums of squares of all starts, NaN where undefined.
    std::span<const double> costs();

  private:
    static constexpr std::size_t n_values = 256;  // starts times rows: what a register holds

    double* values(Ref ref);
    void run(const FitStep& step);
    void weigh_into(Ref ref, double* out);
    void balance(double* column);

    const Kernels& kernels_;
    const VectorKernels& vectors_;
    const FitProgram* program_ = nullptr;
    bool extreme_ = false;
    std::size_t n_rows_ = 0;
    std::size_t n_lanes_ = 0;
    std::size_t size_ = 0;     // n_rows * n_lanes
    AlignedBuffer registers_;  // scalars, columns, blocks
    AlignedBuffer points_;
    AlignedBuffer weights_;
    AlignedBuffer target_;
    AlignedBuffer matrix_;  // weighted bases, then the residual
    AlignedBuffer costs_;
};

}  // namespace simplipy
