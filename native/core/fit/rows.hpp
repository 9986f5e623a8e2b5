// Rows that a fit looks at: columns, target and weights, padded to whole lanes. A padded row repeats the last one with
// weight 0, so that it is computed and never counts. Weights are normalised: the weighted sum of squares of
// target - prediction is the fraction of variance unexplained.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/evaluate/evaluate.hpp"

namespace simplipy {

class FitRows {
  public:
    FitRows() = default;

    // `x` holds n_columns columns of n values. Residuals are measured in units of `sizes` (the errors of y, > 0), and
    // their squares are weighted by `sample_weights`.
    FitRows(std::span<const double> x, std::size_t n_columns, std::span<const double> y,
            std::span<const double> sample_weights, std::span<const double> sizes);

    // These columns of a matrix. Empty sizes and weights stand for ones.
    FitRows(const Matrix& x, std::span<const std::uint32_t> columns, std::span<const double> y,
            std::span<const double> sample_weights, std::span<const double> sizes);

    // Whether all values are; what is not finite must not be fitted to.
    bool finite() const;

    // These rows only, with the same normalisation of weights as a data set of their own.
    FitRows subset(std::span<const std::uint32_t> rows) const;

    // The same rows with another target and its sizes (n_padded each); a row whose target is not finite weighs nothing.
    FitRows retargeted(std::vector<double> target, std::vector<double> sizes) const;

    // The same rows with one more column, to be explained as 0; rows where it is not finite weigh nothing.
    FitRows with_column(std::span<const double> column, std::span<const double> sizes) const;

    // The same rows with residuals measured by |target|, and whether that differs much: a few rows hold nearly all of
    // the sum of squares.
    FitRows relative() const;
    bool heavy_tailed() const;

    // The same rows with a target that is cut off at five robust deviations from its median.
    FitRows clipped() const;

    std::size_t n_columns() const { return n_columns_; }
    std::size_t n() const { return n_; }
    std::size_t n_padded() const { return n_padded_; }
    const double* column(std::size_t i) const { return x_ + i * n_padded_; }
    const double* target() const { return target_.data(); }
    // square roots of the normalised weights, 0 for padded rows
    const double* root_weights() const { return root_weights_.data(); }
    const double* sizes() const { return sizes_.data(); }
    const double* sample_weights() const { return sample_weights_.data(); }
    double sum_of_weights() const { return sum_of_weights_; }
    // root_weights = sqrt(sample_weights) / sizes * normalisation
    double normalisation() const { return normalisation_; }
    // Whether x or y is so large or small that squares of columns can leave the range of doubles.
    bool extreme() const { return extreme_; }

  private:
    void normalise();
    bool has_extremes() const;

    std::size_t n_ = 0;
    std::size_t n_padded_ = 0;
    std::size_t n_columns_ = 0;
    std::vector<double> own_x_;
    const double* x_ = nullptr;  // own_x_, or the columns of the rows that these were retargeted from
    std::vector<double> target_;
    std::vector<double> sample_weights_;  // 0 for padded rows
    std::vector<double> sizes_;
    std::vector<double> root_weights_;
    double normalisation_ = 1.0;
    double sum_of_weights_ = 0.0;
    bool extreme_ = false;  // rows that are made of others inherit it: only the data decide
};

// Brings sizes within a factor of 1000 of their median.
void temper(std::vector<double>& sizes);

// About `n_wanted` rows that cover the range of y evenly: its quantiles, the extremes among them, in rising order.
std::vector<std::uint32_t> stratified_rows(std::span<const double> y, std::size_t n_wanted);

}  // namespace simplipy
