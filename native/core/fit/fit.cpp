#include "fit.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/threads.hpp"
#include "core/evaluate/evaluate.hpp"
#include "covariance.hpp"
#include "model.hpp"
#include "race.hpp"
#include "robust.hpp"
#include "search.hpp"
#include "unwrap.hpp"

namespace simplipy {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t confirm_steps = 60;
constexpr double much_worse = 2.0;  // cost on all rows over cost on the screened ones: a false optimum
constexpr double ran_away = 1e8;    // in natural units
constexpr DescentLimits whole_limits{.n_steps = 30, .progress = 1e-6, .damping = 1e-1, .patience = 10};
constexpr DescentLimits last_limits{.n_steps = 400, .progress = 1e-14};
constexpr double nearly_exact = 1e-8;
constexpr double limit_slack = 4.0;  // the FVU on few rows is a noisy estimate

// Everything that one thread needs for one fit after the other.
class Fitter {
  public:
    Fitter(const FitRows& all, const FitRows& screen, const FitOptions& options, Watch& watch)
        : all_(all), screen_(screen), options_(options), watch_(watch) {}

    // `fvu_limit`: what the screen shows to be beyond it is dropped.
    FitResult fit(const FitJob& job, double fvu_limit) {
        job_ = &job;
        fvu_limit_ = fvu_limit;
        if (job.n_parameters > 0 && !watch_.over()) {
            tree_ = make_fit_tree(*job.tree, job.columns, job.n_parameters);
            for (std::size_t p = 0; p < job.bounds.size(); ++p)
                tree_.bounded[p] = std::isfinite(job.bounds[p].first) || std::isfinite(job.bounds[p].second);
        }
        const bool one_way = options_.n_restarts > 0 || options_.max_steps > 0 || !has_whole_start();
        if (one_way || job.n_parameters == 0 || watch_.over()) return fit_with_restarts();
        // The caller's start is all there is. Linear parameters can start where the caller says, or be solved for:
        // the first keeps to the optimum next to the start where several are equal, the second gets further.
        FitResult whole = attempt(false);
        FitResult projected = attempt(true);
        return projected.fvu < whole.fvu * (1.0 - 1e-6) ? projected : whole;
    }

  private:
    FitResult fit_with_restarts() {
        FitResult result = attempt(!options_.normal_starts);
        const bool lost =
            std::any_of(result.parameters.begin(), result.parameters.end(), [](double v) { return std::isinf(v); });
        // a = 0 in a*(b + c*u) leaves c without a value
        return lost ? attempt(false) : result;
    }

    bool has_whole_start() const {
        return std::any_of(job_->starts.begin(), job_->starts.end(), [](const std::vector<double>& start) {
            return std::none_of(start.begin(), start.end(), [](double v) { return v != v; });
        });
    }

    FitResult attempt(bool project) {
        result_ = FitResult{};
        result_.parameters.assign(job_->n_parameters, unknown);
        result_.covariance.assign(job_->n_parameters * job_->n_parameters, unknown);
        result_.cost = result_.fvu = infinity;
        if (watch_.over()) return std::move(result_);
        if (job_->n_parameters == 0) {
            result_.status = FitStatus::no_constants;
            if (is_hopeless_on_screen()) {
                result_.status = FitStatus::dropped;
            } else {
                judge();
            }
            return std::move(result_);
        }
        model_.reset_evaluations();
        program_ = compile_fit(tree_, job_->tree->size() - 1, project);
        search();
        result_.n_evaluations = static_cast<std::uint32_t>(model_.n_evaluations() + unwrapper_.n_evaluations());
        return std::move(result_);
    }

    void search() {
        const std::size_t q = program_.nonlinear.size();
        const bool worth_it = (q > 0 && options_.n_restarts > 0) || std::isfinite(fvu_limit_);
        const bool staged = worth_it && screen_.n() < all_.n() && !options_.normal_starts;
        set_bounds();
        const FitRows& rows = staged ? screen_ : all_;
        std::vector<std::vector<double>> starts = program_.starts(job_->starts);
        unwrapper_.reset_evaluations();
        if (q > 0 && options_.n_restarts > 0 && !options_.normal_starts) {
            const std::optional<std::vector<double>> unwrapped = unwrapper_.start(tree_, rows, seed(), watch_);
            if (unwrapped) starts.insert(starts.begin(), program_.starts({&*unwrapped, 1}).front());
        }
        model_.bind(program_, rows);
        std::vector<Optimum> optima = search_.run(model_, starts, bounds_, plan(), seed(), watch_);
        result_.n_starts = static_cast<std::uint32_t>(search_.n_starts());
        if (!optima.empty() && optima.front().cost > good_as_perfect && q > 0 && options_.n_restarts > 0 &&
            !options_.normal_starts && rows.heavy_tailed() && !watch_.over())
            search_relatively(optima, rows);
        if (!optima.empty() && optima.front().cost > good_as_perfect && q > 0 && options_.n_restarts > 0 &&
            !options_.normal_starts && bounds_.low.empty() && !watch_.over())
            search_from_whole_starts(optima, rows);
        if (staged && !optima.empty() && optima.front().cost > limit_slack * fvu_limit_) {
            drop(optima.front());
            return;
        }
        if (staged) confirm(optima);
        if (optima.empty()) {
            result_.status = watch_.over() ? FitStatus::deadline : FitStatus::non_finite;
            return;
        }
        finish(optima.front());
    }

