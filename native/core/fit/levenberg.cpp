#include "levenberg.hpp"

#include <algorithm>
#include <cmath>

namespace simplipy {
namespace {

constexpr double smallest_damping = 1e-15;
constexpr double largest_damping = 1e14;
constexpr double step_tolerance = 1e-13;      // relative size of a step
constexpr double gradient_tolerance = 1e-11;  // cosine between residual and derivatives
constexpr double longest_step = 20.0;         // in units of |parameter| + its natural size

}  // namespace

void solve_damped(std::size_t q, std::span<double> r, std::span<double> b, std::span<const double> diagonal,
                  std::span<double> row, std::span<double> x) {
    for (std::size_t j = 0; j < q; ++j) {
        if (diagonal[j] == 0.0) continue;
        std::fill(row.begin(), row.end(), 0.0);
        row[j] = diagonal[j];
        double rest = 0.0;  // of the right-hand side in this row
        for (std::size_t k = j; k < q; ++k) {
            if (row[k] == 0.0) continue;
            const double size = std::hypot(r[k * q + k], row[k]);
            const double cosine = r[k * q + k] / size;
            const double sine = row[k] / size;
            for (std::size_t i = k; i < q; ++i) {
                const double upper = r[k * q + i];
                r[k * q + i] = cosine * upper + sine * row[i];
                row[i] = cosine * row[i] - sine * upper;
            }
            const double upper = b[k];
            b[k] = cosine * upper + sine * rest;
            rest = cosine * rest - sine * upper;
        }
    }
    for (std::size_t j = q; j-- > 0;) {
        double sum = b[j];
        for (std::size_t k = j + 1; k < q; ++k) sum -= r[j * q + k] * x[k];
        x[j] = r[j * q + j] == 0.0 ? 0.0 : sum / r[j * q + j];
    }
}

void Levenberg::start(std::size_t q) {
    scale_.assign(q, 0.0);
    step_.assign(q, 0.0);
    trial_.assign(q, 0.0);
    triangle_.assign(q * q, 0.0);
    rhs_.assign(q, 0.0);
    row_.assign(q, 0.0);
    blocked_.assign(q, false);
}

void Levenberg::propose(FitModel& model, double damping) {
    const std::size_t q = step_.size();
    const std::size_t k = model.n_linear();
    for (std::size_t i = 0; i < q; ++i) {
        for (std::size_t j = i; j < q; ++j) triangle_[i * q + j] = model.r(k + i, k + j);
        rhs_[i] = model.component(i);
    }
    const double root = std::sqrt(damping);
    std::vector<double>& diagonal = trial_;  // free until the step is known
    for (std::size_t j = 0; j < q; ++j)
        diagonal[j] = blocked_[j] ? std::min(1e100 * scale_[j], 1e300) : root * scale_[j];
    solve_damped(q, triangle_, rhs_, diagonal, row_, step_);
}

// A parameter at its bound whose descent direction points outwards does not move.
void Levenberg::mark_blocked(FitModel& model, std::span<const double> point, const Bounds& bounds) {
    if (bounds.low.empty()) return mark_superfluous(model);
    const std::size_t k = model.n_linear();
    for (std::size_t j = 0; j < point.size(); ++j) {
        double descent = 0.0;
        for (std::size_t i = 0; i <= j; ++i) descent += model.r(k + i, k + j) * model.component(i);
        blocked_[j] = (point[j] <= bounds.low[j] && descent < 0.0) || (point[j] >= bounds.high[j] && descent > 0.0);
    }
}

// Nor do all but the first of those that do one thing: a and b of a*b*u, where a*b has the wrong sign, would both
// shrink to 0 and leave no derivative. With a alone the value goes anywhere; with b of a/b alone it would not.
void Levenberg::mark_superfluous(FitModel& model) {
    const std::vector<Nonlinear>& parameters = model.program().nonlinear;
    const std::size_t k = model.n_linear();
    bool is_first = true;
    for (std::size_t j = 0; j < parameters.size(); ++j) {
        blocked_[j] = parameters[j].is_affine && !is_first && model.r(k + j, k + j) == 0.0;
        if (parameters[j].is_affine) is_first = false;
    }
}

// Shortens and clips the step, writes the trial point, and returns the largest relative change.
double Levenberg::clip(std::span<const double> point, std::span<const double> units, const Bounds& bounds) {
    double longest = 0.0;
    double change = 0.0;
    for (std::size_t j = 0; j < point.size(); ++j) {
        longest = std::max(longest, std::fabs(step_[j]) / (std::fabs(point[j]) + std::fabs(units[j])));
        if (step_[j] != 0.0) change = std::max(change, std::fabs(step_[j] / point[j]));
    }
    const double factor = longest > longest_step ? longest_step / longest : 1.0;
    for (std::size_t j = 0; j < point.size(); ++j) {
        double to = point[j] + factor * step_[j];
        if (!bounds.low.empty()) to = std::clamp(to, bounds.low[j], bounds.high[j]);
        step_[j] = to - point[j];
        trial_[j] = to;
    }
    return change * factor;
}

double Levenberg::predicted_cost(FitModel& model, double cost) const {
    const std::size_t q = step_.size();
    const std::size_t k = model.n_linear();
    double change = 0.0;
    for (std::size_t i = 0; i < q; ++i) {
        double image = 0.0;
        for (std::size_t j = i; j < q; ++j) image += model.r(k + i, k + j) * step_[j];
        change += image * (image - 2.0 * model.component(i));
    }
    return cost + change;
}

// Where one descent stands.
struct Levenberg::Descent {
    FitModel& model;
    std::span<double> point;
    std::span<const double> units;
    const Bounds& bounds;
    const DescentLimits& limits;
    Watch& watch;
    double cost;
    double damping;
    double growth = 2.0;
    double last_ratio = 0.0;  // cost after / before the last accepted step
    bool at_point = true;     // the model was last solved at `point`
    std::size_t n_steps = 0;  // those that were tried and refused count too

