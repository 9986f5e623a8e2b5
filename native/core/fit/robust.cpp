#include "robust.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace simplipy {
namespace {

constexpr std::size_t n_steps = 200;
constexpr double largest_damping = 1e14;
constexpr double progress_tolerance = 1e-12;

double log_cosh(double z) {
    const double size = std::fabs(z);
    return size + std::log1p(std::exp(-2.0 * size)) - 0.6931471805599453;
}

}  // namespace

double robust_loss(Objective objective, double threshold, double u) {
    const double size = std::fabs(u);
    if (objective == Objective::log_cosh) return 2.0 * threshold * threshold * log_cosh(u / threshold);
    if (objective == Objective::squared || size <= threshold) return u * u;
    return threshold * (2.0 * size - threshold);
}

double robust_weight(Objective objective, double threshold, double u) {
    const double size = std::fabs(u);
    if (objective == Objective::log_cosh)
        return size < 1e-8 * threshold ? 1.0 : threshold * std::tanh(u / threshold) / u;
    return objective == Objective::squared || size <= threshold ? 1.0 : threshold / size;
}

// Of the residuals that stand in the model: root_weight * (target - prediction). They are measured in a power of two
// near their size, as squares of 1e200 overflow.
double RobustDescent::objective(FitModel& model) const {
    const FitRows& rows = model.rows();
    const int exponent = std::ilogb(rows.normalisation());
    const double normalisation = std::scalbn(rows.normalisation(), -exponent);
    const double threshold = std::scalbn(threshold_, exponent);
    double sum = 0.0;
    for (std::size_t i = 0; i < rows.n(); ++i) {
        const double weight = rows.sample_weights()[i];
        if (weight == 0.0) continue;
        const double u = model.residual_column()[i] / (std::sqrt(weight) * normalisation);
        sum += weight * robust_loss(objective_, threshold, u);
    }
    return sum;
}

void RobustDescent::reweigh(FitModel& model) const {
    const FitRows& rows = model.rows();
    for (std::size_t i = 0; i < rows.n(); ++i) {
        const double weight = rows.sample_weights()[i];
        if (weight == 0.0) continue;
        const double u = model.residual_column()[i] / (std::sqrt(weight) * rows.normalisation());
        const double factor = std::sqrt(robust_weight(objective_, threshold_, u));
        for (std::size_t j = 0; j <= model.n_parameters(); ++j) model.matrix_column(j)[i] *= factor;
    }
}

double RobustDescent::descend(FitModel& model, std::span<double> nonlinear, std::span<double> linear,
                              std::span<const double> units, const Bounds& bounds, Watch& watch) {
    const VectorKernels& vectors = active_vector_kernels();
    const std::size_t k = linear.size();
    const std::size_t p = model.n_parameters();
    const std::size_t n_padded = model.rows().n_padded();
    std::vector<double> triangle(p * p), rhs(p), row(p), diagonal(p), step(p), at(p), trial(p);
    std::copy(linear.begin(), linear.end(), at.begin());
    std::copy(nonlinear.begin(), nonlinear.end(), at.begin() + static_cast<std::ptrdiff_t>(k));
    const auto value = [&](const std::vector<double>& point) {
        const double squares = model.residual(point.data() + k, point.data());
        return std::isfinite(squares) ? objective(model) : std::numeric_limits<double>::infinity();
    };
    double cost = value(at);
    double damping = 1e-3;
    for (std::size_t n = 0; n < n_steps && std::isfinite(cost) && !watch.over(); ++n) {
        value(at);
        if (!model.differentiate_all()) break;
        reweigh(model);
        std::vector<double> components(p);
        for (std::size_t i = 0; i < p; ++i) {
            model.orthogonalise(i);
            components[i] = vectors.dot(n_padded, model.matrix_column(i), model.residual_column());
        }
        const double before = cost;
        while (damping < largest_damping) {
            for (std::size_t i = 0; i < p; ++i) {
                for (std::size_t j = i; j < p; ++j) triangle[i * p + j] = model.r(i, j);
                rhs[i] = components[i];
                diagonal[i] = std::sqrt(damping) * model.column_norm(i);
            }
            solve_damped(p, triangle, rhs, diagonal, row, step);
            for (std::size_t i = 0; i < p; ++i) {
                trial[i] = at[i] + step[i];
                if (i < k) continue;
                const double longest = 20.0 * (std::fabs(at[i]) + std::fabs(units[i - k]));
                trial[i] = std::clamp(trial[i], at[i] - longest, at[i] + longest);
                if (!bounds.low.empty()) trial[i] = std::clamp(trial[i], bounds.low[i - k], bounds.high[i - k]);
            }
            const double trial_cost = value(trial);
            if (trial_cost < cost) {
                cost = trial_cost;
                at = trial;
                damping = std::max(1e-15, 0.1 * damping);
                break;
            }
            damping *= 10.0;
        }
        if (!(before - cost > progress_tolerance * before)) break;
    }
    std::copy_n(at.begin(), k, linear.begin());
    std::copy(at.begin() + static_cast<std::ptrdiff_t>(k), at.end(), nonlinear.begin());
    return cost;
}

}  // namespace simplipy
