// Constant fitting: many trees on one set of rows. A result depends on its tree, the data, the options and the seed,
// not on the other trees, their order or the number of threads. In a race it depends on the trees before it as well:
// limits are set anew after each round of a fixed number of jobs.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "core/expression/tree.hpp"
#include "rows.hpp"

namespace simplipy {

// `dropped`: the screen shows that it is beyond its limit; not fitted to all rows.
enum class FitStatus : std::uint8_t { ok, no_constants, diverged, non_finite, singular, deadline, dropped };

enum class Objective : std::uint8_t { squared, huber, log_cosh };

struct FitJob {
    const Tree* tree = nullptr;
    std::vector<std::int64_t> columns;  // by variable: its column, or -1 - p for parameter number p
    std::size_t n_parameters = 0;       // free constants, then declared parameters
    std::size_t n_constants = 0;
    std::vector<std::vector<double>> starts;                     // each n_parameters long, NaN where unknown
    std::vector<std::pair<double, double>> bounds;               // by parameter; empty = none
    double fvu_limit = std::numeric_limits<double>::infinity();  // from which it is of no interest
};

// Which jobs are of interest: those that can be among the best so far by log10(FVU) + length_penalty * length.
struct RaceRule {
    std::size_t keep_best = 0;  // 0 = all are
    double length_penalty = 0.0;
};

struct FitOptions {
    std::size_t n_restarts = 8;
    std::size_t n_screen_rows = 64;
    bool normal_starts = false;  // N(0, 5) alone, on all rows: the paper's refiner
    Objective objective = Objective::squared;
    double threshold = 1.0;        // of the robust objectives, in units of y / error
    bool absolute_errors = false;  // weights are 1 / variance, not relative
    std::uint64_t seed = 0;
    double seconds = -1.0;  // < 0: no deadline
    std::size_t n_threads = 1;
    std::size_t max_steps = 0;  // of a descent from given starts alone; 0 = until it converges
    RaceRule race;
    std::function<bool()> interrupted;
};

// Of a job that was not reached: the status `deadline`, and no values.
struct FitResult {
    FitStatus status = FitStatus::deadline;
    std::vector<double> parameters;
    std::vector<double> covariance;                         // n_parameters squared, row by row; NaN where unknown
    double cost = std::numeric_limits<double>::infinity();  // the mean objective, inf where undefined
    double fvu = std::numeric_limits<double>::infinity();
    std::uint32_t n_evaluations = 0;
    std::uint32_t n_starts = 0;
};

// Values of a job's tree at these parameters, (rows.n()).
std::vector<double> values_on(const FitRows& rows, const FitJob& fit, std::span<const double> parameters);

// False where it was interrupted.
bool fit_batch(std::span<const FitJob> jobs, const FitRows& rows, const FitOptions& options,
               std::span<FitResult> results);

}  // namespace simplipy
