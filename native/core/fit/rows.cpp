#include "rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/evaluate/kernels.hpp"

namespace simplipy {
namespace {

std::size_t padded(std::size_t n) { return (n + lane_count - 1) / lane_count * lane_count; }

double largest_magnitude(std::span<const double> values) {
    double largest = 0.0;
    for (const double v : values) largest = std::max(largest, std::fabs(v));
    return largest;
}

double median_magnitude(std::span<const double> values) {
    std::vector<double> sizes;
    for (const double v : values)
        if (std::isfinite(v) && v != 0.0) sizes.push_back(std::fabs(v));
    if (sizes.empty()) return 1.0;
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    return *middle;
}

}  // namespace

void temper(std::vector<double>& sizes) {
    constexpr double span = 1e3;
    const double median = median_magnitude(sizes);
    for (double& size : sizes)
        if (std::isfinite(size)) size = std::clamp(size, median / span, median * span);
}

FitRows::FitRows(std::span<const double> x, std::size_t n_columns, std::span<const double> y,
                 std::span<const double> sample_weights, std::span<const double> sizes)
    : n_(y.size()),
      n_padded_(padded(n_)),
      n_columns_(n_columns),
      own_x_(n_columns * n_padded_),
      target_(n_padded_, y.back()),
      sample_weights_(n_padded_),
      sizes_(n_padded_, 1.0) {
    for (std::size_t c = 0; c < n_columns; ++c) {
        double* out = own_x_.data() + c * n_padded_;
        std::copy_n(x.data() + c * n_, n_, out);
        std::fill(out + n_, out + n_padded_, out[n_ - 1]);
    }
    std::copy(y.begin(), y.end(), target_.begin());
    std::copy(sample_weights.begin(), sample_weights.end(), sample_weights_.begin());
    std::copy(sizes.begin(), sizes.end(), sizes_.begin());
    x_ = own_x_.data();
    normalise();
    extreme_ = has_extremes();
}

FitRows::FitRows(const Matrix& x, std::span<const std::uint32_t> columns, std::span<const double> y,
                 std::span<const double> sample_weights, std::span<const double> sizes)
    : n_(y.size()),
      n_padded_(padded(n_)),
      n_columns_(columns.size()),
      own_x_(columns.size() * n_padded_),
      target_(n_padded_, y.back()),
      sample_weights_(n_padded_),
      sizes_(n_padded_, 1.0) {
    for (std::size_t c = 0; c < n_columns_; ++c) {
        double* out = own_x_.data() + c * n_padded_;
        const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(columns[c]) * x.column_stride;
        if (x.is_float32) {
            active_kernels().load_float32(n_, static_cast<const float*>(x.data) + first, x.row_stride, out);
        } else {
            active_kernels().load_float64(n_, static_cast<const double*>(x.data) + first, x.row_stride, out);
        }
        std::fill(out + n_, out + n_padded_, out[n_ - 1]);
    }
    std::copy(y.begin(), y.end(), target_.begin());
    std::fill_n(sample_weights_.begin(), n_, 1.0);
    std::copy(sample_weights.begin(), sample_weights.end(), sample_weights_.begin());
    std::copy(sizes.begin(), sizes.end(), sizes_.begin());
    x_ = own_x_.data();
    normalise();
    extreme_ = has_extremes();
}

bool FitRows::finite() const {
    double zero = 0.0;  // times an infinity or NaN is NaN
    for (const double v : own_x_) zero += 0.0 * v;
    for (const double v : target_) zero += 0.0 * v;
    return zero == 0.0;
}

bool FitRows::has_extremes() const {
    constexpr double large = 1e50;
    const auto is_extreme = [](std::span<const double> values) {
        const double largest = largest_magnitude(values);
        return largest > large || (largest > 0.0 && largest < 1.0 / large);
    };
    for (std::size_t c = 0; c < n_columns_; ++c)
        if (is_extreme({column(c), n_})) return true;
    return is_extreme({target_.data(), n_});
}

FitRows FitRows::subset(std::span<const std::uint32_t> rows) const {
    std::vector<double> x(n_columns_ * rows.size());
    std::vector<double> y(rows.size());
    std::vector<double> weights(rows.size());
    std::vector<double> sizes(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t c = 0; c < n_columns_; ++c) x[c * rows.size() + i] = column(c)[rows[i]];
        y[i] = target_[rows[i]];
        weights[i] = sample_weights_[rows[i]];
        sizes[i] = sizes_[rows[i]];
    }
    FitRows result(x, n_columns_, y, weights, sizes);
    result.extreme_ = extreme_;
    return result;
}