    SearchPlan plan() const { return {options_.n_restarts, options_.normal_starts, options_.max_steps}; }

    // Where a few rows hold nearly all of the variance, the others tell where the optimum is.
    void search_relatively(std::vector<Optimum>& optima, const FitRows& rows) {
        const FitRows relative = rows.relative();
        model_.bind(program_, relative);
        std::vector<Optimum> found = search_.run_again(model_, bounds_, options_.n_restarts, ~seed(), watch_);
        result_.n_starts += static_cast<std::uint32_t>(search_.n_starts());
        model_.bind(program_, rows);
        if (found.empty()) return;
        std::vector<Optimum> polished =
            search_.run(model_, {&found.front().point, 1}, bounds_, {.n_restarts = 0}, seed(), watch_);
        if (!polished.empty() && polished.front().cost < optima.front().cost)
            optima.insert(optima.begin(), std::move(polished.front()));
    }

    // The caller's starts with the linear parameters where the caller says: another way down, to other optima.
    void search_from_whole_starts(std::vector<Optimum>& optima, const FitRows& rows) {
        if (!has_whole_start()) return;
        const FitProgram whole = compile_fit(tree_, job_->tree->size() - 1, false);
        model_.bind(whole, rows);
        const std::vector<double> units = natural_units();
        std::vector<std::vector<double>> found;
        DescentLimits limits = whole_limits;
        limits.cost_to_beat = optima.front().cost;
        for (const std::vector<double>& start : whole.starts(job_->starts)) {
            std::vector<double> point = start;
            const double cost = levenberg_.descend(model_, point, units, {}, limits, watch_);
            if (!(cost < much_worse * limits.cost_to_beat)) continue;
            found.emplace_back(job_->n_parameters, unknown);
            whole.recover({}, point, found.back());
        }
        model_.bind(program_, rows);
        if (!found.empty())
            optima = search_.improve(model_, program_.starts(found), bounds_, std::move(optima), watch_);
    }

    void set_bounds() {
        bounds_ = {};
        if (job_->bounds.empty()) return;
        for (const Nonlinear& nonlinear : program_.nonlinear) {
            auto [low, high] = job_->bounds[nonlinear.parameter];
            if (nonlinear.is_log) {
                low = low > 0.0 ? std::log(low) : -infinity;
                high = high > 0.0 ? std::log(high) : -infinity;
            }
            bounds_.low.push_back(low);
            bounds_.high.push_back(high);
        }
    }

    // Descends on all rows from the optima of the screened ones until one holds. Without a limit to beat, a fit that
    // leaves something unexplained is compared with all of them, and with a search on all rows.
    void confirm(std::vector<Optimum>& optima) {
        std::vector<Optimum> screened = std::move(optima);
        optima.clear();
        if (screened.empty()) return;
        model_.bind(program_, all_);
        const bool thorough = !std::isfinite(fvu_limit_);
        const std::vector<double> units = natural_units();
        for (Optimum& optimum : screened) {
            const double screen_cost = optimum.cost;
            DescentLimits limits{.n_steps = confirm_steps, .progress = 1e-12};
            if (!optima.empty()) limits.cost_to_beat = optima.front().cost;
            optimum.cost = levenberg_.descend(model_, optimum.point, units, bounds_, limits, watch_);
            optimum.stop = levenberg_.stop();
            const bool holds = optimum.cost <= std::max(good_as_perfect, much_worse * screen_cost);
            if (std::isfinite(optimum.cost) && (optima.empty() || optimum.cost < optima.front().cost))
                optima.assign(1, std::move(optimum));
            if (watch_.over() || (holds && (!thorough || optima.front().cost <= nearly_exact))) break;
        }
        // nothing explains the data: the caller's own starts, on all rows, may still do better than the screened ones
        if (!job_->starts.empty() && !watch_.over() && (optima.empty() || optima.front().cost > good_as_perfect))
            optima = search_.improve(model_, program_.starts(job_->starts), bounds_, std::move(optima), watch_);
        const bool unexplained = optima.empty() || optima.front().cost > nearly_exact;
        if (!thorough || !unexplained || units.empty() || options_.n_restarts == 0 || watch_.over()) return;
        std::vector<Optimum> others = search_.run_again(model_, bounds_, options_.n_restarts, seed(), watch_);
        result_.n_starts += static_cast<std::uint32_t>(search_.n_starts());
        if (!others.empty() && (optima.empty() || others.front().cost < optima.front().cost))
            optima = std::move(others);
    }

