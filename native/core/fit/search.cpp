#include "search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace simplipy {
namespace {

// in natural units, the likeliest first
constexpr double grid[] = {0.1, -0.1, 1.0,  -1.0,  10.0, -10.0, 0.03,  -0.03,
                           3.0, -3.0, 30.0, -30.0, 0.3,  -0.3,  100.0, -100.0};
constexpr double coarse_grid[] = {1.0, -1.0, 0.1, -0.1, 10.0, -10.0};
constexpr double frequency_step = 0.5;      // in natural units; hits integers, the only exponents of negative numbers
constexpr std::size_t n_frequencies = 320;  // of both signs
constexpr std::size_t n_sifted[] = {416, 512, 768};  // starts for one, two and more nonlinear parameters
constexpr std::size_t usual_restarts = 8;            // that these are for
constexpr double plain_part = 0.3;                   // of the drawn starts: N(0, 5) as it is
constexpr std::size_t few_parameters = 3;
constexpr std::size_t few_rows = 8;
constexpr std::size_t more_rows = 16;
constexpr std::size_t most_rows = 256;
constexpr std::size_t n_sifted_on_all = 192;
constexpr std::size_t n_descended_on_all = 5;
constexpr DescentLimits trial_limits{.n_steps = 16, .progress = 1e-6, .may_abandon = true};
constexpr DescentLimits final_limits{.n_steps = 60};
constexpr DescentLimits given_limits{.n_steps = 1000, .progress = 1e-14, .damping = 1e-1};
constexpr double rough_progress = 1e-4;
constexpr DescentLimits normal_limits{.n_steps = 400, .progress = 1e-9, .damping = 1e-1};
constexpr std::size_t n_finished = 3;
constexpr std::size_t n_kept = 4;
constexpr double same_cost = 1e-6;  // two optima whose costs are as close as this are one

constexpr std::size_t n_tabled = 4096;

// Draws of N(0, 5) and of both signs over three decades. A search picks from them: logarithms and cosines of its own
// would cost as much as the values of its starts.
struct DrawTable {
    std::array<double, n_tabled> normal;
    std::array<double, n_tabled> magnitude;
};

const DrawTable& draw_table() {
    static const DrawTable table = [] {
        DrawTable made;
        Random random(1);
        for (double& value : made.normal) value = 5.0 * random.normal();
        for (double& value : made.magnitude) {
            const double size = std::pow(10.0, random.uniform(-1.5, 1.5));
            value = random.uniform() < 0.5 ? -size : size;
        }
        return made;
    }();
    return table;
}

}  // namespace

double FitSearch::draw(std::size_t j, bool plain) {
    const DrawTable& table = draw_table();
    const std::uint64_t bits = random_.next();
    const std::size_t at = bits % n_tabled;
    if (plain) return table.normal[at];
    const bool is_normal = (bits >> 32) % 2 == 0;
    return is_normal ? table.normal[at] * normal_units_[j] : table.magnitude[at] * units_[j];
}

void FitSearch::add_start(FitModel& model, std::vector<double> point, bool is_given) {
    if (!bounds_->low.empty())
        for (std::size_t j = 0; j < point.size(); ++j)
            point[j] = std::clamp(point[j], bounds_->low[j], bounds_->high[j]);
    const double cost = model.solve(point.data());
    ++n_starts_;
    if (std::isfinite(cost)) starts_.push_back({std::move(point), cost, is_given});
}

// N(0, 5), as the paper draws them.
void FitSearch::add_normal_start(FitModel& model) {
    std::vector<double> point(units_.size());
    for (double& value : point) value = 5.0 * random_.normal();
    add_start(model, std::move(point));
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
    descend(model, std::move(optimum), wanted);
}

void FitSearch::descend(FitModel& model, Optimum optimum, const DescentLimits& wanted) {
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
        descend(model, std::move(optimum), final_limits);
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

// Start number `number` into a lane of the sieve. One parameter: a logarithmic grid of both signs, then equal steps far
// out, as periodic costs have a basin every turn. Two: the product of a coarser grid. Then draws.
void FitSearch::place(std::size_t number, std::size_t lane) {
    const std::size_t q = units_.size();
    if (q == 1 && number < std::size(grid)) {
        sieve_.parameter(0)[lane] = grid[number] * units_[0];
    } else if (q == 1 && number < std::size(grid) + n_frequencies) {
        const double turn = static_cast<double>((number - std::size(grid)) / 2 + 1);
        sieve_.parameter(0)[lane] = (number % 2 == 0 ? turn : -turn) * frequency_step * units_[0];
    } else if (q == 2 && number < std::size(coarse_grid) * std::size(coarse_grid)) {
        sieve_.parameter(0)[lane] = coarse_grid[number / std::size(coarse_grid)] * units_[0];
        sieve_.parameter(1)[lane] = coarse_grid[number % std::size(coarse_grid)] * units_[1];
    } else {
        const bool plain = random_.uniform() < plain_part;
        for (std::size_t j = 0; j < q; ++j) sieve_.parameter(j)[lane] = draw(j, plain);
    }
    if (bounds_->low.empty()) return;
    for (std::size_t j = 0; j < q; ++j) {
        double& value = sieve_.parameter(j)[lane];
        value = std::clamp(value, bounds_->low[j], bounds_->high[j]);
    }
}

// The `n_wanted` best of many starts, the best first.
void FitSearch::sift(std::size_t n, std::size_t n_wanted) {
    const std::size_t q = units_.size();
    const std::size_t n_lanes = sieve_.n_lanes();
    for (std::size_t first = 0; first < n && !watch_->over(); first += n_lanes) {
        for (std::size_t lane = 0; lane < n_lanes; ++lane) place(first + lane, lane);
        const std::span<const double> costs = sieve_.costs();
        n_starts_ += n_lanes;
        for (std::size_t lane = 0; lane < n_lanes; ++lane) {
            if (!std::isfinite(costs[lane])) continue;
            if (starts_.size() == n_wanted && costs[lane] >= starts_.back().cost) continue;
            std::vector<double> point(q);
            for (std::size_t j = 0; j < q; ++j) point[j] = sieve_.parameter(j)[lane];
            const auto at = std::upper_bound(starts_.begin(), starts_.end(), costs[lane],
                                             [](double cost, const Start& start) { return cost < start.cost; });
            starts_.insert(at, {std::move(point), costs[lane], false});
            if (starts_.size() > n_wanted) starts_.pop_back();
        }
    }
}

// The rows whose arguments of functions move slowest with the parameters: a wave has its widest basin there.
std::vector<std::uint32_t> FitSearch::slow_rows(FitModel& model, std::size_t n_skipped) {
    const std::size_t n = model.rows().n();
    rates_.resize(model.rows().n_padded());
    model.row_rates(units_, rates_);
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return rates_[a] < rates_[b]; });
    const std::size_t n_slow = std::min(n, model.n_parameters() <= few_parameters ? few_rows : more_rows);
    order.erase(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(std::min(n_skipped, n - n_slow)));
    order.resize(n_slow);
    return order;
}

