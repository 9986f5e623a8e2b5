// Rows that a fit looks at: columns, target and weights, padded to whole lanes. A padded row repeats the last one with
// weight 0, so that it is computed and never counts. Weights are normalised: the weighted sum of squares of
// target - prediction is the fraction of variance unexplained.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace simplipy {

class FitRows {
  public:
    FitRows() = default;

    // `x` holds n_columns columns of n values. `weights` multiply squared residuals; the sum need not be 1.
    FitRows(std::span<const double> x, std::size_t n_columns, std::span<const double> y,
            std::span<const double> weights);

    // These rows only, with the same normalisation of weights as a data set of their own.
    FitRows subset(std::span<const std::uint32_t> rows) const;

    // The same rows with another target and with weights multiplied by `factors` (n_padded each).
    FitRows retargeted(std::vector<double> target, std::span<const double> factors) const;

    std::size_t n() const { return n_; }
    std::size_t n_padded() const { return n_padded_; }
    const double* column(std::size_t i) const { return x_ + i * n_padded_; }
    const double* target() const { return target_.data(); }
    // square roots of the normalised weights, 0 for padded rows
    const double* root_weights() const { return root_weights_.data(); }
    // the weights as given, padded with 0
    std::span<const double> raw_weights() const { return raw_weights_; }
    // sum of squares that a residual is measured by: weights as given times the square of this = normalised weights
    double normalisation() const { return normalisation_; }
    // weighted sum of squares of the target around its mean, or around 0 for a constant target
    bool constant_target() const { return constant_target_; }

  private:
    void normalise();

    std::size_t n_ = 0;
    std::size_t n_padded_ = 0;
    std::size_t n_columns_ = 0;
    std::vector<double> own_x_;
    const double* x_ = nullptr;  // own_x_, or the columns of the rows that these were retargeted from
    std::vector<double> target_;
    std::vector<double> raw_weights_;
    std::vector<double> root_weights_;
    double normalisation_ = 1.0;
    bool constant_target_ = false;
};

// About `n_wanted` rows that cover the range of y evenly: its quantiles, the extremes among them, in rising order.
std::vector<std::uint32_t> stratified_rows(std::span<const double> y, std::size_t n_wanted);

}  // namespace simplipy