    // Of the nonlinear parameters of the program that the model is bound to.
    std::vector<double> natural_units() {
        std::vector<double> units(model_.n_nonlinear());
        std::vector<double> normal_units(units.size());
        if (!units.empty()) model_.natural_units(units, normal_units);
        return units;
    }

    std::uint64_t seed() const { return job_->tree->hash() * 0x9e3779b97f4a7c15u + options_.seed; }

    void drop(const Optimum& best) {
        model_.solve(best.point.data());
        program_.recover(model_.linear(), best.point, result_.parameters);
        result_.status = FitStatus::dropped;
    }

    void finish(Optimum& best) {
        // the model may stand elsewhere: solve once more at the best point
        double cost = model_.solve(best.point.data());
        if (best.stop == Stop::budget && cost > good_as_perfect && cost < nearly_exact && !watch_.over()) {
            cost = levenberg_.descend(model_, best.point, natural_units(), bounds_, last_limits, watch_);
            best.stop = levenberg_.stop();
        }
        std::vector<double> linear(model_.linear().begin(), model_.linear().end());
        bool regular = std::isfinite(cost);
        const bool in_time = !watch_.over();
        if (options_.objective == Objective::squared) {
            regular = regular && (!in_time || model_.differentiate());
        } else if (regular && in_time) {
            regular = refine_robustly(best, linear, cost);
        }
        program_.recover(linear, best.point, result_.parameters);
        result_.status = regular ? FitStatus::ok : FitStatus::diverged;
        if (regular && in_time) add_covariance(best, linear, cost);
        if (best.stop == Stop::budget && ran_off(best)) result_.status = FitStatus::diverged;
        if (!in_time) result_.status = FitStatus::deadline;
        judge();
        if (in_time && options_.objective == Objective::squared) polish(best, std::move(linear));
    }

    // What is left is small and not yet rounding: the factorisation's own error in the linear parameters counts. A
    // descent over all parameters sees the residuals of the numbers that are returned.
    void polish(const Optimum& best, std::vector<double> linear) {
        if (!(result_.fvu > 10.0 * good_as_perfect && result_.fvu < nearly_exact)) return;
        std::vector<double> point = best.point;
        const std::vector<double> units = natural_units();
        RobustDescent(Objective::squared, 1.0).descend(model_, point, linear, units, bounds_, watch_);
        const FitResult before = result_;
        program_.recover(linear, point, result_.parameters);
        judge();
        if (!(result_.fvu < before.fvu)) result_ = before;
    }

    // From least-squares optima to that of the robust objective, and the triangle of all derivatives there. Outliers
    // may have led the first one astray, so another comes from a target without its extremes.
    bool refine_robustly(Optimum& best, std::vector<double>& linear, double& cost) {
        const std::vector<double> units = natural_units();
        RobustDescent descent(options_.objective, options_.threshold);
        const double first = descent.descend(model_, best.point, linear, units, bounds_, watch_);
        const FitRows clipped = all_.clipped();
        model_.bind(program_, clipped);
        std::vector<Optimum> optima =
            search_.run(model_, program_.starts(job_->starts), bounds_, plan(), options_.seed, watch_);
        if (!optima.empty()) {
            Optimum other = std::move(optima.front());
            model_.solve(other.point.data());
            std::vector<double> other_linear(model_.linear().begin(), model_.linear().end());
            model_.bind(program_, all_);
            if (descent.descend(model_, other.point, other_linear, units, bounds_, watch_) < first) {
                best.point = std::move(other.point);
                linear = std::move(other_linear);
            }
        }
        model_.bind(program_, all_);
        cost = model_.residual(best.point.data(), linear.data());
        if (!std::isfinite(cost) || !model_.differentiate_all()) return false;
        for (std::size_t i = 0; i < model_.n_parameters(); ++i) model_.orthogonalise(i);
        return true;
    }

