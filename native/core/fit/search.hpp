// The search for the nonlinear parameters of one model: many starts are valued on few rows, where the optimum is wide;
// the best are descended from there, and the best of those on all rows. A few draws and the caller's starts follow on
// all rows. It ends as soon as what is left of the target is rounding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/random.hpp"
#include "core/base/watch.hpp"
#include "levenberg.hpp"
#include "model.hpp"
#include "sieve.hpp"

namespace simplipy {

struct Optimum {
    std::vector<double> point;  // nonlinear parameters
    double cost = 0.0;
    Stop stop = Stop::budget;
};

struct SearchPlan {
    std::size_t n_restarts = 0;  // descents beside those from the given starts
    bool normal_only = false;    // from N(0, 5) alone
    std::size_t max_steps = 0;   // of a descent, where there are no restarts; 0 = until it converges
};

// A cost at which every further digit is rounding.
inline constexpr double good_as_perfect = 1e-22;

class FitSearch {
  public:
    // Distinct optima, the best first; empty where no start is defined on all rows. `given`: starts of the caller's, in
    // the order of the nonlinear parameters, NaN where unknown, the most promising first. Without restarts only those
    // are descended from.
    std::vector<Optimum> run(FitModel& model, std::span<const std::vector<double>> given, const Bounds& bounds,
                             const SearchPlan& plan, std::uint64_t seed, Watch& watch);

    // The same for another view of the data on which it ran before: on all rows alone.
    std::vector<Optimum> run_again(FitModel& model, const Bounds& bounds, std::size_t n_restarts, std::uint64_t seed,
                                   Watch& watch);

    // The known optima of the same model, and those next to the given starts.
    std::vector<Optimum> improve(FitModel& model, std::span<const std::vector<double>> given, const Bounds& bounds,
                                 std::vector<Optimum> known, Watch& watch);

    std::size_t n_starts() const { return n_starts_; }

  private:
    struct Start {
        std::vector<double> point;
        double cost;
        bool is_given;
    };

    void add_start(FitModel& model, std::vector<double> point, bool is_given = false);
    void add_normal_start(FitModel& model);
    void prepare(FitModel& model, const Bounds& bounds, Watch& watch);
    double draw(std::size_t j, bool plain);
    std::vector<double> completed(const std::vector<double>& given);
    void descend_from(FitModel& model, std::size_t i, const DescentLimits& wanted);
    void descend(FitModel& model, Optimum optimum, const DescentLimits& wanted);
    void descend_from_given(FitModel& model);
    void descend_from_best(FitModel& model, std::size_t n, const DescentLimits& wanted);
    void finish(FitModel& model, std::size_t n);
    void search_slow_rows(FitModel& model, std::size_t n_restarts, std::size_t n_skipped);
    std::vector<std::uint32_t> slow_rows(FitModel& model, std::size_t n_skipped);
    void search_all_rows(FitModel& model, std::size_t n_restarts);
    void sift(std::size_t n, std::size_t n_wanted);
    void place(std::size_t number, std::size_t lane);
    void keep(Optimum optimum);
    bool done() const { return (!optima_.empty() && optima_.front().cost <= good_as_perfect) || watch_->over(); }

    const Bounds* bounds_ = nullptr;
    Watch* watch_ = nullptr;
    Random random_{0};
    Levenberg levenberg_;
    std::vector<double> units_;
    std::vector<double> normal_units_;
    FitModel slow_model_;
    FitSieve sieve_;
    FitRows slow_rows_;
    FitRows relative_rows_;
    std::vector<double> rates_;
    std::vector<Start> starts_;
    std::vector<Optimum> optima_;
    std::size_t n_starts_ = 0;
};

}  // namespace simplipy