// Many starts on few rows, the best of them to their optima there, and from those on all rows of the model.
void FitSearch::search_slow_rows(FitModel& model, std::size_t n_restarts, std::size_t n_skipped) {
    const std::vector<std::uint32_t> chosen = slow_rows(model, n_skipped);
    slow_rows_ = model.rows().subset(chosen);
    const bool relative = slow_rows_.heavy_tailed();
    if (relative) relative_rows_ = slow_rows_.relative();
    const FitRows& rows = relative ? relative_rows_ : slow_rows_;
    slow_model_.bind(model.program(), rows);
    sieve_.bind(model, chosen, {rows.root_weights(), chosen.size()});
    std::vector<Optimum> known = std::exchange(optima_, {});
    std::vector<Start> starts = std::exchange(starts_, {});
    const std::vector<double> units = units_;
    const std::vector<double> normal_units = normal_units_;
    slow_model_.natural_units(units_, normal_units_);
    sift(n_sifted[std::min<std::size_t>(units_.size(), 3) - 1] * n_restarts / usual_restarts, n_restarts);
    descend_from_best(slow_model_, n_restarts, trial_limits);
    finish(slow_model_, n_finished);
    model.count_evaluations(slow_model_);
    std::vector<Optimum> found = std::exchange(optima_, std::move(known));
    starts_ = std::move(starts);
    units_ = units;
    normal_units_ = normal_units;
    for (Optimum& optimum : found) {
        if (done()) return;
        descend(model, std::move(optimum), trial_limits);
    }
}

// Fewer starts on all rows: where no start explains the slow ones, the best fit to all may be anywhere.
void FitSearch::search_all_rows(FitModel& model, std::size_t n_restarts) {
    std::vector<std::uint32_t> all(std::min(model.rows().n(), most_rows));
    std::iota(all.begin(), all.end(), 0u);
    sieve_.bind(model, all, {model.rows().root_weights(), all.size()});
    std::vector<Start> starts = std::exchange(starts_, {});
    const std::size_t n_descents = std::max<std::size_t>(1, n_descended_on_all * n_restarts / usual_restarts);
    sift(n_sifted_on_all * n_restarts / usual_restarts, n_descents);
    descend_from_best(model, n_descents, trial_limits);
    starts_ = std::move(starts);
}

std::vector<Optimum> FitSearch::run_again(FitModel& model, const Bounds& bounds, std::size_t n_restarts,
                                          std::uint64_t seed, Watch& watch) {
    random_ = Random(seed);
    prepare(model, bounds, watch);
    search_all_rows(model, n_restarts);
    finish(model, n_finished);
    return std::move(optima_);
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
                                    const SearchPlan& plan, std::uint64_t seed, Watch& watch) {
    const std::size_t n_restarts = plan.n_restarts;
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
        DescentLimits limits = given_limits;
        if (plan.max_steps > 0) limits = {.n_steps = plan.max_steps, .progress = rough_progress};
        descend_from_best(model, starts_.size(), limits);
        return std::move(optima_);
    }
    for (const std::vector<double>& start : given) {
        add_start(model, completed(start), true);
        if (n_starts_ == 1) descend_from_best(model, 1, trial_limits);
        if (done()) return std::move(optima_);
    }
    if (plan.normal_only) {
        for (std::size_t i = 0; i < n_restarts && !done(); ++i) {
            add_normal_start(model);
            descend_from_best(model, starts_.size(), normal_limits);
        }
        return std::move(optima_);
    }
    search_slow_rows(model, n_restarts, 0);
    if (done()) return std::move(optima_);
    search_slow_rows(model, (n_restarts + 1) / 2, few_rows);  // others, as the first may have told nothing
    if (done()) return std::move(optima_);
    search_all_rows(model, n_restarts);
    descend_from_given(model);
    finish(model, n_finished);
    return std::move(optima_);
}

}  // namespace simplipy