    bool ran_off(const Optimum& best) {
        const std::vector<double> units = natural_units();
        for (std::size_t j = 0; j < units.size(); ++j)
            if (std::fabs(best.point[j]) > ran_away * std::fabs(units[j])) return true;
        return false;
    }

    void add_covariance(const Optimum& best, std::span<const double> linear, double cost) {
        const std::size_t p = model_.n_parameters();
        const std::size_t n = all_.n();
        for (std::size_t i = 0; i < p; ++i)
            if (model_.r(i, i) == 0.0) result_.status = FitStatus::singular;
        if (n < p) result_.status = FitStatus::singular;
        if (result_.status == FitStatus::singular) return;
        const double freedom = static_cast<double>(n) - static_cast<double>(p);
        const double unit = all_.normalisation();
        result_.covariance = covariance(model_, best.point, linear,
                                        options_.absolute_errors ? 1.0 : (freedom > 0.0 ? cost / freedom : unknown),
                                        options_.absolute_errors ? unit : 1.0);
    }

    // Of a tree without parameters.
    bool is_hopeless_on_screen() const {
        if (!std::isfinite(fvu_limit_) || screen_.n() == all_.n()) return false;
        const std::vector<double> values = values_on(screen_, *job_, result_.parameters);
        double fvu = 0.0;
        for (std::size_t i = 0; i < screen_.n(); ++i) {
            const double residual = (screen_.target()[i] - values[i]) * screen_.root_weights()[i];
            fvu += residual * residual;
        }
        return fvu > limit_slack * fvu_limit_;  // undefined ones are judged on all rows
    }

    // Loss and FVU of the tree itself on all rows.
    void judge() {
        const std::vector<double> values = values_on(all_, *job_, result_.parameters);
        double fvu = 0.0;
        double loss = 0.0;
        for (std::size_t i = 0; i < all_.n(); ++i) {
            const double difference = all_.target()[i] - values[i];
            const double residual = difference * all_.root_weights()[i];
            fvu += residual * residual;
            if (options_.objective != Objective::squared)
                loss += all_.sample_weights()[i] *
                        robust_loss(options_.objective, options_.threshold, difference / all_.sizes()[i]);
        }
        if (!std::isfinite(fvu)) {
            if (result_.status != FitStatus::deadline) result_.status = FitStatus::non_finite;
            return;
        }
        if (options_.objective == Objective::squared) loss = over_square(fvu, all_.normalisation());
        result_.fvu = fvu;
        result_.cost = loss / all_.sum_of_weights();
    }

    const FitRows& all_;
    const FitRows& screen_;
    const FitOptions& options_;
    Watch& watch_;
    const FitJob* job_ = nullptr;
    double fvu_limit_ = infinity;
    FitTree tree_;
    FitProgram program_;
    FitModel model_;
    FitSearch search_;
    Unwrapper unwrapper_;
    Levenberg levenberg_;
    Bounds bounds_;
    FitResult result_;
};

}  // namespace

bool fit_batch(std::span<const FitJob> jobs, const FitRows& rows, const FitOptions& options,
               std::span<FitResult> results) {
    constexpr std::size_t round_size = 256;
    Watch watch(options.seconds, options.interrupted);
    std::optional<FitRows> subset;
    if (options.n_screen_rows < rows.n())
        subset = rows.subset(stratified_rows({rows.target(), rows.n()}, options.n_screen_rows));
    const FitRows& screen = subset ? *subset : rows;
    const std::size_t n_threads = std::max<std::size_t>(1, options.n_threads);
    std::vector<std::optional<Fitter>> fitters(std::min(jobs.size(), n_threads));
    for (std::optional<Fitter>& fitter : fitters) fitter.emplace(rows, screen, options, watch);
    Race race(options.race);
    const std::size_t step = options.race.keep_best == 0 ? jobs.size() : round_size;
    for (std::size_t first = 0; first < jobs.size() && !watch.over(); first += step) {
        const std::size_t end = std::min(jobs.size(), first + step);
        std::atomic<std::size_t> next{first};
        parallel_for(std::min(fitters.size(), end - first), n_threads, [&](std::size_t k) {
            for (std::size_t i = next++; i < end && !watch.over(); i = next++)
                results[i] = fitters[k]->fit(jobs[i], race.fvu_limit(jobs[i]));
        });
        for (std::size_t i = first; i < end; ++i) race.add(jobs[i], results[i]);
    }
    return !watch.was_interrupted();
}

}  // namespace simplipy