    bool is_hopeless() const {
        const auto rest = static_cast<double>(limits.n_steps - n_steps);
        return n_steps >= limits.patience && cost > limits.cost_to_beat &&
               cost * std::pow(last_ratio, rest) > limits.cost_to_beat;
    }
    void accept(std::span<const double> trial, double trial_cost, double gain) {
        std::copy(trial.begin(), trial.end(), point.begin());
        last_ratio = trial_cost / cost;
        cost = trial_cost;
        at_point = true;
        const double cube = (2.0 * gain - 1.0) * (2.0 * gain - 1.0) * (2.0 * gain - 1.0);
        damping = std::max(smallest_damping, damping * (gain > 0.9 ? 0.1 : std::clamp(1.0 - cube, 0.2, 2.0)));
        growth = 2.0;
    }
    void refuse(double trial_cost) {
        damping *= std::isfinite(trial_cost) ? growth : 4.0 * growth;
        growth *= 2.0;
        ++n_steps;
    }
};

// Differentiates at the point, or says why the descent ends there.
std::optional<Stop> Levenberg::prepare(Descent& at) {
    const std::size_t q = at.point.size();
    if (at.cost <= at.limits.perfect) return Stop::perfect;
    if (q == 0) return Stop::converged;
    if (at.watch.over()) return Stop::deadline;
    if (at.is_hopeless()) return Stop::abandoned;
    if (!at.model.differentiate()) return Stop::undefined;
    double cosine = 0.0;
    for (std::size_t j = 0; j < q; ++j) {
        scale_[j] = std::max(scale_[j], at.model.column_norm(at.model.n_linear() + j));
        cosine = std::max(cosine, std::fabs(at.model.component(j)));
    }
    if (cosine <= gradient_tolerance * std::sqrt(at.cost)) return Stop::converged;
    mark_blocked(at.model, at.point, at.bounds);
    return std::nullopt;
}

// Whether a step with some damping lowers the cost.
bool Levenberg::step(Descent& at) {
    while (at.damping < largest_damping && at.n_steps < at.limits.n_steps) {
        propose(at.model, at.damping);
        if (clip(at.point, at.units, at.bounds) <= step_tolerance) return false;
        const double predicted = at.cost - predicted_cost(at.model, at.cost);
        const double trial_cost = at.model.solve(trial_.data());
        at.at_point = false;
        const double gain = predicted > 0.0 ? (at.cost - trial_cost) / predicted : -1.0;
        if (trial_cost < at.cost && gain > 1e-4) {
            at.accept(trial_, trial_cost, gain);
            return true;
        }
        at.refuse(trial_cost);
        if (at.watch.over()) return false;
    }
    return false;
}

Stop Levenberg::run(Descent& at) {
    for (; at.n_steps < at.limits.n_steps; ++at.n_steps) {
        if (const auto stop = prepare(at)) return *stop;
        if (step(at) && !(1.0 - at.last_ratio <= at.limits.progress)) continue;
        if (at.watch.over()) return Stop::deadline;
        return at.n_steps < at.limits.n_steps ? Stop::converged : Stop::budget;
    }
    return Stop::budget;
}

double Levenberg::descend(FitModel& model, std::span<double> point, std::span<const double> units, const Bounds& bounds,
                          const DescentLimits& limits, Watch& watch) {
    start(point.size());
    const double cost = model.solve(point.data());
    stop_ = Stop::undefined;
    if (!std::isfinite(cost)) return std::numeric_limits<double>::infinity();
    Descent at{model, point, units, bounds, limits, watch, cost, limits.damping};
    stop_ = run(at);
    if (at.cost <= limits.perfect) stop_ = Stop::perfect;
    return at.at_point ? at.cost : model.solve(point.data());
}

}  // namespace simplipy