FitRows FitRows::retargeted(std::vector<double> target, std::vector<double> sizes) const {
    FitRows rows;
    rows.n_ = n_;
    rows.n_padded_ = n_padded_;
    rows.n_columns_ = n_columns_;
    rows.extreme_ = extreme_;
    rows.x_ = x_;
    rows.target_ = std::move(target);
    rows.sizes_ = std::move(sizes);
    rows.sample_weights_ = sample_weights_;
    for (std::size_t i = 0; i < n_padded_; ++i) {
        if (std::isfinite(rows.target_[i]) && std::isfinite(rows.sizes_[i]) && rows.sizes_[i] > 0.0) continue;
        rows.target_[i] = 0.0;
        rows.sizes_[i] = 1.0;
        rows.sample_weights_[i] = 0.0;
    }
    rows.normalise();
    return rows;
}

FitRows FitRows::with_column(std::span<const double> column, std::span<const double> sizes) const {
    FitRows rows;
    rows.n_ = n_;
    rows.n_padded_ = n_padded_;
    rows.n_columns_ = n_columns_ + 1;
    rows.extreme_ = extreme_;
    rows.own_x_.assign(x_, x_ + n_columns_ * n_padded_);
    rows.own_x_.insert(rows.own_x_.end(), column.begin(), column.end());
    rows.x_ = rows.own_x_.data();
    rows.target_.assign(n_padded_, 0.0);
    rows.sizes_.assign(sizes.begin(), sizes.end());
    rows.sample_weights_ = sample_weights_;
    for (std::size_t i = 0; i < n_padded_; ++i) {
        double& extra = rows.own_x_[n_columns_ * n_padded_ + i];
        if (std::isfinite(extra) && std::isfinite(rows.sizes_[i]) && rows.sizes_[i] > 0.0) continue;
        extra = 0.0;
        rows.sizes_[i] = 1.0;
        rows.sample_weights_[i] = 0.0;
    }
    rows.normalise();
    return rows;
}

FitRows FitRows::relative() const {
    const double floor = 1e-3 * median_magnitude({target_.data(), n_});
    std::vector<double> sizes(sizes_);
    for (std::size_t i = 0; i < n_padded_; ++i) sizes[i] *= std::max(std::fabs(target_[i]), floor);
    return retargeted(target_, std::move(sizes));
}

FitRows FitRows::clipped() const {
    std::vector<double> sorted(target_.begin(), target_.begin() + static_cast<std::ptrdiff_t>(n_));
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(n_ / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    const double median = *middle;
    for (double& v : sorted) v -= median;
    const double reach = 5.0 * 1.4826 * median_magnitude(sorted);
    std::vector<double> target(target_);
    for (double& v : target) v = std::clamp(v, median - reach, median + reach);
    return retargeted(std::move(target), sizes_);
}

bool FitRows::heavy_tailed() const {
    const std::span<const double> target{target_.data(), n_};
    return largest_magnitude(target) > 100.0 * median_magnitude(target);
}

// Sums are taken of y / max|y| and of sizes / max size: a square of 1e200 overflows, one of 1e-200 vanishes.
void FitRows::normalise() {
    const double largest_y = largest_magnitude({target_.data(), n_});
    const double y_unit = largest_y > 0.0 ? largest_y : 1.0;
    const double size_unit = largest_magnitude({sizes_.data(), n_});
    double sum_w = 0.0;
    double mean = 0.0;
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    sum_of_weights_ = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
        const double relative = size_unit / sizes_[i];
        const double weight = sample_weights_[i] * relative * relative;
        sum_of_weights_ += sample_weights_[i];
        sum_w += weight;
        mean += weight * (target_[i] / y_unit);
        if (weight > 0.0) {
            low = std::min(low, target_[i]);
            high = std::max(high, target_[i]);
        }
    }
    mean = low == high ? 0.0 : mean / sum_w;
    double total = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
        const double relative = size_unit / sizes_[i];
        const double deviation = target_[i] / y_unit - mean;
        total += sample_weights_[i] * relative * relative * deviation * deviation;
    }
    if (!(total > 0.0)) total = sum_w;  // a target of zeros
    normalisation_ = size_unit / y_unit / std::sqrt(total);
    root_weights_.resize(n_padded_);
    for (std::size_t i = 0; i < n_padded_; ++i)
        root_weights_[i] = std::sqrt(sample_weights_[i]) / sizes_[i] * normalisation_;
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
