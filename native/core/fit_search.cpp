#include "fit_search.hpp"

#include <algorithm>
#include <cmath>

namespace simplipy {
namespace {

constexpr double grid[] = {0.1, 1.0, 10.0, 0.03, 3.0, 30.0, 0.3, 100.0};  // in natural units, the likeliest first
constexpr std::size_t n_slow_rows = 16;
constexpr std::size_t first_draws = 16;
constexpr std::size_t more_draws = 80;  // a nonlinear parameter
constexpr std::size_t first_descents = 3;
constexpr DescentLimits trial_limits{.n_steps = 16, .progress = 1e-6, .may_abandon = true};
constexpr DescentLimits final_limits{.n_steps = 60};
constexpr DescentLimits given_limits{.n_steps = 1000, .progress = 1e-14, .damping = 1e-1};
constexpr DescentLimits normal_limits{.n_steps = 400, .progress = 1e-9, .damping = 1e-1};
constexpr std::size_t n_finished = 3;
constexpr std::size_t n_kept = 4;
constexpr double same_cost = 1e-6;  // two optima whose costs are as close as this are one

}  // namespace

double FitSearch::draw(std::size_t j, bool normal_only) {
    if (normal_only) return 5.0 * random_.normal();
    if (random_.uniform() < 0.5) return 5.0 * random_.normal() * normal_units_[j];
    const double magnitude = std::pow(10.0, random_.uniform(-1.5, 1.5));
    return (random_.uniform() < 0.5 ? -magnitude : magnitude) * units_[j];
}

void FitSearch::add_start(FitModel& model, std::vector<double> point, bool is_given) {
    if (!bounds_->low.empty())
        for (std::size_t j = 0; j < point.size(); ++j)
            point[j] = std::clamp(point[j], bounds_->low[j], bounds_->high[j]);
    const double cost = model.solve(point.data());
    ++n_starts_;
    if (std::isfinite(cost)) starts_.push_back({std::move(point), cost, is_given});
}

// One parameter: all of the grid with both signs. Two: the product of a coarser one.
void FitSearch::add_grid(FitModel& model) {
    const std::size_t q = units_.size();
    if (q == 1) {
        for (const double z : grid)
            for (const double sign : {1.0, -1.0}) add_start(model, {sign * z * units_[0]});
    } else if (q == 2) {
        for (const double a : {1.0, -1.0, 0.1, -0.1, 10.0, -10.0})
            for (const double b : {1.0, -1.0, 0.1, -0.1, 10.0, -10.0}) add_start(model, {a * units_[0], b * units_[1]});
    }
}

void FitSearch::add_draws(FitModel& model, std::size_t n, bool normal_only) {
    for (std::size_t i = 0; i < n && !watch_->over(); ++i) {
        std::vector<double> point(units_.size());
        for (std::size_t j = 0; j < point.size(); ++j) point[j] = draw(j, normal_only);
        add_start(model, std::move(point));
    }
}

// Periodic costs have a basin every turn: one parameter at equal steps far out.
void FitSearch::add_frequencies(FitModel& model) {
    for (int i = 1; i <= 80 && !watch_->over(); ++i)
        for (const double sign : {1.0, -1.0}) add_start(model, {sign * 0.75 * i * units_[0]});
}

std::vector<double> FitSearch::completed(const std::vector<double>& given) {
    std::vector<double> point = given;
    for (std::size_t j = 0; j < point.size(); ++j)
        if (point[j] != point[j]) point[j] = draw(j, false);
    return point;
}

void FitSearch::keep(Optimum optimum) {
    if (!std::isfinite(optimum.cost)) return;
    const auto at = std::find_if(optima_.begin(), optima_.end(), [&](const Optimum& other) {
        return std::fabs(other.cost - optimum.cost) <= same_cost * other.cost;
    });
    if (at != optima_.end()) {
        if (optimum.cost < at->cost) *at = std::move(optimum);
    } else {
        optima_.push_back(std::move(optimum));
    }
    std::stable_sort(optima_.begin(), optima_.end(),
                     [](const Optimum& a, const Optimum& b) { return a.cost < b.cost; });
    if (optima_.size() > n_kept) optima_.resize(n_kept);
}

void FitSearch::descend_from(FitModel& model, std::size_t i, const DescentLimits& wanted) {
    Optimum optimum{std::move(starts_[i].point), 0.0, Stop::budget};
    starts_.erase(starts_.begin() + static_cast<std::ptrdiff_t>(i));
    DescentLimits limits = wanted;
    if (!optima_.empty() && limits.may_abandon) limits.cost_to_beat = optima_.front().cost;
    optimum.cost = levenberg_.descend(model, optimum.point, units_, *bounds_, limits, *watch_);
    optimum.stop = levenberg_.stop();
    keep(std::move(optimum));
}

void FitSearch::descend_from_best(FitModel& model, std::size_t n, const DescentLimits& wanted) {
    for (std::size_t i = 0; i < n && !starts_.empty() && !done(); ++i) {
        const auto best = std::min_element(starts_.begin(), starts_.end(),
                                           [](const Start& a, const Start& b) { return a.cost < b.cost; });
        descend_from(model, static_cast<std::size_t>(best - starts_.begin()), wanted);
    }
}

void FitSearch::descend_from_given(FitModel& model) {
    for (std::size_t i = 0; i < starts_.size() && !done();) {
        if (starts_[i].is_given) {
            descend_from(model, i, trial_limits);
        } else {
            ++i;
        }
    }
}

// To convergence from the best optima so far.
void FitSearch::finish(FitModel& model, std::size_t n) {
    const std::size_t n_found = std::min(n, optima_.size());
    std::vector<Optimum> found(optima_.begin(), optima_.begin() + static_cast<std::ptrdiff_t>(n_found));
    for (Optimum& optimum : found) {
        if (done()) return;
        optimum.cost = levenberg_.descend(model, optimum.point, units_, *bounds_, final_limits, *watch_);
        optimum.stop = levenberg_.stop();
        keep(std::move(optimum));
    }
}

void FitSearch::prepare(FitModel& model, const Bounds& bounds, Watch& watch) {
    const std::size_t q = model.n_nonlinear();
    bounds_ = &bounds;
    watch_ = &watch;
    n_starts_ = 0;
    starts_.clear();
    optima_.clear();
    units_.assign(q, 1.0);
    normal_units_.assign(q, 1.0);
    if (q > 0) model.natural_units(units_, normal_units_);
}

// On the rows whose arguments of functions move slowest with the parameters: there the optimum is wide.
void FitSearch::search_slow_rows(FitModel& model, std::size_t n_restarts) {
    const std::size_t n = model.rows().n();
    const std::size_t n_slow = std::max<std::size_t>(n_slow_rows, 2 * model.n_parameters() + 4);
    if (2 * n_slow > n) return;
    rates_.resize(model.rows().n_padded());
    model.row_rates(units_, rates_);
    std::vector<std::uint32_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(i);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return rates_[a] < rates_[b]; });
    if (!(rates_[order[n_slow - 1]] < 0.5 * rates_[order[n - 1]])) return;
    order.resize(n_slow);
    slow_rows_ = model.rows().subset(order);
    slow_model_.bind(model.program(), slow_rows_);
    std::vector<Optimum> known = std::move(optima_);
    std::vector<Start> starts = std::move(starts_);
    const std::vector<double> units = units_;
    const std::vector<double> normal_units = normal_units_;
    optima_.clear();
    starts_.clear();
    slow_model_.natural_units(units_, normal_units_);
    add_grid(slow_model_);
    add_draws(slow_model_, first_draws, false);
    if (units_.size() == 1) add_frequencies(slow_model_);
    add_draws(slow_model_, more_draws * std::min<std::size_t>(units_.size(), 4), false);
    descend_from_best(slow_model_, n_restarts, trial_limits);
    finish(slow_model_, n_finished);
    std::vector<Optimum> found = std::move(optima_);
    optima_ = std::move(known);
    starts_ = std::move(starts);
    units_ = units;
    normal_units_ = normal_units;
    for (Optimum& optimum : found) {
        if (done()) return;
        optimum.cost = levenberg_.descend(model, optimum.point, units_, *bounds_, trial_limits, *watch_);
        optimum.stop = levenberg_.stop();
        keep(std::move(optimum));
    }
}

