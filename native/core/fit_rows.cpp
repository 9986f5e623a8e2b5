#include "fit_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels.hpp"

namespace simplipy {
namespace {

std::size_t padded(std::size_t n) { return (n + lane_count - 1) / lane_count * lane_count; }

double largest_magnitude(std::span<const double> values) {
    double largest = 0.0;
    for (const double v : values) largest = std::max(largest, std::fabs(v));
    return largest;
}

}  // namespace

FitRows::FitRows(std::span<const double> x, std::size_t n_columns, std::span<const double> y,
                 std::span<const double> weights)
    : n_(y.size()), n_padded_(padded(n_)), n_columns_(n_columns), own_x_(n_columns * n_padded_), target_(n_padded_),
      raw_weights_(n_padded_) {
    for (std::size_t c = 0; c < n_columns; ++c) {
        double* out = own_x_.data() + c * n_padded_;
        std::copy_n(x.data() + c * n_, n_, out);
        std::fill(out + n_, out + n_padded_, out[n_ - 1]);
    }
    std::copy(y.begin(), y.end(), target_.begin());
    std::fill(target_.begin() + static_cast<std::ptrdiff_t>(n_), target_.end(), y.back());
    std::copy(weights.begin(), weights.end(), raw_weights_.begin());
    x_ = own_x_.data();
    normalise();
}

FitRows FitRows::subset(std::span<const std::uint32_t> rows) const {
    std::vector<double> x(n_columns_ * rows.size());
    std::vector<double> y(rows.size());
    std::vector<double> weights(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t c = 0; c < n_columns_; ++c) x[c * rows.size() + i] = column(c)[rows[i]];
        y[i] = target_[rows[i]];
        weights[i] = raw_weights_[rows[i]];
    }
    return FitRows(x, n_columns_, y, weights);
}

FitRows FitRows::retargeted(std::vector<double> target, std::span<const double> factors) const {
    FitRows rows;
    rows.n_ = n_;
    rows.n_padded_ = n_padded_;
    rows.n_columns_ = n_columns_;
    rows.x_ = x_;
    rows.target_ = std::move(target);
    rows.raw_weights_.resize(n_padded_);
    for (std::size_t i = 0; i < n_; ++i) rows.raw_weights_[i] = raw_weights_[i] * factors[i];
    rows.normalise();
    return rows;
}

// Sums are taken of y / max|y|: a square of 1e200 overflows, a square of 1e-200 vanishes.
void FitRows::normalise() {
    const double size = largest_magnitude({target_.data(), n_});
    const double unit = size > 0.0 ? size : 1.0;
    double sum_w = 0.0;
    double mean = 0.0;
    double low = target_[0];
    double high = target_[0];
    for (std::size_t i = 0; i < n_; ++i) {
        sum_w += raw_weights_[i];
        mean += raw_weights_[i] * (target_[i] / unit);
        if (raw_weights_[i] > 0.0) {
            low = std::min(low, target_[i]);
            high = std::max(high, target_[i]);
        }
    }
    mean /= sum_w;
    constant_target_ = low == high;
    if (constant_target_) mean = 0.0;
    double total = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
        const double deviation = target_[i] / unit - mean;
        total += raw_weights_[i] * deviation * deviation;
    }
    if (!(total > 0.0)) total = sum_w;  // a target of zeros
    normalisation_ = 1.0 / unit / std::sqrt(total);
    root_weights_.resize(n_padded_);
    for (std::size_t i = 0; i < n_padded_; ++i) root_weights_[i] = std::sqrt(raw_weights_[i]) * normalisation_;
}

std::vector<std::uint32_t> stratified_rows(std::span<const double> y, std::size_t n_wanted) {
    std::vector<std::uint32_t> order(y.size());
    std::iota(order.begin(), order.end(), 0u);
    if (n_wanted >= y.size()) return order;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return y[a] < y[b]; });
    std::vector<std::uint32_t> chosen;
    const double step = static_cast<double>(y.size() - 1) / static_cast<double>(std::max<std::size_t>(1, n_wanted - 1));
    for (std::size_t k = 0; k < n_wanted; ++k)
        chosen.push_back(order[static_cast<std::size_t>(std::lround(static_cast<double>(k) * step))]);
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

}  // namespace simplipy
