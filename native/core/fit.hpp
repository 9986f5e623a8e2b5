// Constant fitting: many trees on one set of rows. A result depends on its tree, the data, the options and the seed,
// not on the other trees, their order or the number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fit_rows.hpp"
#include "tree.hpp"

namespace simplipy {

enum class FitStatus : std::uint8_t { ok, no_constants, diverged, non_finite, singular, deadline };

enum class Objective : std::uint8_t { squared, huber, log_cosh };

struct FitJob {
    const Tree* tree = nullptr;
    std::vector<std::int64_t> columns;              // by variable: its column, or -1 - p for parameter number p
    std::size_t n_parameters = 0;                   // free constants, then declared parameters
    std::vector<std::vector<double>> starts;        // each n_parameters long, NaN where unknown
    std::vector<std::pair<double, double>> bounds;  // by parameter; empty = none
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
    std::function<bool()> interrupted;
};

struct FitResult {
    FitStatus status = FitStatus::deadline;
    std::vector<double> parameters;
    std::vector<double> covariance;  // n_parameters squared, row by row; NaN where unknown
    double cost = 0.0;               // the mean objective, inf where undefined
    double fvu = 0.0;
    std::uint32_t n_evaluations = 0;
    std::uint32_t n_starts = 0;
};

// False where it was interrupted; jobs that were not reached have the status `deadline`.
bool fit_batch(std::span<const FitJob> jobs, const FitRows& rows, const FitOptions& options,
               std::span<FitResult> results);

}  // namespace simplipy