std::vector<Optimum> FitSearch::improve(FitModel& model, std::span<const std::vector<double>> given,
                                        const Bounds& bounds, std::vector<Optimum> known, Watch& watch) {
    prepare(model, bounds, watch);
    for (Optimum& optimum : known) keep(std::move(optimum));
    for (const std::vector<double>& start : given) add_start(model, completed(start), true);
    descend_from_given(model);
    finish(model, n_finished);
    return std::move(optima_);
}

std::vector<Optimum> FitSearch::run(FitModel& model, std::span<const std::vector<double>> given, const Bounds& bounds,
                                    std::size_t n_restarts, bool normal_only, std::uint64_t seed, Watch& watch) {
    const std::size_t q = model.n_nonlinear();
    random_ = Random(seed);
    prepare(model, bounds, watch);
    if (q == 0) {
        add_start(model, {});
    } else if (n_restarts == 0) {
        for (const std::vector<double>& start : given) add_start(model, completed(start));
        if (given.empty()) add_start(model, units_);
    }
    if (n_restarts == 0 || q == 0) {
        descend_from_best(model, starts_.size(), given_limits);
        return std::move(optima_);
    }
    for (const std::vector<double>& start : given) {
        add_start(model, completed(start), true);
        if (n_starts_ == 1) descend_from_best(model, 1, trial_limits);
        if (done()) return std::move(optima_);
    }
    if (normal_only) {
        for (std::size_t i = 0; i < n_restarts && !done(); ++i) {
            add_draws(model, 1, true);
            descend_from_best(model, starts_.size(), normal_limits);
        }
        return std::move(optima_);
    }
    search_slow_rows(model, n_restarts);
    if (done()) return std::move(optima_);
    add_grid(model);
    add_draws(model, first_draws, false);
    descend_from_best(model, std::min(first_descents, n_restarts), trial_limits);
    descend_from_given(model);
    if (!done()) {
        if (q == 1) add_frequencies(model);
        add_draws(model, more_draws * std::min<std::size_t>(q, 4), false);
        descend_from_best(model, n_restarts - std::min(first_descents, n_restarts), trial_limits);
    }
    finish(model, n_finished);
    return std::move(optima_);
}

}  // namespace simplipy
